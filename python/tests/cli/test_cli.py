"""Commands: what they print, their exit status, and their one sentence when the request is wrong."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest
from scenarios import SCENARIO

from netspurt.cli import main
from netspurt.cli.commands import COMMANDS, GROUPS

BeforeRun: TypeAlias = Callable[[Callable[[], None]], None]


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return str(path)


def _one_sentence(error: str) -> str:
    assert error.startswith("netspurt: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert re.search(rf"example: .*netspurt {command}\b", capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_terminal_except_for_examples_that_are_copied(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80 and not line.lstrip().startswith("example")] == []


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from netspurt.cli.entry import parser; from netspurt.cli.commands import COMMANDS; "
        "parser(COMMANDS).format_help(); "
        "print([m for m in ('numpy', 'rich', 'polars', 'matplotlib', 'scipy', 'jinja2') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_run_imports_neither_sweeps_nor_tables_nor_arrays() -> None:
    code = (
        "import sys; from netspurt.cli import main; main(['run', sys.argv[1]]); "
        "print([m for m in ('netspurt.sweeping', 'asyncio', 'numpy', 'polars', 'matplotlib') if m in sys.modules])"
    )
    example = Path(__file__).parents[3] / "examples" / "satellite.toml"
    answer = subprocess.run(
        [sys.executable, "-c", code, str(example)], capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines()[-1] == "[]"


def test_help_answers_at_once() -> None:
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "netspurt", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    # 70 ms of a processor; the bound leaves room for one that others use too.
    assert min(times) < 0.3


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    # With the commit, where the native module was built from a checkout.
    assert re.fullmatch(r"netspurt 0\.2\.0(\+[0-9a-f]{12})?\n", capsys.readouterr().out)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_can_complete(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "sweep" in script
    assert "--scheduler" in script


def test_bash_completes_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    main(["completion", "bash"])
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    code = (
        f"source {script}; COMP_WORDS=(netspurt sweep --sch); COMP_CWORD=2; "
        "$(complete -p netspurt | sed 's/.*-F \\([^ ]*\\).*/\\1/') netspurt --sch sweep; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run([bash, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--scheduler"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduse"], "did you mean 'reproduce'?"),
        (["run"], "SCENARIO.toml"),
        (["run", "x.toml", "--seeds", "0"], "whole number of at least 1"),
        (["run", "x.toml", "--set", "nonsense"], "not of the form path=value"),
        (["run", "x.toml", "--sed", "1"], "--sed"),
        (["reproduce", "terabyte"], "did you mean 'terabit'?"),
    ],
)
def test_a_wrong_request_gets_one_sentence_and_exit_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert words in _one_sentence(captured.err)
    assert captured.out == ""


def test_a_missing_scenario_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "no-such.toml"]) == 2
    assert "no-such.toml" in _one_sentence(capsys.readouterr().err)


def test_a_scenario_error_names_the_place(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--set", "tcp.no_such_key=1"]) == 2
    assert "--set tcp.no_such_key: tcp: unknown key" in _one_sentence(capsys.readouterr().err)
    Path(scenario).write_text(SCENARIO.replace("receive_window", "receive_windows"))
    assert main(["run", scenario]) == 2
    assert f"{scenario}:5:1: tcp: unknown key" in _one_sentence(capsys.readouterr().err)


def test_run_prints_one_json_document(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--seed", "7", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["seed"] == 7
    assert document["flows"][0]["bytes_delivered"] == 1048576
    assert captured.err == ""


def test_run_prints_tables_for_people(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario]) == 0
    assert "digest" in capsys.readouterr().out


def test_settings_reach_the_scenario(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--set", 'flow.0.app.bytes="2 MiB"', "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["flows"][0]["bytes_delivered"] == 2097152


def test_several_seeds_are_a_list_with_a_summary(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--seeds", "5", "--jobs", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [run["seed"] for run in document["runs"]] == [1, 2, 3, 4, 5]
    goodput = next(row for row in document["summary"] if row["quantity"] == "goodput_bps")
    assert goodput["runs"] == 5
    assert goodput["interval"][0] <= goodput["mean"] <= goodput["interval"][1]


def test_a_capture_of_several_runs_is_refused(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--seeds", "5", "--pcap", "x.pcapng"]) == 2
    assert "one run" in _one_sentence(capsys.readouterr().err)


def test_run_writes_capture_trace_and_results(tmp_path: Path, scenario: str) -> None:
    out, pcap, trace = tmp_path / "out", tmp_path / "x.pcapng", tmp_path / "x.parquet"
    queue = 'link.line.queue={ kind = "drop-tail", limit = "5 packets" }'
    words = ["run", scenario, "--set", queue, "--out", str(out), "--pcap", str(pcap), "--trace", str(trace)]
    assert main(words) == 0
    assert pcap.stat().st_size > 0
    table = pl.read_parquet(trace)
    assert set(table["record"]) == {
        *("cwnd", "ssthresh", "srtt", "rto", "rtt", "flight", "window", "queue", "segments", "drops"),
    }
    assert table["time_s"].is_sorted()
    names = {path.name for path in out.iterdir()}
    assert names == {
        "scenario.toml",
        "versions.json",
        "result.json",
        "flows.csv",
        "groups.csv",
        "links.csv",
        "manifest.json",
    }
    assert json.loads((out / "versions.json").read_text())["seeds"] == [1]
    assert "drops_queue" in (out / "links.csv").read_text().splitlines()[0]


def test_an_unwritable_place_is_reported_before_any_work_and_leaves_nothing(
    tmp_path: Path, scenario: str, capsys: pytest.CaptureFixture[str], before_run: BeforeRun
) -> None:
    def never() -> None:
        raise AssertionError("work was done for output that cannot be written")

    before_run(never)
    (tmp_path / "file").write_text("x")
    before = sorted(tmp_path.iterdir())
    for option in ("--out", "--pcap", "--trace"):
        assert main(["run", scenario, option, str(tmp_path / "file" / "x.parquet")]) == 2
        assert "cannot write" in _one_sentence(capsys.readouterr().err)
    assert main(["reproduce", "--out", str(tmp_path / "file" / "x")]) == 2
    assert "cannot write" in _one_sentence(capsys.readouterr().err)
    assert sorted(tmp_path.iterdir()) == before


def test_ctrl_c_during_a_run_is_130(
    tmp_path: Path, scenario: str, capsys: pytest.CaptureFixture[str], before_run: BeforeRun
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    before_run(interrupt)
    assert main(["run", scenario, "--out", str(tmp_path / "out")]) == 130
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["profiles", "mechanisms", "schema"])
def test_catalogues_print_json_and_text(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--json"]) == 0
    json.loads(capsys.readouterr().out)
    assert main([command]) == 0
    assert capsys.readouterr().out


def test_the_help_lists_every_command_once_by_its_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    assert main([]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"\n  {task}:\n") for task in GROUPS]
    assert places == sorted(places)
    for name in COMMANDS:
        assert len(re.findall(rf"^    {name} ", text, re.MULTILINE)) == 1, name
