"""Estimates of a path that a small window keeps from being full."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import netspurt as ns
from netspurt.fitting.facts import Facts, read
from netspurt.fitting.path import estimate

SCENARIO = """duration = "60 s"
[tcp]
profile = "bbr"
[link.path]
between = ["left", "right"]
rate = "30 Mbit/s"
delay = "6 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
[host.right.tcp]
receive_window = "16 kB"
initial_receive_window = "16 kB"
[[flow]]
app = { kind = "bulk", bytes = "1500 kB" }
from = "left"
to = "right"
"""

LATE_S = 6e-5
"""The mean time by which a host and a capture delay a packet."""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("small") / "trace.pcapng"
    ns.parse(SCENARIO).run(pcap=file, capture=["left"])
    return file


def late(facts: Facts, seed: int) -> Facts:
    """The same facts with times as a busy host shows them."""
    rng = np.random.default_rng(seed)
    sent, rtt, length = facts.samples
    times = np.sort(facts.acks[0] + rng.exponential(LATE_S, len(facts.acks[0])))
    return replace(
        facts,
        samples=(sent, rtt + rng.exponential(LATE_S, len(rtt)), length),
        acks=(times, *facts.acks[1:]),
        handshake_s=(facts.handshake_s or 0.0) + float(rng.exponential(LATE_S)),
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_few_packets_that_waited_show_the_rate_behind_late_times(capture: Path, seed: int) -> None:
    found = estimate([late(read(capture)[0][0], seed)])
    assert found.rate_bps == pytest.approx(30e6, rel=0.03)
    assert not found.rate_sure


def test_a_queue_that_never_overflowed_is_taken_to_hold_a_bandwidth_delay_product(capture: Path) -> None:
    fit = ns.fit(capture)
    limit = tomllib.loads(fit.scenario.merged())["link"]["path"]["queue"]["limit"]
    product = fit.estimate.rate_bps * fit.estimate.delay_s / 8 / 1500
    assert limit == f"{round(product)} packets"
    assert "never seen to overflow" in fit.text


def test_a_queue_that_never_overflowed_is_longer_than_what_waited(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcapng"
    text = SCENARIO.replace("16 kB", "400 kB").replace("50 packets", "600 packets")
    ns.parse(text).run(pcap=file, capture=["left"])
    fit = ns.fit(file)
    assert fit.estimate.overflows == 0
    limit = tomllib.loads(fit.scenario.merged())["link"]["path"]["queue"]["limit"]
    assert limit == f"{2 * fit.estimate.queue_packets} packets"
