"""Captures in the lab: who may send one, what is answered about it, and one sentence for each bad file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

core = pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import lab as labs  # noqa: E402  # what it needs is looked for first

import netspurt as ns  # noqa: E402
from netspurt.cli import main  # noqa: E402

SLOW = """\
duration = "60 s"

[link.path]
between = ["near", "far"]
rate = "8 Mbit/s"
delay = "25 ms"
queue = { kind = "drop-tail", limit = "40 packets" }

[tcp]
profile = "linux"

[host.far.tcp]
receive_window = "16 KiB"

[[flow]]
from = "near"
to = "far"
count = COUNT
app = { kind = "bulk", bytes = "500 kB" }
"""
"""A small receive window limits it."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[labs.Lab]:
    with labs.lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(tmp_path_factory.mktemp("slow") / "slow.pcapng", 1)


def captured(path: Path, count: int) -> Path:
    ns.parse(SLOW.replace("COUNT", str(count))).run(1, pcap=path)
    return path


def dropped(lab: labs.Lab, path: Path) -> str:
    answer = lab.ask(f"api/captures?name={path.name}", path.read_bytes())
    assert answer.status == 200, answer.body
    assert answer.json()["name"] == path.name
    return str(answer.json()["key"])


def events(answer: labs.Answer) -> list[tuple[str, Any]]:
    assert answer.status == 200, answer.body
    found = []
    for block in answer.body.decode().split("\n\n"):
        if block:
            name, data = block.split("\n")
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def result(lab: labs.Lab, what: str, key: str, **more: Any) -> dict[str, Any]:
    found = events(lab.ask(f"api/capture/{what}", {"key": key, **more}))
    assert all(name == "progress" for name, _ in found[:-1])
    assert all(0 <= data["done"] <= data["total"] for _, data in found[:-1])
    assert found[-1][0] == "result", found[-1]
    answer: dict[str, Any] = found[-1][1]
    return answer


def test_a_capture_is_taken_only_with_the_token_and_from_this_machine(lab: labs.Lab, slow: Path) -> None:
    assert lab.ask("/api/captures?name=x", slow.read_bytes()).status == 403
    refused = lab.ask("api/captures?name=x", slow.read_bytes(), host="evil.example")
    assert refused.status == 421
    assert lab.ask("/api/capture/report?key=capture/0&connection=0").status == 403


def test_a_dropped_capture_is_diagnosed_as_why_does(lab: labs.Lab, slow: Path) -> None:
    key = dropped(lab, slow)
    read = result(lab, "read", key)
    (row,) = read["connections"]
    expected = ns.why(slow).connections.row(0, named=True)
    assert {name: row[name] for name in ("limit", "sentence", "bytes")} == {
        name: expected[name] for name in ("limit", "sentence", "bytes")
    }
    head, columns = lab.ask("api/capture/connection", {"key": key, "connection": 0}).run()
    assert head["verdict"]["limit"] == "receive-window"
    assert head["verdict"]["sentence"] == expected["sentence"]
    total = sum(line["seconds"] for line in head["verdict"]["budget"])
    assert total == pytest.approx(head["verdict"]["duration_s"])
    assert columns["data_value"].max() == pytest.approx(500_000, abs=2)
    assert columns["data_time"].min() >= 0
    assert columns["limit_until"].max() == pytest.approx(head["verdict"]["duration_s"])


def test_the_fitted_path_is_a_scenario_of_the_page_and_remedies_change_it(lab: labs.Lab, slow: Path) -> None:
    key = dropped(lab, slow)
    result(lab, "read", key)
    early = lab.ask("api/capture/remedies", {"key": key, "connection": 0})
    assert early.status == 400
    assert "not fitted yet" in early.json()["error"]["message"]
    fit = result(lab, "fit", key, connection=0)
    assert fit["explains"]
    assert lab.ask("api/scenario", {"key": fit["book"]}).json()["text"] == fit["scenario"]
    remedies = result(lab, "remedies", key, connection=0)
    best = remedies["remedies"][0]
    assert best["remedy"] == "larger-receive-window"
    assert best["helps"]
    body = {"key": fit["book"], "place": "test", "settings": best["settings"]}
    head, _ = lab.ask("api/run", body).run()
    assert head["flows"][0]["flow"] == fit["flow"]
    # The button promises what the run behind it takes.
    assert head["verdict"]["duration_s"] == pytest.approx(best["seconds"], rel=0.05)
    assert head["command"].startswith("netspurt run path.toml --set")
    report = lab.ask(f"api/capture/report?key={key}&connection=0")
    assert report.status == 200
    assert report.headers["content-disposition"].startswith("attachment")
    assert b"larger-receive-window" in report.body
    assert fit["scenario"].splitlines()[0].encode() in report.body


