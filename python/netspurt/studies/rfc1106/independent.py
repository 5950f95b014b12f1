"""Checks that do not depend on the fit: order of recovery algorithms, duplicate ACKs with NAKs, +2 per ACK."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from netspurt.analysis.statistics import mean_interval
from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Plan, Samples, series_of
from netspurt.studies.model import Cell, Check, Findings, Table
from netspurt.studies.rfc1106.setting import (
    FIGURE1,
    FIGURE2,
    HIGH,
    MSS_BYTES,
    NO_ERROR,
    ROUND_TRIP_S,
    SCENARIO,
    rate_kib,
    settings,
)

if TYPE_CHECKING:
    from netspurt import _core

WINDOWS_KIB = (64, 100, 156)
QUICK_SEEDS, FULL_SEEDS = 30, 200

RECOVERIES: dict[str, dict[str, Value]] = {
    "Tahoe": {"tcp.recovery": "tahoe", "tcp.congestion": "tahoe"},
    "Reno": {"tcp.recovery": "reno", "tcp.congestion": "reno"},
    "NewReno": {"tcp.recovery": "newreno", "tcp.congestion": "newreno"},
    "SACK": {"tcp.sack": True, "tcp.recovery": "sack", "tcp.congestion": "newreno"},
    "NAK": {"tcp.profile": FIGURE2.profile},
    "SACK, loss taken as noise": {
        "tcp.sack": True,
        "tcp.recovery": "sack",
        "tcp.congestion": "newreno",
        "tcp.loss_means": "noise",
    },
}
"""From the slowest to the fastest at a bit error rate of 1e-6; all other settings are the profile of figure 1."""

_ORDER = "at 10e-6: Tahoe < Reno < NewReno ≤ SACK < NAK < SACK without collapse"


class Order:
    """The same transfers at the high error rate under six recoveries, averaged over three windows."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each recovery with each window and seed."""
        for name, window in product(RECOVERIES, WINDOWS_KIB):
            yield Experiment(
                key=("order", name, f"{window}K"),
                scenario=SCENARIO,
                settings={**settings(window, HIGH, FIGURE1.profile), **RECOVERIES[name]},
                seeds=plan.choose(QUICK_SEEDS, FULL_SEEDS),
            )

    def evaluate(self, samples: Samples) -> Findings:
        """A table of means, and whether their order is as expected."""
        cells = tuple(_order_cell(samples, name) for name in RECOVERIES)
        table = Table(
            "beyond_order",
            "Recoveries at an error rate of 10e-6, mean over windows of 64K, 100K and 156K",
            cells,
            kind="beyond",
        )
        means = {str(cell.row["recovery"]): cell.measured for cell in cells}
        known = {name: mean for name, mean in means.items() if mean is not None}
        if len(known) < len(means):
            return Findings(tables=(table,), checks=(Check(_ORDER, None),))
        holds = all(
            known[slower] <= known[faster] if faster == "SACK" else known[slower] < known[faster]
            for slower, faster in pairwise(RECOVERIES)
        )
        found = ", ".join(f"{name} {mean:.1f}" for name, mean in known.items())
        return Findings(tables=(table,), checks=(Check(_ORDER, holds, f"{found} KiB/s"),))


def _order_cell(samples: Samples, name: str) -> Cell:
    rates: list[float] = []
    for window in WINDOWS_KIB:
        transfers = samples.transfers(("order", name, f"{window}K"))
        if transfers is None:
            return Cell({"recovery": name}, "transfer_rate", "KiB/s", None, None, runs=0)
        rates += [rate_kib(each) for each in transfers]
    estimate = mean_interval(rates)
    return Cell(
        {"recovery": name},
        "transfer_rate",
        "KiB/s",
        None,
        estimate.mean,
        interval=estimate.interval,
        runs=len(rates),
        reason="beyond the document",
    )


DUPLICATES = "counting duplicate ACKs beside NAKs destroys the gain (section 4.3)"
WINDOW_KIB = 100
LEFT = 0.25
"""The share of the gain over Tahoe below which the gain counts as destroyed."""


class DuplicateAcks:
    """NAKs with duplicate ACKs counted as well: the sender reduces its window although the NAK repaired the loss."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Tahoe, NAK, and NAK with duplicate ACKs counted."""
        variants: dict[str, tuple[str, dict[str, Value]]] = {
            "tahoe": (FIGURE1.profile, {}),
            "nak": (FIGURE2.profile, {}),
            "both": (FIGURE2.profile, {"tcp.dup_acks_beside_naks": "counted"}),
        }
        for name, (profile, extra) in variants.items():
            yield Experiment(
                key=("duplicate-acks", name),
                scenario=SCENARIO,
                settings={**settings(WINDOW_KIB, HIGH, profile), **extra},
                seeds=plan.choose(QUICK_SEEDS, FULL_SEEDS),
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Checks that less than a quarter of the gain of NAKs over Tahoe remains."""
        means = []
        for name in ("tahoe", "nak", "both"):
            transfers = samples.transfers(("duplicate-acks", name))
            if transfers is None:
                return Findings(checks=(Check(DUPLICATES, None),))
            means.append(sum(rate_kib(each) for each in transfers) / len(transfers))
        tahoe, nak, both = means
        left = (both - tahoe) / (nak - tahoe) if nak > tahoe else float("inf")
        found = (
            f"Tahoe {tahoe:.1f}, NAK {nak:.1f}, both {both:.1f} KiB/s at {WINDOW_KIB}K and 10e-6: "
            f"{left:.0%} of the gain is left"
        )
        return Findings(checks=(Check(DUPLICATES, left < LEFT, found),))


ROUNDS = 6
TRIPLES = "slow start by two segments for each ACK triples the window each round trip (section 4.2)"


def window_by_round(run: _core.Run) -> list[float]:
    """The sender's congestion window in segments, in the middle of each of the first rounds of data."""
    time_s, window = series_of(run, "cwnd", "client")
    segments = window / MSS_BYTES
    # The first data leaves one RTT after the SYN, and its ACKs arrive at the end of each round.
    middles = ROUND_TRIP_S * (1.5 + np.arange(ROUNDS))
    return [float(value) for value in segments[np.searchsorted(time_s, middles, side="right") - 1]]


class SlowStart:
    """The start of a transfer on a line so fast that the RTT is propagation delay only."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One run with one and one with two segments for each ACK."""
        for step in (1, 2):
            yield Experiment(
                key=("slow-start", step),
                scenario=SCENARIO,
                settings={
                    **settings(4096, NO_ERROR, FIGURE1.profile),
                    "tcp.slow_start_per_ack": step,
                    "link.satellite.rate": "1 Gbit/s",
                    "host.earth.latency": "0 ms",
                    "host.space.latency": "0 ms",
                },
                record=("cwnd",),
                measure=window_by_round,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Checks for windows of 1, 2, 4, … and 1, 3, 9, … segments."""
        once, twice = samples.one(("slow-start", 1), list), samples.one(("slow-start", 2), list)
        if once is None or twice is None:
            return Findings(checks=(Check(TRIPLES, None),))
        holds = once == [2.0**k for k in range(ROUNDS)] and twice == [3.0**k for k in range(ROUNDS)]
        found = f"by two: {_row(twice)}; by one: {_row(once)} segments"
        return Findings(checks=(Check(TRIPLES, holds, found),))


def _row(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
