"""Prague beside CUBIC in DualPI2 (RFC 9332): the balance of rates, and the queueing delay of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Floats, Key, Plan, Samples, series_of_flow
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Bar, Fraction, Range

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "l4s.toml"
RATES_MBPS = (4, 12, 40, 120, 200)
RTTS_MS = (5, 10, 20, 50, 100)
QUICK_RATES, QUICK_RTTS = (4, 40, 200), (5, 20, 100)
BEGIN_S, END_S = 50, 100
"""What is measured: two long flows after the start, which at 200 Mbit/s and 100 ms lasts for tens of seconds."""
PACKET_BITS = 8 * 1500

BALANCE = Fraction(0.20)
_BALANCE_REASON = (
    "the coupling p_C = (p_CL / 2)² is made for about equal rates; 20 % is what users call equal"
)
LOW_MEDIAN, LOW_P99 = Range(0.0, 1.0, "≤ 1 ms"), Range(0.0, 5.0, "≤ 5 ms")
_LOW_REASON = "the step of 1 ms; bursts and the classic queue's turns come on top"
CLASSIC = Fraction(0.5)
_CLASSIC_REASON = "a set point around which the window of one flow swings"


class Delays(NamedTuple):
    """Bytes delivered to Prague and to CUBIC; queueing delays in ms: median and 99th percentile, mean of CUBIC."""

    prague: int
    cubic: int
    median_ms: float
    p99_ms: float
    classic_ms: float


@dataclass(frozen=True)
class Share:
    """The two flows on a path."""

    rate_mbps: int
    rtt_ms: int

    @property
    def row(self) -> dict[str, str | bool | int | float]:
        """Its labels."""
        return {"rate_mbps": self.rate_mbps, "rtt_ms": self.rtt_ms}

    def key(self, until_s: int) -> Key:
        """The name of the experiment that ends after so many seconds."""
        return ("l4s", f"{self.rate_mbps}M", f"{self.rtt_ms}ms", f"{until_s}s")

    def settings(self, until_s: int) -> dict[str, Value]:
        """The scenario."""
        return {
            "duration": f"{until_s} s",
            "link.bottleneck.rate": f"{self.rate_mbps} Mbit/s",
            # The access link has 50 µs each way on average.
            "link.bottleneck.delay": f"{self.rtt_ms / 2 - 0.05:g} ms",
        }

    def measure(self, run: _core.Run) -> Delays:
        """Delivered bytes, and RTT samples of the second half less the RTT of an idle path."""
        delivered = [int(count) for count in run.flows()["bytes_delivered"]]
        prague, cubic = (self._waits_ms(run, flow) for flow in ("prague", "cubic"))
        if not prague.size or not cubic.size:
            return Delays(delivered[0], delivered[1], 0.0, 0.0, 0.0)
        median, p99 = np.percentile(prague, [50.0, 99.0])
        return Delays(delivered[0], delivered[1], float(median), float(p99), float(cubic.mean()))

    def _waits_ms(self, run: _core.Run, flow: str) -> Floats:
        time_s, rtt_s = series_of_flow(run, "rtt", flow, "client")
        sent_ms = PACKET_BITS / self.rate_mbps / 1e3
        return np.asarray(rtt_s[time_s >= BEGIN_S] * 1e3 - self.rtt_ms - sent_ms, dtype=np.float64)


class Coexistence:
    """One flow of each kind over rates and RTTs."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Two runs with the same seed for each cell: what is between their ends is measured."""
        rates, rtts = (QUICK_RATES, QUICK_RTTS) if plan.quick else (RATES_MBPS, RTTS_MS)
        for share in (Share(*each) for each in product(rates, rtts)):
            for until_s in (BEGIN_S, END_S):
                yield Experiment(
                    key=share.key(until_s),
                    scenario=SCENARIO,
                    settings=share.settings(until_s),
                    seeds=plan.choose(2, 10),
                    record=("rtt",) if until_s == END_S else (),
                    measure=share.measure if until_s == END_S else _delivered,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The balance of rates, and the delays."""
        shares = [Share(*each) for each in product(RATES_MBPS, RTTS_MS)]
        shares = [share for share in shares if samples.knows(share.key(END_S))]
        balance = Table(
            "l4s_balance",
            "DualPI2: rate of Prague over rate of CUBIC",
            tuple(_balance(samples, share) for share in shares),
            note=(
                "Source: RFC 9332, section 2.1: the coupling of both queues, with k = 2, makes rates of scalable "
                "and classic "
                "flows about equal. A rule; ours is simulated, with one flow of each kind."
            ),
        )
        delays = Table(
            "l4s_delay",
            "DualPI2: queueing delay of Prague and of CUBIC",
            tuple(each for share in shares for each in _delays(samples, share)),
            note=(
                "Source: RFC 9332, appendix A: a step of 1 ms in the L4S queue and a target of 15 ms in the "
                "classic queue. "
                "Queueing delay is the RTT less that of the idle path."
            ),
        )
        return Findings(
            tables=(balance, delays), pictures=(_balance_picture(balance), _delay_picture(delays))
        )


def _delivered(run: _core.Run) -> Delays:
    prague, cubic = (int(count) for count in run.flows()["bytes_delivered"])
    return Delays(prague, cubic, 0.0, 0.0, 0.0)


def cause(share: Share) -> str:
    """Why this cell is known to be outside, if it is."""
    packet_ms = PACKET_BITS / share.rate_mbps / 1e3
    if packet_ms > 1.0:
        return (
            f"a packet takes {packet_ms:.0f} ms on the line, so an L4S packet behind one classic packet waits "
            "longer than "
            "the step and is marked"
        )
    return ""


def _balance(samples: Samples, share: Share) -> Cell:
    begins: list[Delays] | None = samples.all(share.key(BEGIN_S))
    ends: list[Delays] | None = samples.all(share.key(END_S))
    ratios = None
    if begins is not None and ends is not None:
        ratios = [
            (end.prague - begin.prague) / max(1, end.cubic - begin.cubic)
            for begin, end in zip(begins, ends, strict=True)
        ]
    return cell(
        share.row,
        "rate_ratio",
        "",
        1.0,
        ratios,
        origin="rule",
        bar=BALANCE,
        bar_reason=_BALANCE_REASON,
        reason=cause(share),
    )


def _delays(samples: Samples, share: Share) -> Iterable[Cell]:
    values: list[Delays] | None = samples.all(share.key(END_S))
    kinds: tuple[tuple[str, float | None, str, Bar, str], ...] = (
        ("l4s_median", 1.0, "median_ms", LOW_MEDIAN, _LOW_REASON),
        ("l4s_p99", None, "p99_ms", LOW_P99, _LOW_REASON),
        ("classic_mean", 15.0, "classic_ms", CLASSIC, _CLASSIC_REASON),
    )
    for name, printed, field, bar, reason in kinds:
        yield cell(
            {**share.row, "delay": name},
            "queueing_delay",
            "ms",
            printed,
            None if values is None else [float(getattr(each, field)) for each in values],
            origin="rule",
            bar=bar,
            bar_reason=reason,
            reason=cause(share) if name.startswith("l4s") else "",
        )


def _balance_picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="rtt_ms",
        by=("rate_mbps",),
        x=Axis("RTT of the idle path (ms)", "rtt_ms", "log"),
        y=Axis("rate of Prague over rate of CUBIC", "ratio", "log"),
        caption="Rate of Prague over rate of CUBIC against the RTT, for each rate of the link in Mbit/s.",
    )


def _delay_picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="rtt_ms",
        by=("delay", "rate_mbps"),
        x=Axis("RTT of the idle path (ms)", "rtt_ms", "log"),
        y=Axis("queueing delay (ms)", "delay_ms", "log"),
        caption="Queueing delay of both kinds against the RTT, for each rate of the link in Mbit/s.",
    )
