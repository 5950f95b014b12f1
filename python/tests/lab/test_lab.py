"""The lab's server: who may ask, what is answered, and that only the newest run counts."""

from __future__ import annotations

import json
import posixpath
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

core = pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import lab as labs  # noqa: E402  # what it needs is looked for first

from netspurt.errors import RequestError  # noqa: E402
from netspurt.lab import controls  # noqa: E402
from netspurt.lab.shelf import Shelf  # noqa: E402
from netspurt.lab.simulated import pictures, reasons  # noqa: E402
from netspurt.lab.simulated.runs import Runs, SupersededError  # noqa: E402
from netspurt.lab.wire import pack  # noqa: E402

ROOT = Path(__file__).parents[3]
PAGE = Path(controls.__file__).parent / "page"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[labs.Lab]:
    with labs.lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


# Who may ask


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/api/shelf", "/wrong/page/main.js", "/%ff/"])
def test_without_the_token_nothing_is_answered(lab: labs.Lab, path: str) -> None:
    answer = lab.ask(path)
    assert answer.status == 403
    assert b"has no token or the wrong token" in answer.body
    assert lab.token.encode() not in answer.body


def test_a_prefix_of_the_token_is_refused(lab: labs.Lab) -> None:
    assert lab.ask(f"/{lab.token[:-1]}/").status == 403
    assert lab.ask(f"/{lab.token}x/").status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8421", "127.0.0.1.evil.example", "10.0.0.1"])
def test_a_foreign_host_name_that_resolves_here_is_refused(lab: labs.Lab, host: str) -> None:
    answer = lab.ask(f"/{lab.token}/api/shelf", host=host)
    assert answer.status == 421
    assert host in answer.json()["error"]["message"]


@pytest.mark.parametrize("host", ["localhost:9999", "127.0.0.1", "[::1]:80", "LOCALHOST:1"])
def test_this_machines_own_names_are_served_at_any_port(lab: labs.Lab, host: str) -> None:
    assert lab.ask(f"/{lab.token}/api/shelf", host=host).status == 200


def test_a_refused_host_is_shown_and_not_interpreted(lab: labs.Lab) -> None:
    answer = lab.ask("/", host="<script>alert(1)</script>")
    assert answer.status == 421
    assert b"<script>" not in answer.body


def test_the_lab_listens_only_on_the_loopback_device(lab: labs.Lab) -> None:
    assert lab.address.startswith("http://127.0.0.1:")
    port = int(lab.address.split(":")[2].split("/")[0])
    others = [address for address in _addresses() if not address.startswith("127.")]
    for address in others:
        with socket.socket() as sock, pytest.raises(OSError, match="refused"):
            sock.connect((address, port))


def _addresses() -> list[str]:
    try:
        return [str(place[4][0]) for place in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    except OSError:
        return []


def test_nothing_beside_the_page_is_served(lab: labs.Lab) -> None:
    for path in ("page/../app.py", "page/%2e%2e/app.py", "page/..%2fapp.py", "page/nothing.js"):
        assert lab.ask(path).status == 404
    assert lab.ask("page/main.js").status == 200


def test_every_script_that_the_page_imports_is_served(lab: labs.Lab) -> None:
    waiting, seen = ["page/main.js"], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = lab.ask(path)
        assert answer.status == 200, path
        for name in re.findall(r"""(?:from |import\()"(\.[^"]+\.js)\"""", answer.body.decode()):
            waiting.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
    scripts = {f"page/{file.relative_to(PAGE)}" for file in PAGE.rglob("*.js")}
    assert seen == {*scripts, "vendor/uPlot.esm.js"}


def test_the_page_may_load_nothing_from_elsewhere(lab: labs.Lab) -> None:
    answer = lab.ask("")
    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"
    page = ROOT / "python/netspurt/lab/page"
    for file in [*page.glob("*.html"), *page.glob("*.js"), *page.glob("*.css")]:
        assert not re.search(r"https?://(?!www\.w3\.org/)", file.read_text(encoding="utf-8")), file


# What is answered


def test_a_run_is_the_run_of_the_command_line(lab: labs.Lab) -> None:
    head, columns = lab.run(settings=[["link.path.delay", "40 ms"]], seed=7).run()
    scenario = core.Scenario.parse(labs.SMALL, "own.toml", [("link.path.delay", "40 ms")])
    assert head["digest"] == scenario.run(7).digest
    assert head["command"] == "netspurt run own.toml --set 'link.path.delay=40 ms' --seed 7"
    assert core.Scenario.parse(head["scenario"]).run(7).digest == head["digest"]
    assert head["values"]["link.path.delay"] == "40 ms"
    assert head["values"]["tcp.congestion"] == "newreno"
    assert columns["time"].size == head["segments"]


def test_a_broken_scenario_is_reported_with_line_and_column(lab: labs.Lab) -> None:
    text = labs.SMALL.replace("1 Mbit/s", "1 Mbit/q")
    answer = lab.run(text=text)
    assert answer.status == 422
    error = answer.json()["error"]
    assert (error["line"], error["column"]) == (5, 8)
    assert 'did you mean "Mbit/s"?' in error["message"]
    shown = lab.ask("api/scenario", {"key": "own/0", "text": text}).json()
    assert shown["error"] == error
    assert shown["text"] == text


def test_a_wrong_setting_is_reported_with_its_path(lab: labs.Lab) -> None:
    answer = lab.run(settings=[["tcp.recovery", "sackk"]])
    assert answer.status == 422
    assert answer.json()["error"]["path"] == "tcp.recovery"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"key": "own/9"}, "there is no scenario 'own/9'"),
        ({"seed": -1}, "'-1' is not a valid seed"),
        ({"seed": 1 << 64}, "is not a valid seed"),
        ({"seed": True}, "is not a valid seed"),
        ({"settings": {"a": 1}}, "'settings' must be a list"),
        ({"settings": [["a"]]}, "'settings' must be a list"),
        ({"text": 5}, "needs 'text'"),
        ({"place": None}, "needs 'place'"),
    ],
)
def test_a_wrong_request_is_one_sentence(lab: labs.Lab, asked: dict[str, object], words: str) -> None:
    answer = lab.run(**asked)
    assert answer.status == 400
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff"])
def test_an_invalid_request_is_refused(lab: labs.Lab, body: bytes) -> None:
    assert lab.ask("api/run", body).status == 400