def test_connections_come_worst_first_and_are_fitted_together(lab: labs.Lab, tmp_path: Path) -> None:
    key = dropped(lab, captured(tmp_path / "three.pcapng", 3))
    rows = result(lab, "read", key)["connections"]
    assert len(rows) == 3
    assert [row["lost_s"] for row in rows] == sorted((row["lost_s"] for row in rows), reverse=True)
    fit = result(lab, "fit", key, connection=rows[0]["connection"])
    assert sorted(fit["connections"]) == [0, 1, 2]
    assert fit["flow"] == f"connection-{rows[0]['connection']}"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.txt", b"hello, world\n", "notes.txt is a file of an unknown format, not a capture"),
        ("own.toml", labs.SMALL.encode(), "own.toml is a scenario or a synthetic path, not a capture"),
        ("nothing.pcap", b"", "nothing.pcap is empty, not a capture"),
        ("..%2f..%2fetc%2fpasswd", b"root:x:0", "passwd is a file of an unknown format"),
    ],
)
def test_what_is_no_capture_is_refused_in_one_sentence(
    lab: labs.Lab, name: str, content: bytes, words: str
) -> None:
    answer = lab.ask(f"api/captures?name={name}", content)
    assert answer.status == 400
    message = answer.json()["error"]["message"]
    assert message.startswith(words)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("broken.gz", b"\x1f\x8bnonsense", "cannot read broken.gz: invalid gzip header"),
        (
            "none.pcap",
            bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"),
            "none.pcap contains no packets",
        ),
    ],
)
def test_a_capture_without_tcp_is_named_and_not_its_copy(
    lab: labs.Lab, name: str, content: bytes, words: str
) -> None:
    sent = lab.ask(f"api/captures?name={name}", content)
    answer = lab.ask("api/capture/read", {"key": sent.json()["key"]})
    # A file that fails after the first progress is reported as an event.
    error = answer.json()["error"] if answer.status == 400 else dict(events(answer))["wrong"]
    assert error["message"] == words


def test_a_truncated_capture_is_diagnosed_up_to_the_damage(lab: labs.Lab, slow: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(slow.read_bytes()[:-40_001])
    read = result(lab, "read", dropped(lab, cut))
    assert read["fault"].startswith("cut.pcapng is damaged")
    assert len(read["connections"]) == 1


@pytest.mark.parametrize("what", ["read", "fit", "remedies", "connection"])
def test_an_unknown_capture_is_reported_in_a_sentence(lab: labs.Lab, what: str) -> None:
    answer = lab.ask(f"api/capture/{what}", {"key": "capture/99", "connection": 0})
    assert answer.status == 400
    assert "there is no capture 'capture/99'" in answer.json()["error"]["message"]


def test_an_upload_needs_a_length_within_the_limit(lab: labs.Lab) -> None:
    place = urlsplit(lab.address)
    assert place.hostname is not None
    connection = HTTPConnection(place.hostname, place.port, timeout=labs.LIMIT_S)
    connection.putrequest("POST", f"/{lab.token}/api/captures?name=big.pcap")
    connection.putheader("content-length", str(1 << 40))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 400
    assert b"must have a length of at most" in answer.read()
    connection.close()


def test_copies_are_deleted_when_the_lab_ends(
    tmp_path: Path, slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with labs.lab(tmp_path) as running:
        dropped(running, slow)
        assert list(temporary.rglob("slow.pcapng"))
    assert not list(temporary.rglob("slow.pcapng"))


def test_captures_and_scenarios_can_be_named_together(
    tmp_path: Path, slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with labs.lab(tmp_path, files=(str(slow),)) as running:
        shelf = running.ask("api/shelf").json()
        assert shelf["captures"] == [{"key": "capture/0", "name": str(slow)}]
        assert shelf["books"][0]["key"] == "own/0"
        assert result(running, "read", "capture/0")["connections"][0]["limit"] == "receive-window"


def test_a_file_that_is_neither_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", str(tmp_path / "none.pcap"), "--no-browser"]) == 2
    assert "there is no scenario file" in capsys.readouterr().err
