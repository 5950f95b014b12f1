"""No output destroys an input, and only earlier outputs of the same kind are replaced without --force."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scenarios import SCENARIO

from netspurt.cli import main
from netspurt.cli.commands import COMMANDS
from netspurt.cli.entry import parser

FAST = SCENARIO.replace("1 MiB", "128 KiB")
DELAYS = "time_s,delay_ms,length_octets\n" + "".join(f"{n},{20 + n % 7},{40 + n}\n" for n in range(200))
SWEEP = 'scenario = "scenario.toml"\nseeds = 2\n[grid]\n"link.line.delay" = ["1 ms", "2 ms"]\n'

CASES = {
    "run --pcap": ("run scenario.toml", "--pcap", "x.pcapng", "scenario.toml"),
    "run --trace": ("run scenario.toml", "--trace", "x.parquet", "scenario.toml"),
    "run --report": ("run scenario.toml", "--report", "x.html", "scenario.toml"),
    "capture --samples": ("capture in.pcapng", "--samples", "x.parquet", "in.pcapng"),
    "capture --events": ("capture in.pcapng", "--events", "x.parquet", "in.pcapng"),
    "capture --write": ("capture in.pcapng", "--write", "x.pcapng", "in.pcapng"),
    "capture --report": ("capture in.pcapng", "--report", "x.html", "in.pcapng"),
    "why --out": ("why in.pcapng", "--out", "x.parquet", "in.pcapng"),
    "why --report": ("why in.pcapng", "--report", "x.html", "in.pcapng"),
    "what-if --report": ("what-if scenario.toml", "--report", "x.html", "scenario.toml"),
    "fit --out": ("fit in.pcapng", "--out", "x.toml", "in.pcapng"),
    "plot --out, picture": ("plot scenario.toml", "--out", "x.svg", "scenario.toml"),
    "plot --out, pdf": ("plot scenario.toml", "--out", "x.pdf", "scenario.toml"),
    "plot --out, png": ("plot scenario.toml", "--out", "x.png", "scenario.toml"),
    "plot --out, data": ("plot scenario.toml", "--out", "x.csv", "scenario.toml"),
    "plot --out, table": ("plot scenario.toml", "--out", "x.parquet", "scenario.toml"),
    "compare --plot": ("compare scenario.toml other.toml", "--plot", "x.svg", "other.toml"),
    "compare --report": ("compare scenario.toml other.toml", "--report", "x.html", "other.toml"),
    "rrul --out": ("rrul scenario.toml -t 1s", "--out", "x.svg", "scenario.toml"),
    "rrul --report": ("rrul scenario.toml -t 1s", "--report", "x.html", "scenario.toml"),
    "delays --plot": ("delays in.csv", "--plot", "x.svg", "in.csv"),
    "rto --plot": ("rto in.csv", "--plot", "x.svg", "in.csv"),
    "sweep --report": ("sweep sweep.toml --out swept", "--report", "x.html", "sweep.toml"),
}
"""The command, its option, a name for its output, and the input that the output must not replace."""

ELSEWHERE = {
    *("run --out", "sweep --out", "reproduce --out"),  # folders
    "ping --out",  # reads no file
    *(
        "run --save",
        "plot --save",
        "emulate --save",
        "shell --save",
        "rrul --save",
        "responsiveness --save",
    ),  # nor does a path on one line: test_one_path.py
    *("emulate --capture", "shell --capture", "host --capture"),  # need a privilege to succeed
}
"""Options whose tests stand by themselves, below."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenario.toml").write_text(FAST)
    (tmp_path / "other.toml").write_text(FAST.replace("10 ms", "12 ms"))
    (tmp_path / "in.csv").write_text(DELAYS)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    assert main(["run", "scenario.toml", "--pcap", "in.pcapng"]) == 0
    return tmp_path