def test_a_connection_can_be_chosen(lab: labs.Lab) -> None:
    text = labs.SMALL + "count = 2\n"
    head, first = lab.run(text=text).run()
    assert {(each["flow"], each["index"]) for each in head["connections"]} == {("bulk", 0), ("bulk", 1)}
    head, other = lab.run(text=text, connection=["bulk", 1, 0]).run()
    assert head["chosen"] == ["bulk", 1, 0]
    assert not np.array_equal(first["time"], other["time"])


# What is seen of a run


def test_every_segment_arrives_or_is_lost_for_a_reason(lab: labs.Lab) -> None:
    head, columns = lab.run().run()
    lost = np.isnan(columns["arrives"])
    drops = sum(sum(link["drops"].values()) for link in head["links"])
    assert lost.sum() == drops > 0
    assert {head["causes"][code] for code in columns["cause"][lost]} == {"queue on path, near → far"}
    assert (columns["cause"][~lost] == 0).all()
    took = (columns["arrives"] - columns["time"])[~lost]
    # At least the delay of the link, at most that and a full queue.
    assert took.min() >= 0.02
    assert took.max() <= 0.02 + 22 * 1540 * 8 / 1e6
    assert (
        columns["data_way"].sum()
        == (columns["length"] > 0).sum() + (columns["length"][columns["data_way"] == 1] == 0).sum()
    )


def test_arrivals_are_in_the_order_of_sending_where_nothing_overtakes(lab: labs.Lab) -> None:
    _, columns = lab.run().run()
    for way in (0, 1):
        mine = (columns["data_way"] == way) & ~np.isnan(columns["arrives"])
        assert (np.diff(columns["arrives"][mine]) > 0).all()


def test_throughput_holds_all_that_arrived_and_stays_below_the_rate_of_the_link(lab: labs.Lab) -> None:
    _, columns = lab.run().run()
    width = columns["rate_time"][1] - columns["rate_time"][0]
    data = columns["data_way"] == 1
    arrived = columns["length"][data & ~np.isnan(columns["arrives"])].sum()
    assert columns["rate_delivered"].sum() * width / 8 == pytest.approx(arrived)
    # A bin may begin and end within a segment.
    segment = columns["length"].max() * 8 / width
    assert columns["rate_delivered"].max() <= 1e6 + segment
    sent = columns["length"][data].sum()
    assert columns["rate_sent"].sum() * width / 8 == pytest.approx(sent)


