"""The check of a fit: the scenario is simulated, captured where the original was, and measured in the same way.

Lives here: simulation, and the comparison. Must not live here: estimates, or text for a terminal.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netspurt.errors import RequestError
from netspurt.fitting.facts import Facts, Floats, read
from netspurt.scenario import Scenario

PARTS = 20
"""Points at which the growth of a transfer is compared."""

ALIKE = (
    {"application", "application-window", "send-buffer", "round-trip", "nagle-delayed-ack"},
    {"bottleneck", "cross-traffic", "pacing", "shaper"},
    {"fast-recovery", "congestion-window", "policer", "spurious", "reordering"},
    {"timeout", "tail-loss"},
)
"""Limits that captures hardly tell apart."""


@dataclass(frozen=True)
class Row:
    """A line of the check.

    Attributes:
        quantity: what was measured.
        unit: "s", "bit/s", "packets" or "share".
        captured: in the capture.
        simulated: in the simulation of the fit.
        agrees: whether the two are near enough.
    """

    quantity: str
    unit: str
    captured: float
    simulated: float
    agrees: bool

    def document(self) -> dict[str, Any]:
        """The line as JSON has it."""
        return asdict(self)


@dataclass(frozen=True)
class Measured:
    """The compared quantities.

    Attributes:
        duration_s: from the first packet to the last acknowledgment of data of all connections.
        size: bytes.
        rtt_median_s: of samples of the whole path.
        rtt_p95_s: the same.
        lost: retransmitted packets without the superfluous ones.
        shares: of the time budget of the largest connection.
        growth: times at which equal parts of its data had been acknowledged, from the start.
    """

    duration_s: float
    size: int
    rtt_median_s: float
    rtt_p95_s: float
    lost: int
    shares: Mapping[str, float]
    growth: Floats


def measure(flows: Sequence[Facts]) -> Measured:
    """Measures the connections of a capture."""
    first = min(facts.start_s for facts in flows)
    rtts = np.concatenate([facts.samples[1] for facts in flows])
    main = flows[0]
    return Measured(
        duration_s=max(facts.start_s + facts.duration_s for facts in flows) - first,
        size=sum(facts.size for facts in flows),
        rtt_median_s=float(np.median(rtts)) if len(rtts) else 0.0,
        rtt_p95_s=float(np.quantile(rtts, 0.95)) if len(rtts) else 0.0,
        lost=sum(max(facts.retransmitted - facts.spurious, 0) for facts in flows),
        shares=main.shares,
        growth=_growth(main),
    )


def _growth(facts: Facts) -> Floats:
    time, ack = facts.acks[0], np.maximum.accumulate(facts.acks[1])
    at = np.searchsorted(ack, np.linspace(0, facts.size, PARTS + 1)[1:] * (1 - 1e-9))
    found: Floats = time[np.clip(at, 0, len(time) - 1)] - facts.start_s
    return found


def simulate(scenario: Scenario, flows: Sequence[Facts]) -> Measured | None:
    """Simulates the fit and measures a capture of it; None if nothing came through."""
    node = flows[0].sender
    if flows[0].vantage == "receiver":
        node = "server" if node == "client" else "client"
    with tempfile.TemporaryDirectory(prefix="netspurt-fit-") as folder:
        file = Path(folder) / "simulated.pcapng"
        scenario.run(seed=1, pcap=file, capture=[node], snaplen=128)
        try:
            return measure(read(file, least=1)[0])
        except RequestError:
            return None


def distance(captured: Measured, simulated: Measured | None) -> float:
    """How far a simulation is from the capture; 0 is equal."""
    if simulated is None or simulated.size < 0.98 * captured.size:
        return float("inf")
    grown = np.abs(simulated.growth - captured.growth).mean() / captured.duration_s
    return float(
        3 * abs(np.log(simulated.duration_s / captured.duration_s))
        + 2 * grown
        + _ratio(captured.rtt_median_s, simulated.rtt_median_s)
        + 0.5 * _ratio(captured.rtt_p95_s, simulated.rtt_p95_s)
        + 0.3 * min(abs(simulated.lost - captured.lost) / max(captured.lost, 10), 2)
        + 0.3 * (1 - overlap(captured, simulated))
    )


def _ratio(captured: float, simulated: float) -> float:
    return abs(float(np.log(simulated / captured))) if captured > 0 and simulated > 0 else 0.0


def overlap(captured: Measured, simulated: Measured) -> float:
    """The share of the time budget that both have in common; limits that captures hardly tell apart are one."""
    left, right = _joined(captured.shares), _joined(simulated.shares)
    return sum(min(left.get(name, 0.0), right.get(name, 0.0)) for name in left.keys() | right.keys())


def _joined(shares: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, share in shares.items():
        key = next((number for number, group in enumerate(ALIKE) if name in group), name)
        found[str(key)] = found.get(str(key), 0.0) + share
    return found


def compare(captured: Measured, simulated: Measured) -> list[Row]:
    """The lines of the check."""

    def goodput(measured: Measured) -> float:
        return 8 * measured.size / measured.duration_s

    def near(left: float, right: float, relative: float, absolute: float = 0.0) -> bool:
        return abs(left - right) <= max(relative * abs(left), absolute)

    pairs = [
        ("duration", "s", captured.duration_s, simulated.duration_s, 0.1, 0.0),
        ("goodput", "bit/s", goodput(captured), goodput(simulated), 0.1, 0.0),
        ("rtt_median", "s", captured.rtt_median_s, simulated.rtt_median_s, 0.15, 0.001),
        ("rtt_p95", "s", captured.rtt_p95_s, simulated.rtt_p95_s, 0.25, 0.002),
        ("lost", "packets", float(captured.lost), float(simulated.lost), 0.4, 10.0),
    ]
    rows = [
        Row(name, unit, left, right, near(left, right, relative, absolute))
        for name, unit, left, right, relative, absolute in pairs
    ]
    names = sorted(captured.shares.keys() | simulated.shares.keys())
    for name in names:
        left, right = captured.shares.get(name, 0.0), simulated.shares.get(name, 0.0)
        if max(left, right) >= 0.02:
            rows.append(Row(f"budget {name}", "share", left, right, near(left, right, 0.0, 0.15)))
    return rows
