"""One run on several threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns
from netspurt.cli import main

LINE = ["--rate", "100mbit", "--delay", "10ms", "--duration", "3s", "--parallel", "4"]


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["run", *LINE, *words, "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    del result["performance"]
    return result


def test_the_result_does_not_depend_on_the_number_of_threads(capsys: pytest.CaptureFixture[str]) -> None:
    one = _run(capsys, "--threads", "1")
    assert _run(capsys, "--threads", "2") == one
    assert _run(capsys, "--threads", "5") == one
    assert _run(capsys) == one


def test_several_seeds_use_the_requested_number_of_threads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *LINE, "--seeds", "2", "--threads", "2", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["digest"] for run in runs] == [_run(capsys, "--seed", seed)["digest"] for seed in "12"]


def test_a_run_that_records_uses_one_thread_and_gives_the_same_result(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recorded = _run(capsys, "--threads", "2", "--trace", f"{tmp_path}/trace.parquet")
    assert recorded["digest"] == _run(capsys, "--threads", "2")["digest"]


def test_a_number_of_threads_below_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *LINE, "--threads", "0"]) == 2
    assert "--threads" in capsys.readouterr().err
    scenario = ns.parse(
        """
        duration = "1 s"
        [link.l]
        between = ["a", "b"]
        rate = "1 Mbit/s"
        [[flow]]
        from = "a"
        to = "b"
        app = { kind = "bulk", bytes = "1 MB" }
        """
    )
    with pytest.raises(ValueError, match="threads is 0; it must be at least 1"):
        scenario.run(threads=0)
