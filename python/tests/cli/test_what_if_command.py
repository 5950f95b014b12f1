"""``netspurt what-if``: what it prints, its document, its report, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scenarios import SCENARIO

pytest.importorskip("netspurt._core", reason="the native module is not built")

from netspurt import remedies
from netspurt.cli import main
from netspurt.remedies.proof import proving

SMALL = SCENARIO.replace("64 KiB", "8 KiB")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


def test_it_prints_the_verdict_a_line_for_each_remedy_and_how(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["what-if", str(path), "--seeds", "2", "--try", "tcp.receive_window=16 KiB"]) == 0
    told = capsys.readouterr().out
    assert "larger-receive-window: " in told
    assert "sysctl -w net.ipv4.tcp_rmem=" in told
    assert "tcp.receive_window=16 KiB" in told
    assert "Limits: receive-window" in told


def test_the_json_document_stands_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", str(path), "--json", "--seeds", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["baseline"]["explains"] is True
    assert {"remedy", "set", "seconds", "interval", "how", "proven_seconds"} <= set(document["remedies"][0])


def test_a_report_has_the_remedies_and_how_to_apply_them(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["what-if", str(path), "--seeds", "2", "--report", str(page)]) == 0
    text = page.read_text()
    for words in (
        "larger-receive-window",
        "sysctl -w net.ipv4.tcp_rmem",
        "What limits it now",
        "How it was made",
    ):
        assert words in text


def test_the_folder_of_a_run_is_read(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["what-if", str(tmp_path / "run"), "--seeds", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["remedies"][0]["remedy"] == "larger-receive-window"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--try", "tcp.sack"], "--try 'tcp.sack' is not of the form key=value"),
        (["--try", "tcp.sak=true"], 'unknown key "sak"'),
        (["--flow", "nobody"], "there is no flow 'nobody': the flows are bulk"),
        (["--connection", "1"], "--flow chooses"),
        (["--set", "duration=1"], "duration"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    words: list[str], message: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["what-if", str(path), *words]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert message in told.err
    assert told.err.count("\n") == 1


def test_a_file_of_another_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "notes.csv"
    other.write_text("time_s,delay_ms\n0,1\n")
    assert main(["what-if", str(other)]) == 2
    assert "name a scenario, the folder of a run, a capture, or the table" in capsys.readouterr().err
    assert main(["what-if", str(tmp_path / "missing.toml")]) == 2
    assert "there is no" in capsys.readouterr().err


def test_ctrl_c_keeps_the_first_answer(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = remedies.what_if

    def cut_short(what: str, *, first: Callable[[remedies.WhatIf], None], **_: object) -> remedies.WhatIf:
        whole(what, seeds=1, first=first)
        raise KeyboardInterrupt

    monkeypatch.setattr(remedies, "what_if", cut_short)
    assert main(["what-if", str(path)]) == 130
    said = capsys.readouterr()
    assert "larger-receive-window: " in said.out
    assert "interrupted; the results are those of one seed" in said.err


def test_ctrl_c_in_a_proof_keeps_the_predictions(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(proving, "prove", never)
    assert main(["what-if", str(path), "--seeds", "1", "--prove", "1"]) == 130
    said = capsys.readouterr()
    assert "larger-receive-window: " in said.out
    assert "the predictions are complete, the proof is not" in said.err