def test_the_limits_of_the_connection_fill_its_time(lab: labs.Lab) -> None:
    head, columns = lab.run().run()
    verdict = head["verdict"]
    assert (verdict["limit"], verdict["from"]) == ("bottleneck", "client")
    assert sum(line["seconds"] for line in verdict["budget"]) == pytest.approx(verdict["duration_s"])
    spans = columns["limit_until"] - columns["limit_from"]
    assert spans.sum() == pytest.approx(verdict["duration_s"])
    names = [each["name"] for each in lab.ask("api/shelf").json()["limits"]]
    full = spans[columns["limit_kind"] == names.index("bottleneck")].sum()
    assert full == pytest.approx(verdict["budget"][0]["seconds"])


def test_a_run_without_a_connection_is_shown_as_such(lab: labs.Lab) -> None:
    head, _ = lab.run(text=labs.SMALL.replace("[[flow]]", '[[flow]]\nstart = "61 s"')).run()
    assert head["connections"] == []
    assert head["chosen"] is None


def test_thinning_keeps_both_ends_and_every_extreme() -> None:
    time_s = np.arange(100_000, dtype=np.float64)
    value = np.random.default_rng(1).normal(size=time_s.size)
    value[[777, 55_555]] = 1000.0, -1000.0
    kept_time, kept = pictures.thinned(time_s, value, 400)
    assert kept.size <= 400 + 300
    assert {kept.max(), kept.min()} == {1000.0, -1000.0}
    assert (kept_time[0], kept_time[-1]) == (0.0, 99_999.0)
    assert (np.diff(kept_time) > 0).all()
    assert (value[kept_time.astype(int)] == kept).all()


def test_every_reason_of_the_trace_has_a_description() -> None:
    source = (ROOT / "crates/tcp/src/record/reason.rs").read_text(encoding="utf-8")
    body = source[source.index("pub const fn name") : source.index("pub const fn is_retransmission")]
    assert set(reasons.SENT) == set(re.findall(r'=> "([a-z-]+)"', body))


def test_columns_are_padded_to_the_alignment_of_the_page() -> None:
    whole = pack({"a": "ä"}, {"one": np.array([7], np.uint8), "two": np.array([1.5, -2.0])})
    length = int.from_bytes(whole[:4], "little")
    assert (4 + length) % 8 == 0
    assert whole[4 + length] == 7
    assert np.frombuffer(whole, "<f8", 2, 4 + length + 8).tolist() == [1.5, -2.0]


# What can be moved


def test_every_choice_is_offered() -> None:
    scenario = controls.read(core.Scenario.parse(labs.SMALL).merged())
    by_path = {each["path"]: each for group in controls.groups(scenario) for each in group["controls"]}
    told = controls.values(scenario)
    for family in json.loads(core.mechanisms()):
        if family["path"].startswith("tcp.") and family["choices"]:
            offered = [choice["name"] for choice in by_path[family["path"]]["choices"]]
            assert offered == [choice["name"] for choice in family["choices"]]
            assert told[family["path"]] is not None
    assert {"link.path.rate", "link.path.delay", "link.path.loss", "tcp.profile", "flow.0.app.bytes"} <= set(
        by_path
    )


@pytest.mark.parametrize("book", Shelf().books, ids=lambda book: book.key)
def test_each_scenario_has_controls_for_its_keys(book: object) -> None:
    assert isinstance(book, type(Shelf().books[0]))
    merged = core.Scenario.parse(book.text(), str(book.path)).merged()
    scenario = controls.read(merged)
    told = controls.values(scenario)
    paths = [each["path"] for group in controls.groups(scenario) for each in group["controls"]]
    assert len(paths) == len(set(paths))
    assert set(paths) <= set(told)


def test_examples_and_studies_are_listed() -> None:
    keys = [book.key for book in Shelf().books]
    assert {"examples/satellite", "studies/rfc1106/satellite", "studies/terabit/table1"} <= set(keys)
    assert "examples/delays" not in keys  # a sweep
    with pytest.raises(RequestError, match="did you mean 'examples/satellite'"):
        Shelf().find("examples/satelite")


# The newest run counts


def test_a_newer_request_ends_the_older_one(tmp_path: Path) -> None:
    with labs.lab(tmp_path, labs.ENDLESS) as lab:
        answers: list[labs.Answer] = []
        older = threading.Thread(target=lambda: answers.append(lab.run()))
        older.start()
        time.sleep(0.3)
        newest = lab.run(text=labs.SMALL)
        older.join(labs.LIMIT_S)
        assert newest.status == 200
        assert [answer.status for answer in answers] == [409]


def test_places_do_not_end_each_others_runs(lab: labs.Lab) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda place=place: answers.append(lab.run(place=place).status))
        for place in "abcdef"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(labs.LIMIT_S)
    assert answers == [200] * 6


