"""What must hold with the true simulator behind: the studies' exact claims, errors, interruption, determinism."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns
from netspurt.studies import NAMES, find
from netspurt.studies.experiment import DATA, Part, Plan
from netspurt.studies.rfc1106.objection import Objection
from netspurt.studies.rfc1106.one_loss import OneLoss
from netspurt.studies.runner import prepare, run

core = pytest.importorskip("netspurt._core")

SATELLITE = DATA / "rfc1106" / "satellite.toml"


@pytest.fixture(scope="module")
def terabit(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What ``netspurt reproduce terabit --quick --json`` says of the study."""
    out = tmp_path_factory.mktemp("terabit") / "report"
    command = [
        sys.executable,
        "-m",
        "netspurt",
        "reproduce",
        "terabit",
        "--quick",
        "--json",
        "--out",
        str(out),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    (study,) = json.loads(answer.stdout)["studies"]
    return study


def test_versions_agree() -> None:
    assert core.version() == ns.__version__


def test_table_one_is_exact(terabit: Any) -> None:
    (table,) = (table for table in terabit["tables"] if table["table"] == "table1")
    assert [cell["verdict"] for cell in table["cells"]] == 20 * ["exact"]
    for cell in table["cells"]:
        assert f"{cell['measured']:.2f}" == f"{cell['published']:.2f}"


def test_other_settings_do_not_reproduce_table_one(terabit: Any) -> None:
    refuted = {
        check["check"].removesuffix(" does not reproduce the table")
        for check in terabit["checks"]
        if check["check"].endswith(" does not reproduce the table") and check["holds"]
    }
    assert refuted == {
        "an MSS of 1460 bytes",
        "a cap of 99 segments",
        "a cap of 101 segments",
        "a real window of 65,535 bytes",
    }


def test_the_terabit_checks_hold(terabit: Any) -> None:
    assert not terabit["interrupted"]
    assert [check["check"] for check in terabit["checks"] if not check["holds"]] == []


@pytest.mark.parametrize("part", [OneLoss(), Objection()], ids=["one-loss", "objection"])
def test_the_satellite_checks_without_a_fit_hold(part: Part) -> None:
    study = replace(find("rfc1106"), parts=(part,))
    checks = run(prepare(study, Plan(quick=True)), 2, lambda _label: None).findings.checks
    assert checks
    assert [check.check for check in checks if not check.holds] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_of_a_study_is_accepted(name: str) -> None:
    prepare(find(name), Plan())


def test_a_merged_scenario_reads_back_to_the_same_run() -> None:
    scenario = ns.load(SATELLITE).set({"flow.0.app.bytes": "256 KiB"})
    again = ns.parse(scenario.merged(), scenario.name)
    assert again.run(5).digest == scenario.run(5).digest


def test_recording_does_not_change_what_happens() -> None:
    scenario = ns.load(SATELLITE).set(
        {"flow.0.app.bytes": "256 KiB", "link.satellite.loss": {"kind": "bit-error", "rate": 1e-6}}
    )
    watched = scenario.run(3, record=["cwnd", "rto", "queue", "segments", "drops"])
    assert watched.digest == scenario.run(3).digest
    assert watched.segments.height > 256
    assert set(watched.series("cwnd").columns) >= {"time_s", "flow", "end", "value"}


def test_threads_do_not_change_what_happens(tmp_path: Path) -> None:
    digests = []
    for jobs in ("1", "2"):
        answer = subprocess.run(
            [
                *(sys.executable, "-m", "netspurt", "run", str(SATELLITE), "--json"),
                *("--set", "link.satellite.loss={ kind = 'bit-error', rate = 1e-6 }"),
                *("--set", "flow.0.app.bytes=256 KiB", "--seeds", "4", "--jobs", jobs),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        digests.append([each["digest"] for each in json.loads(answer.stdout)["runs"]])
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == 4


def test_errors_have_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(SATELLITE.read_text(encoding="utf-8").replace("delay =", "dellay ="))
    with pytest.raises(ns.ScenarioError) as caught:
        ns.load(path)
    assert caught.value.file == str(path)
    assert caught.value.line is not None
    assert "delay" in caught.value.message


def test_the_graph_of_a_true_transfer() -> None:
    scenario = ns.load(SATELLITE).set({"tcp.profile": "bsd43-bigwindow-nak", "flow.0.app.bytes": "512 KiB"})
    lossy = scenario.set(
        {"link.satellite.loss": {"kind": "script", "drop": [200], "direction": "earth->space"}}
    )
    figure = ns.plot.time_sequence(lossy.run(record=["segments"]))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "retransmitted: NAK (1)" in labels
    assert "NAK sent (1)" in labels


def test_ctrl_c_ends_a_long_run_within_a_second() -> None:
    command = [sys.executable, "-m", "netspurt", "run", str(SATELLITE), "--set", "flow.0.app.bytes=64 GiB"]
    process = subprocess.Popen([*command, "--set", "duration=2000 h"], stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    if process.poll() is not None:
        pytest.skip("this machine simulates 2000 hours in a second")
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=10)
    assert process.returncode == 130
    assert time.monotonic() - began < 2.0
    assert "interrupted" in error