def _refused(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    capsys.readouterr()
    assert main(arguments) == 2, arguments
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert words in error


def test_every_option_that_names_an_output_is_tested() -> None:
    def outputs(of: argparse.ArgumentParser, name: str) -> set[str]:
        found = set()
        for action in of._actions:
            if isinstance(action, argparse._SubParsersAction):
                for inner, below in action.choices.items():
                    found |= outputs(below, name or inner)
            words = f"{action.help or ''}"
            written = getattr(getattr(action.type, "func", None), "__name__", "") == "Destination"
            if (
                written
                or "write" in words.split()
                or ("--capture" in action.option_strings and name != "run")
            ):
                found |= {f"{name} {option}" for option in action.option_strings if option.startswith("--")}
        return found

    declared = outputs(parser(COMMANDS), "")
    assert declared == {case.partition(",")[0] for case in CASES} | ELSEWHERE


@pytest.mark.parametrize("case", CASES)
def test_an_output_is_no_input(case: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, option, name, source = CASES[case]
    before = (here / source).read_bytes()
    suffix = Path(name).suffix
    (here / f"linked{suffix}").symlink_to(here / source)
    os.link(here / source, here / f"hard{suffix}")
    (here / "folder").mkdir()
    spellings = [f"linked{suffix}", f"hard{suffix}", f"folder/../linked{suffix}"]
    if "plot" not in option and not case.startswith("plot"):
        spellings += [source, str(here / source), f"./folder/../{source}"]
    for spelling in spellings:
        for force in ([], ["--force"]):
            _refused(capsys, [*words.split(), option, spelling, *force], "this command also reads it")
            assert (here / source).read_bytes() == before


@pytest.mark.parametrize("case", CASES)
def test_only_an_earlier_output_is_replaced(
    case: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, option, name, _source = CASES[case]
    command = [*words.split(), option, name]
    assert main(command) == 0
    assert main(command) == 0, capsys.readouterr().err
    mine = b"# the notes of a year\nalpha = 1\n"
    (here / name).write_bytes(mine)
    _refused(capsys, command, f"cannot replace {name} ({option})")
    assert (here / name).read_bytes() == mine
    assert main([*command, "--force"]) == 0, capsys.readouterr().err
    assert (here / name).read_bytes() != mine
    (here / name).write_bytes(b"")
    assert main(command) == 0, capsys.readouterr().err


def test_a_table_of_another_kind_is_left_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "scenario.toml", "--trace", "x.parquet"]) == 0
    for option in ("--samples", "--events"):
        _refused(capsys, ["capture", "in.pcapng", option, "x.parquet"], "cannot replace x.parquet")
    _refused(capsys, ["ping", "127.0.0.1", "--count", "1", "--out", "x.parquet"], "not a recording of 'ping'")


def test_a_capture_of_another_tool_is_left_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = (here / "in.pcapng").read_bytes().replace(b"netspurt", b"dumpcap!")
    (here / "theirs.pcapng").write_bytes(content)
    _refused(capsys, ["run", "scenario.toml", "--pcap", "theirs.pcapng"], "not a capture that netspurt wrote")
    for command in (
        ["emulate", "scenario.toml", "--capture", "a=theirs.pcapng", "--", "true"],
        ["host", "sink", "9", "--capture", "theirs.pcapng"],
    ):
        _refused(capsys, command, "cannot replace theirs.pcapng (--capture)")
    emulate = ["emulate", "scenario.toml", "--capture", "a=./scenario.toml", "--", "true"]
    _refused(capsys, [*emulate[:4], "--force", *emulate[4:]], "this command also reads it")
    assert (here / "theirs.pcapng").read_bytes() == content


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("sweep sweep.toml --report scenario.toml --force", "scenario.toml"),
        ("run scenario.toml --algorithm own=own.py:Own --trace ./own.py --force", "own.py"),
    ],
)
def test_files_that_an_input_names_are_inputs_too(
    command: str, file: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "own.py").write_text("class Own: ...\n")
    before = (here / file).read_bytes()
    _refused(capsys, command.split(), "this command also reads it")
    assert (here / file).read_bytes() == before


def test_two_outputs_are_two_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["capture", "in.pcapng", "--samples", "x.parquet", "--events", "./x.parquet"]
    _refused(capsys, command, "--samples writes to the same file")
    assert main(["run", "scenario.toml", "--pcap", "/dev/null", "--trace", "/dev/null"]) == 0