def test_a_run_that_takes_too_long_is_reported() -> None:
    runs = Runs(longest_s=0.2)
    scenario = core.Scenario.parse(labs.ENDLESS)
    with pytest.raises(RequestError, match=r"takes longer than 0\.2 s"):
        runs.run(scenario, 1, [], runs.enter("here"))


def test_a_cancelled_run_does_not_start() -> None:
    runs = Runs()
    first = runs.enter("here")
    second = runs.enter("here")
    assert first.is_set()
    assert not second.is_set()
    with pytest.raises(SupersededError):
        runs.run(core.Scenario.parse(labs.SMALL), 1, [], first)
    # The older one leaves last, and the newer one stays wanted.
    runs.leave("here", first)
    third = runs.enter("here")
    assert second.is_set()
    assert not third.is_set()


def test_an_exception_of_a_watch_ends_the_run() -> None:
    class EnoughError(Exception):
        pass

    def watch(_now_s: float, _end_s: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        core.Scenario.parse(labs.ENDLESS).run(1, watch=watch)
    scenario = core.Scenario.parse(labs.SMALL)
    assert scenario.run(1, watch=watch).digest == scenario.run(1).digest  # over before anybody looks


# What is watched as it happens


def test_probes_are_sent_to_the_page_as_they_are_answered(lab: labs.Lab, tmp_path: Path) -> None:
    file = tmp_path / "probe.parquet"
    asked = {"hosts": "127.0.0.1", "interval": "0.1s", "count": "3", "out": str(file)}
    answer = lab.ask("api/ping", asked)
    if answer.status == 400 and "socket" in answer.body.decode():
        pytest.skip(answer.json()["error"]["message"])
    events = [event for event in answer.body.decode().split("\n\n") if event]
    names = [event.splitlines()[0] for event in events]
    assert (names[0], names[-1]) == ("event: began", "event: ended")
    rows = [
        json.loads(event.splitlines()[1].removeprefix("data: ")) for event in events if "event: rows" in event
    ]
    assert rows[-1]["hosts"][0]["replies"] == 3
    assert sum(len(each["time_s"]) for each in rows) == 3
    assert file.stat().st_size > 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"hosts": ""}, "give one to"),
        ({"hosts": "no.such.host.invalid"}, "cannot find"),
        ({"hosts": "127.0.0.1", "interval": "soon"}, "interval: 'soon' is not a time"),
        ({"hosts": "127.0.0.1", "count": "0"}, "count: '0'"),
        ({"hosts": "127.0.0.1", "interval": "1ms"}, ""),
    ],
)
def test_a_wrong_probe_is_one_sentence(lab: labs.Lab, asked: dict[str, str], words: str) -> None:
    answer = lab.ask("api/ping", asked)
    assert answer.status == 400
    assert words in answer.json()["error"]["message"]


def test_an_emulation_is_followed_to_its_table(lab: labs.Lab) -> None:
    asked = {"key": "own/0", "settings": [], "command": "ping -i 0.2 -c 3 far", "server": "sleep 60"}
    with lab.asked(f"/{lab.token}/api/emulate", asked) as response:
        assert response.status == 200
        events = [event.splitlines() for event in response.read().decode().split("\n\n") if event]
    heard = [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]
    names = [name for name, _ in heard]
    text = "".join(data["text"] for name, data in heard if name == "line")
    if "table" not in names and re.search("namespace|permitted|privilege|ping", text):
        pytest.skip(f"cannot emulate here: {text.strip()}")
    assert names[-1] == "ended"
    assert "time=4" in text  # 20 ms there and 20 ms back
    table = next(data for name, data in heard if name == "table")
    assert [link["packets"] for link in table["links"]] == [3, 3]
    traffic = [data for name, data in heard if name == "traffic"]
    octets = sum(sum(each["out_bps"]) for each in traffic) * 0.25 / 8
    assert octets == pytest.approx(3 * 84)


def test_an_emulation_ends_with_its_page(lab: labs.Lab) -> None:
    asked = {"key": "own/0", "settings": [], "command": "sleep 300", "server": "sleep 301"}
    with lab.asked(f"/{lab.token}/api/emulate", asked) as response:
        assert response.readline() == b"event: began\n"
        before = _sleepers()
    until = time.monotonic() + 20
    while _sleepers() and time.monotonic() < until:
        time.sleep(0.1)
    assert _sleepers() == [], before


