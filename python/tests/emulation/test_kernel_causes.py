"""Causes that `tools/kernel_diagnoses.py` puts into transfers of the kernel, and how it confirms them."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest

import netspurt as ns

pytest.importorskip("netspurt._core")

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from kernel_causes.carrying import PLACES, carried_out
from kernel_causes.causes import CAUSES, case
from kernel_causes.truth import Measured, is_true

SEED = 1

IDLE = Measured(
    seconds=4.0,
    connecting_s=0.1,
    longest_wait_s=0.1,
    busy_s=4.0,
    window_s=0.0,
    buffer_s=0.0,
    congestion_window=1000,
    threshold=20,
    retransmitted=0,
    link_share=0.5,
    drops={},
)
"""Nothing of what was measured is the limit."""

CONFIRMING = {
    "bottleneck": {"link_share": 0.95},
    "cross-traffic": {"link_share": 0.95},
    "receive-window": {"window_s": 3.0},
    "slow-receiver": {"window_s": 3.0},
    "application": {"busy_s": 1.0},
    "congestion-window": {"retransmitted": 20, "drops": {"packet-error": 20}},
    "outage": {"longest_wait_s": 3.0},
    "path-mtu": {"longest_wait_s": 3.0},
    "handshake": {"connecting_s": 3.0},
}
"""What confirms a cause, whatever the path is."""


@pytest.mark.parametrize("limit", sorted(CAUSES))
def test_each_cause_makes_a_scenario_of_its_seed(limit: str) -> None:
    first = case(SEED, limit)
    assert first == case(SEED, limit)
    assert first.scenario != case(SEED + 1, limit).scenario
    assert ns.parse(first.scenario, first.name)


@pytest.mark.parametrize("limit", sorted(CONFIRMING))
def test_a_cause_is_confirmed_by_what_was_measured_and_not_by_its_name(limit: str) -> None:
    wanted = case(SEED, limit)
    assert not is_true(wanted, IDLE)
    assert is_true(wanted, dataclasses.replace(IDLE, **CONFIRMING[limit]))


def test_other_traffic_is_no_cause_where_this_connection_has_most_of_the_link() -> None:
    wanted = case(SEED, "cross-traffic")
    alone = wanted.cause.octets * 8 / wanted.cause.facts["link_rate"]
    assert not is_true(wanted, dataclasses.replace(IDLE, seconds=alone, busy_s=alone, link_share=1.0))


@pytest.mark.usefixtures("permitted", "nothing_is_left")
@pytest.mark.skipif(not shutil.which("dumpcap"), reason="there is no dumpcap here (on Debian: tshark)")
def test_the_kernel_carries_a_case_out_with_a_capture_at_each_place(tmp_path: Path) -> None:
    wanted = case(SEED, "handshake")
    found, _ = carried_out(wanted, SEED, tmp_path)
    assert is_true(wanted, found)
    assert found.drops["script"] >= 1
    for file in PLACES.values():
        rows = ns.why(tmp_path / f"{wanted.name}.{file}").documents()
        assert [row["directions"][1]["limit"] for row in rows] == ["handshake"], file