def test_standard_input_is_an_input(here: Path) -> None:
    before = (here / "in.pcapng").read_bytes()
    command = [sys.executable, "-m", "netspurt", "capture", "-", "--events", "in.pcapng", "--force"]
    with (here / "in.pcapng").open("rb") as stream:
        run = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "this command also reads it" in run.stderr
    assert (here / "in.pcapng").read_bytes() == before


@pytest.mark.parametrize(
    "command", ["delays in.csv --plot x.svg", "rto in.csv --estimator linux --grid rfc889 --plot x.svg"]
)
def test_files_named_after_an_output_are_checked_too(
    command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "x-histogram.svg" if command.startswith("delays") else "x-2.svg"
    (here / name).write_text("mine")
    _refused(capsys, command.split(), f"cannot replace {name} (--plot)")
    assert not (here / "x.svg").exists()
    (here / name).unlink()
    assert main(command.split()) == 0
    assert main(command.split()) == 0


def test_a_name_of_our_own_choice_is_checked_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "scenario-windows.svg").write_text("mine")
    _refused(capsys, ["plot", "scenario.toml", "--picture", "windows"], "cannot replace scenario-windows.svg")


def test_a_folder_keeps_the_scenario_that_is_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (here / "scenario.toml").read_bytes()
    for force in ([], ["--force"]):
        _refused(capsys, ["run", "scenario.toml", "--out", ".", *force], "this command also reads it")
    assert (here / "scenario.toml").read_bytes() == before
    assert main(["run", "other.toml", "--out", "out"]) == 0
    assert main(["run", "scenario.toml", "--out", "out"]) == 0
    _refused(capsys, ["run", "out/scenario.toml", "--out", "out"], "this command also reads it")


def test_a_folder_keeps_files_and_results_of_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "flows.csv").write_text("mine")
    # With the option in the message: it is refused before the simulation, not when its results are written.
    _refused(capsys, ["run", "scenario.toml", "--out", "mine"], "cannot replace mine/flows.csv (--out)")
    assert sorted(path.name for path in (here / "mine").iterdir()) == ["flows.csv"]
    assert main(["run", "scenario.toml", "--out", "mine", "--force"]) == 0
    _refused(capsys, ["reproduce", "terabit", "--out", "mine"], "it holds other results")
    assert main(["sweep", "sweep.toml"]) == 0
    _refused(capsys, ["run", "scenario.toml", "--out", "sweep.sweep"], "it holds other results")


def test_a_picture_of_a_folder_does_not_replace_its_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "scenario.toml", "--out", "out"]) == 0
    assert main(["sweep", "sweep.toml"]) == 0
    for what, file in (("out", "out/flows.csv"), ("sweep.sweep", "sweep.sweep/flows.parquet")):
        command = ["plot", what, "--out", file, "--force"]
        _refused(capsys, command, "this command also reads it")
    for _ in range(2):
        assert main(["plot", "out", "--out", "out/picture.svg"]) == 0


def test_a_sweep_does_not_write_into_the_folder_of_another(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "sweep.toml", "--json"]) == 0
    before = (here / "sweep.sweep" / "plan.parquet").read_bytes()
    (here / "second.toml").write_text(SWEEP.replace("ms", "us"))
    _refused(capsys, ["sweep", "second.toml", "--out", "sweep.sweep"], "the results of another sweep")
    assert (here / "sweep.sweep" / "plan.parquet").read_bytes() == before
    (here / "sweep.toml").write_text(
        SWEEP.replace("seeds = 2", "seeds = 3").replace('"2 ms"', '"2 ms", "3 ms"')
    )
    capsys.readouterr()
    assert main(["sweep", "sweep.toml", "--json"]) == 0
    more = json.loads(capsys.readouterr().out)
    assert (more["found"], more["ran"]) == (4, 5)
    assert main(["sweep", "second.toml", "--out", "sweep.sweep", "--force"]) == 0


def test_a_report_of_a_study_replaces_only_reports(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "site").mkdir()
    (here / "site" / "index.html").write_text("mine")
    _refused(capsys, ["reproduce", "terabit", "--out", "site"], "cannot replace site/index.html")
    shutil.rmtree(here / "site")