def _sleepers() -> list[int]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if each.read_bytes().startswith(b"sleep\x00300\x00"):
                found.append(int(each.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("order", ["<", ">"])
def test_packets_are_counted_however_the_stream_is_cut(order: str) -> None:
    def block(kind: int, body: bytes) -> bytes:
        length = len(body) + 12
        return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)

    def packet(octets: int, flags: int, at: int) -> bytes:
        kept = 5
        body = struct.pack(order + "IIIII", 0, at >> 32, at & 0xFFFFFFFF, kept, octets) + bytes(8)
        return block(6, body + struct.pack(order + "HHI", 2, 4, flags) + bytes(4))

    section = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack(order + "HHIHHB", 101, 0, 0, 9, 1, 9) + bytes(3))
    stream = section + interface + packet(1500, 1, 1 << 40) + block(5, bytes(8)) + packet(40, 2, 7)
    for size in (1, 3, 13, 1000):
        packets = core.Packets()
        pieces = [stream[place : place + size] for place in range(0, len(stream), size)]
        found = [each for piece in pieces for each in packets.feed(piece)]
        assert found == [(1 << 40, 1500, True, bytes(5)), (7, 40, False, bytes(5))]


# The command


def test_a_port_in_use_is_reported_in_a_sentence(lab: labs.Lab, capsys: pytest.CaptureFixture[str]) -> None:
    from netspurt import cli

    port = lab.address.split(":")[2].split("/")[0]
    assert cli.main(["lab", "--port", port, "--no-browser"]) == 2
    assert f"cannot listen on port {port}" in capsys.readouterr().err


def test_a_missing_scenario_is_reported_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    from netspurt import cli

    assert cli.main(["lab", "nothing.toml"]) == 2
    assert "there is no scenario file nothing.toml" in capsys.readouterr().err


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_without_its_extra_the_lab_names_the_package_to_install(
    library: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from netspurt import cli

    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("netspurt.lab")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("netspurt.lab", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(library), *sys.meta_path])
    assert cli.main(["lab", "--no-browser"]) == 2
    told = capsys.readouterr().err
    assert told == f"netspurt: the lab needs {library}, which is not installed: pip install 'netspurt[lab]'\n"


class Missing:
    """Finds that a library is not installed."""

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self._library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_probe_that_runs_elsewhere_is_followed_by_its_file(lab: labs.Lab, tmp_path: Path) -> None:
    import polars as pl

    from netspurt.files.growing import GrowingParquet
    from netspurt.probing.prober import SCHEMA

    def row(number: int) -> pl.DataFrame:
        known = {"time_s": 1.0 + number, "host": "far", "address": "192.0.2.1", "number": number}
        answer = {"length_octets": 84, "event": "reply", "rtt_ms": 5.0, "stamped": "kernel"}
        empty = dict.fromkeys(("from", "icmp_type", "icmp_code", "errno"))
        return pl.DataFrame([known | answer | empty], schema=dict(SCHEMA))

    path = tmp_path / "probe.parquet"
    with GrowingParquet(path, SCHEMA, piece_rows=2) as file:
        file.write(row(0))
        with lab.asked(f"/{lab.token}/api/follow", {"file": str(path)}) as response:
            assert response.status == 200
            told: list[str] = []
            for number in range(1, 6):
                time.sleep(0.6)
                file.write(row(number))
                while sum(text.count("reply") for text in told) < number:
                    told.append(response.readline().decode())
    assert any("event: began" in text for text in told)
    assert any("netspurt ping" in text for text in told)


def test_an_emulation_that_runs_elsewhere_is_followed_by_its_capture(lab: labs.Lab, tmp_path: Path) -> None:
    path = tmp_path / "own.pcapng"
    core.Scenario.parse(labs.SMALL, "own.toml").run(1, [], path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with lab.asked(f"/{lab.token}/api/follow", {"file": str(path)}) as response:
        lines = iter(response.readline, b"")
        spans: list[float] = []

        def grow_beyond(count: int) -> None:
            while len(spans) <= count:
                text = next(lines).decode()
                if text.startswith('data: {"time_s"'):
                    spans.extend(json.loads(text[6:])["time_s"])

        grow_beyond(0)
        before = len(spans)
        with path.open("ab") as file:
            file.write(whole[len(whole) // 2 :])
        grow_beyond(before)
    assert spans == sorted(set(spans))


@pytest.mark.parametrize("content", [None, b"no capture"])
def test_a_file_that_cannot_be_followed_is_refused(
    lab: labs.Lab, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "some.pcapng"
    if content is not None:
        path.write_bytes(content)
    answer = lab.ask("api/follow", {"file": str(path)})
    assert answer.status == 400
    assert str(path) in answer.json()["error"]["message"]
