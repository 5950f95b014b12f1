"""A path on one line, a scenario to start from, and the check of one."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest

from netspurt.cli import main
from netspurt.cli.arguments.host_on_path import without_path
from netspurt.inputs.paths.one_path import OnePath, of_options

LINE = ["--rate", "10mbit", "--delay", "40ms", "--loss", "0.1%", "--queue", "100p", "--bytes", "2MB"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _digest(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["run", *words, "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["digest"])


def test_a_path_on_one_line_runs_and_its_file_gives_the_same_run(capsys: pytest.CaptureFixture[str]) -> None:
    digest = _digest([*LINE, "--save", "path.toml"], capsys)
    assert _digest(["path.toml"], capsys) == digest
    saved = tomllib.loads(Path("path.toml").read_text())
    assert saved["link"]["path"]["rate"] == "10mbit"
    assert saved["flow"][0]["app"] == {"kind": "bulk", "bytes": "2MB"}
    assert saved["duration"] == "10 min"


def test_a_saved_path_holds_overrides_and_replaces_only_its_own_kind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [*LINE, "--set", "link.path.delay=10ms"]
    digest = _digest([*words, "--save", "path.toml"], capsys)
    assert _digest(["path.toml"], capsys) == digest
    assert _digest([*words, "--save", "path.toml"], capsys) == digest
    Path("mine.toml").write_text("mine")
    assert main(["run", *LINE, "--save", "mine.toml"]) == 2
    assert Path("mine.toml").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rate", "10"], '--rate 10: 10 has no unit: write "10 Mbit/s"'),
        (["--rate", "10mbps"], '--rate 10mbps: "mbps" means bytes per second in tc'),
        (["--delay", "40"], '--delay 40: 40 has no unit: write "40 ms"'),
        (
            ["--loss", "0.1"],
            "--loss 0.1: without % this is a percentage in tc and a probability elsewhere: write 0.1%",
        ),
        (["--loss", "200%"], '--loss 200%: "200%" is out of range'),
        (["--queue", "100q"], '--queue 100q: "q" is not a unit for this'),
        (["--queue", "coddel"], '--queue coddel: unknown kind "coddel": did you mean "codel"?'),
        (["--bytes", "20KB"], '--bytes 20KB: "KB" means 1024 bytes in some tools'),
        (["--duration", "5 weeks"], '--duration 5 weeks: "weeks" is not a unit'),
        (["--profile", "linx"], '--profile linx: unknown name "linx": did you mean "linux"?'),
        (["--parallel", "0"], "--parallel 0: 0 is out of range: it must be at least 1"),
        (["--parallel", "many"], "--parallel many: expected a whole number"),
    ],
)
def test_an_error_names_the_option(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = [] if words[0] in ("--rate", "--delay") else ["--rate", "1mbit"]
    assert main(["run", *path, *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"netspurt: {sentence}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run"], "name a SCENARIO.toml, or describe a path: netspurt run --rate 10mbit --delay 40ms"),
        (["plot", "--bytes", "1MB"], "name a SCENARIO.toml, or describe a path"),
        (["run", "a.toml", "--rate", "1mbit"], "--rate describes a path, and a.toml is one"),
        (["run", "a.toml", "--save", "b.toml"], "--save writes the path"),
        (["run", "a.toml"], "there is no scenario file a.toml: 'netspurt new a.toml' writes one"),
        (["run", "."], ". is a folder"),
        (
            ["run", "--rate", "1mbit", "--set", "link.line.rate=1mbit"],
            '--set link.line.rate: there is no link "line"',
        ),
    ],
)
def test_a_wrong_request_is_answered_with_the_right_form(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert sentence in capsys.readouterr().err


def test_bare_numbers_are_seconds_and_bytes_as_in_iperf3() -> None:
    assert of_options({"duration": "30", "bytes": "1500", "rate": "10mbit"}) == OnePath(
        duration="30 s", bytes="1500 B", rate="10mbit"
    )


def test_a_path_may_have_a_discipline_and_several_transfers(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        "--rate",
        "10mbit",
        "--delay",
        "5ms",
        "--queue",
        "fq-codel",
        "-P",
        "3",
        "-t",
        "2",
        "--json",
    ]
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["flows"]) == 3
    assert result["duration_s"] == 2


def test_a_path_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", *LINE, "--picture", "windows"]) == 0
    assert Path("path-windows.svg").exists()


def test_remarks_are_printed_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", *LINE, "--set", "tcp.congestion=bbr", "--json"]) == 0
    told = capsys.readouterr()
    assert 'netspurt: note: --set tcp.congestion: congestion "bbr" requires pacing' in told.err
    json.loads(told.out)
    assert main(["run", *LINE, "--profile", "newreno", "--set", "tcp.receive_window=16MiB"]) == 0
    assert "announced as 65535 bytes at most" in capsys.readouterr().err


def test_a_new_scenario_is_correct_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new"]) == 0
    text = capsys.readouterr().out
    assert main(["new", "path.toml"]) == 0
    assert Path("path.toml").read_text().endswith(text)
    assert main(["check", "path.toml"]) == 0
    assert capsys.readouterr().out.endswith("path.toml: correct (2 hosts, 1 link, 1 flow)\n")
    assert _digest(["path.toml"], capsys)
    # Every line that is commented out is correct too.
    keys = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    kept = [
        line
        for line in keys
        if not line.startswith(('queue = { kind = "drop', "Values are", "#     netspurt"))
    ]
    Path("all.toml").write_text("\n".join(kept))
    assert main(["check", "all.toml"]) == 0, capsys.readouterr().out


def test_a_new_scenario_has_the_values_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "path.toml", *LINE, "-P", "4"]) == 0
    saved = tomllib.loads(Path("path.toml").read_text())
    assert saved["flow"][0]["count"] == 4
    assert saved["link"]["path"]["loss"]["rate"] == "0.1%"
    assert main(["new", "other.toml", "--rate", "10"]) == 2
    assert not Path("other.toml").exists()
    Path("mine.toml").write_text("mine")
    assert main(["new", "mine.toml"]) == 2
    assert Path("mine.toml").read_text() == "mine"


def test_check_has_different_exit_statuses_for_errors_and_warnings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = "duration = '1 s'\n[link.l]\nbetween = ['a', 'b']\n"
    Path("good.toml").write_text(good)
    Path("vain.toml").write_text(good + "queue = { kind = 'drop-tail', limit = '5p' }\n")
    Path("bad.toml").write_text(good + "rat = '1 Mbit/s'\n")
    assert main(["check", "good.toml"]) == 0
    assert "note: good.toml: there is no flow" in capsys.readouterr().out
    assert main(["check", "good.toml", "vain.toml"]) == 1
    assert "warning: vain.toml:4:1: queue of link" in capsys.readouterr().out
    assert main(["check", "bad.toml", "good.toml", "none.toml", "--json"]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert files[0]["error"].startswith("bad.toml:4:1: link.l: unknown key")
    assert files[1]["error"] is None
    assert files[2]["error"] == "there is no none.toml"


def test_check_reads_sweep_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "scenario.toml"]) == 0
    Path("sweep.toml").write_text(
        "scenario = 'scenario.toml'\nseeds = 2\n[grid]\n'link.path.delay' = ['1 ms', '2 ms']\n"
    )
    assert main(["check", "sweep.toml"]) == 0
    assert "a sweep of 2 points with 2 seeds: 4 runs" in capsys.readouterr().out


def test_a_dry_run_of_a_sweep_counts_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "scenario.toml", "--bytes", "100kB"]) == 0
    Path("sweep.toml").write_text(
        "scenario = 'scenario.toml'\nseeds = 2\n[grid]\n'link.path.delay' = ['1 ms', '2 ms']\n"
    )
    capsys.readouterr()
    assert main(["sweep", "sweep.toml", "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["points"], found["runs"], found["found"], found["tried"]) == (2, 4, 0, 2)
    assert found["left_s"] > 0
    assert not Path("sweep.sweep").exists()
    assert main(["sweep", "sweep.toml", "--dry-run"]) == 0
    assert "2 points with 2 seeds: 4 runs, of which 0 are done" in capsys.readouterr().out
    assert main(["sweep", "sweep.toml"]) == 0
    capsys.readouterr()
    assert main(["sweep", "sweep.toml", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["found"] == 4


def test_a_recording_takes_the_place_of_a_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One packet of 1504 bytes every 2 ms up, and every ms down, as mahimahi counts."""
    monkeypatch.chdir(tmp_path)
    for name, step in (("up", 2), ("down", 1)):
        Path(name).write_text("".join(f"{ms}\n" for ms in range(step, 20_001, step)))
    rates = []
    for words in (["up,down"], ["up,down", "-R"], ["down"]):
        assert main(["run", "--delay", "10ms", "-t", "10", "--json", "--recording", *words]) == 0
        rates.append(json.loads(capsys.readouterr().out)["flows"][0]["goodput_bps"] / 1e6)
    assert rates == [
        pytest.approx(5.7, rel=0.05),
        pytest.approx(11.3, rel=0.05),
        pytest.approx(11.3, rel=0.05),
    ]
    assert main(["run", "--delay", "10ms", "--recording", "none"]) == 2
    assert "--recording none: the recording of link" in capsys.readouterr().err


def test_the_options_of_a_path_are_left_out_of_a_command_line() -> None:
    words = shlex.split(
        "host sink 9 --rate 1mbit --delay=3ms --profile reno --loss 1% --set tcp.nagle=true --queue x"
    )
    assert without_path(words) == shlex.split("host sink 9 --profile reno --set tcp.nagle=true")
