"""Prague beside CUBIC in DualPI2 (RFC 9332): the balance of rates, and the queueing delay of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Floats, Ints, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today import formulas
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Bar, Fraction, Range

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "l4s.toml"
RATES_MBPS = (4, 12, 40, 120, 200)
RTTS_MS = (5, 10, 20, 50, 100)
FLOWS = (1, 10)
"""Flows of each kind."""
QUICK = ((1, 4), (1, 40), (1, 120), (10, 40))
"""Flows of each kind and rates of a quick run."""
QUICK_RTTS = (5, 20, 100)
BEGIN_S, END_S = 50, 100
"""The measured interval: long flows after the start, which at 200 Mbit/s and 100 ms lasts for tens of seconds."""
PACKET_BITS = 8 * 1500

BALANCE = Fraction(0.20)
_BALANCE_REASON = (
    "the coupling p_C = (p_CL / 2)² is made for about equal rates; 20 % is what users call equal"
)
COUPLING = Fraction(0.20)
_COUPLING_REASON = "the law holds at each instant; the mean of a square exceeds the square of the mean"
LOW_MEDIAN, LOW_P99 = Range(0.0, 1.0, "≤ 1 ms"), Range(0.0, 5.0, "≤ 5 ms")
_LOW_REASON = "the step of 1 ms; bursts and the classic queue's turns come on top"
CLASSIC = Fraction(0.5)
_CLASSIC_REASON = "a set point around which the window of one flow swings"

_SWINGS = (
    "p' swings with the sawtooth of the one CUBIC flow: the mean of p'² is up to 11 times the square of the mean "
    "(table of the coupling), so Prague gets fewer marks than a constant p' would give"
)
_SHORT = (
    "Prague grows like a flow of 25 ms at shorter RTTs, and CUBIC, whose RTT is 5 ms and its queue, is faster"
)
_CROWDED = (
    "windows of fewer than six segments: marks do not reduce CUBIC below two segments in an RTT, "
    "and Prague paces to fewer"
)
_WAITS = (
    "so says the null model: Prague reduces at the first mark after a virtual RTT, so it has 2.45 and not 2 marks in "
    "one; and its virtual RTT is shorter than CUBIC's RTT with its queue"
)
_SLOW_LINE = "a packet takes {:.0f} ms on the line, and what waits behind one packet waits longer than the step of 1 ms"
_FAR = "one CUBIC flow on a path that holds far more than the queue leaves the queue empty for a part of each cycle"


class Seen(NamedTuple):
    """Counts of Prague and of CUBIC, and queueing delays in ms: median and 99th percentile of Prague, mean of CUBIC.

    A Prague flow whose handshake lost two SYNs has no ECN and waits in the classic queue. It is in no count, but in
    ``fallen_back``.
    """

    delivered: tuple[int, int]
    sent: tuple[int, int]
    marked: tuple[int, int]
    median_ms: float = 0.0
    p99_ms: float = 0.0
    classic_ms: float = 0.0
    fallen_back: int = 0


@dataclass(frozen=True)
class Share:
    """So many flows of each kind on a path."""

    flows: int
    rate_mbps: int
    rtt_ms: int

    @property
    def row(self) -> dict[str, str | bool | int | float]:
        """Its labels."""
        return {"flows_of_each": self.flows, "rate_mbps": self.rate_mbps, "rtt_ms": self.rtt_ms}

    def key(self, until_s: int) -> Key:
        """The name of the experiment with this duration in seconds."""
        return ("l4s", f"{self.flows}+{self.flows}", f"{self.rate_mbps}M", f"{self.rtt_ms}ms", f"{until_s}s")

    def settings(self, until_s: int) -> dict[str, Value]:
        """The scenario."""
        return {
            "duration": f"{until_s} s",
            "link.bottleneck.rate": f"{self.rate_mbps} Mbit/s",
            # The access link has 50 µs each way on average.
            "link.bottleneck.delay": f"{self.rtt_ms / 2 - 0.05:g} ms",
            "flow.0.count": self.flows,
            "flow.1.count": self.flows,
        }

    def measure(self, run: _core.Run) -> Seen:
        """Counts, and RTT samples of the second half less the RTT of an idle path."""
        prague, cubic = (self._waits_ms(run, flow) for flow in ("prague", "cubic"))
        seen = counts(run)
        if not prague.size or not cubic.size:
            return seen
        median, p99 = np.percentile(prague, [50.0, 99.0])
        return seen._replace(median_ms=float(median), p99_ms=float(p99), classic_ms=float(cubic.mean()))

    def _waits_ms(self, run: _core.Run, flow: str) -> Floats:
        series = run.series("rtt")
        wanted = (np.asarray(series["end"]) == "client") & (np.asarray(series["flow"]) == flow)
        wanted &= np.asarray(series["time_s"], dtype=np.float64) >= BEGIN_S
        wanted &= np.isin(np.asarray(series["index"]), marked_flows(run, flow))
        sent_ms = PACKET_BITS / self.rate_mbps / 1e3
        rtt_s = np.asarray(series["value"], dtype=np.float64)[wanted]
        return np.asarray(rtt_s * 1e3 - self.rtt_ms - sent_ms, dtype=np.float64)

    def ratio(self, seen: Seen) -> float:
        """The rate of a Prague flow over that of a CUBIC flow."""
        used = self.flows / max(1, self.flows - seen.fallen_back)
        return used * seen.delivered[0] / max(1, seen.delivered[1])

    def cause(self, ratio: float) -> str:
        """Why rates are as far apart as this, as far as it is known."""
        if abs(ratio - 1.0) <= BALANCE.fraction:
            return ""
        if self.window < 6.0:
            return _CROWDED
        if ratio < 1.0:
            return _SHORT if self.rtt_ms < formulas.VIRTUAL_RTT_MS else ""
        return _SWINGS if self.flows == 1 else _WAITS

    @property
    def window(self) -> float:
        """The segments that a flow has in flight, if all have equally many."""
        return (
            (self.rtt_ms + formulas.CLASSIC_TARGET_MS) * self.rate_mbps * 1e3 / PACKET_BITS / (2 * self.flows)
        )


def _coupling_cause(share: Share) -> str:
    """Why marks are not in the ratio of the law, as far as it is known."""
    if share.window < 6.0:
        return _CROWDED
    return _SWINGS if share.flows == 1 else ""


def marked_flows(run: _core.Run, flow: str) -> Ints:
    """The numbers of the flows of this name that use ECN."""
    flows = run.flows()
    here = (np.asarray(flows["flow"]) == flow) & (np.asarray(flows["ecn_capable_sent"]) > 0)
    return np.asarray(np.asarray(flows["index"])[here], dtype=np.int64)


def counts(run: _core.Run) -> Seen:
    """What was delivered, sent and marked, by kind."""
    flows = run.flows()
    prague = np.asarray(flows["flow"]) == "prague"
    without = prague & (np.asarray(flows["ecn_capable_sent"]) == 0)

    def both(name: str) -> tuple[int, int]:
        values = np.asarray(flows[name], dtype=np.int64)
        return int(values[prague & ~without].sum()), int(values[~prague].sum())

    seen = Seen(both("bytes_delivered"), both("segments_sent"), both("marks_received"))
    return seen._replace(fallen_back=int(without.sum()))


class Coexistence:
    """Flows of both kinds over rates and RTTs."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Two runs with the same seed for each cell: the interval between their ends is measured."""
        for share in _shares(plan.quick):
            for until_s in (BEGIN_S, END_S):
                yield Experiment(
                    key=share.key(until_s),
                    scenario=SCENARIO,
                    settings=share.settings(until_s),
                    seeds=plan.choose(2, 10),
                    record=("rtt",) if until_s == END_S else (),
                    measure=share.measure if until_s == END_S else counts,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The balance of rates, the coupling of marks, and the delays."""
        shares = [share for share in _shares(False) if samples.knows(share.key(END_S))]
        balance = Table(
            "l4s_balance",
            "DualPI2: rate of Prague over rate of CUBIC",
            tuple(_balance(samples, share) for share in shares),
            note=(
                "Source: RFC 9332, section 2.1: the coupling of both queues, with k = 2, makes rates of scalable and "
                "classic flows about equal. A rule; ours is simulated. The null model is the ratio at a constant p': "
                "a Prague window of sqrt(6)/p_L at an RTT of at least 25 ms, a CUBIC window of 1.22/sqrt(p_C) at the "
                "RTT and a queue of 15 ms."
            )
            + _fallen_back(samples, shares),
        )
        coupling = Table(
            "l4s_coupling",
            "DualPI2: share of marked CUBIC packets over the square of half the share of marked Prague packets",
            tuple(_coupling(samples, share) for share in shares),
            note="Source: RFC 9332, section 2.1, equation 1: p_C = (p_CL / k)², with k = 2. A rule; ours is simulated.",
        )
        delays = Table(
            "l4s_delay",
            "DualPI2: queueing delay of Prague and of CUBIC",
            tuple(each for share in shares for each in _delays(samples, share)),
            note=(
                "Source: RFC 9332, appendix A: a step of 1 ms in the L4S queue and a target of 15 ms in the classic "
                "queue. Queueing delay is the RTT less that of the idle path."
            ),
        )
        pictures = (
            _picture(balance, shown="rate of Prague over rate of CUBIC", column="ratio"),
            _picture(coupling, shown="p_C over (p_L / 2)²", column="ratio"),
            _picture(delays, shown="queueing delay (ms)", column="delay_ms", by=("delay",)),
        )
        return Findings(tables=(balance, coupling, delays), pictures=pictures)


def _fallen_back(samples: Samples, shares: list[Share]) -> str:
    """The flows that no table counts."""
    seen: list[Seen] = [each for share in shares for each in samples.all(share.key(END_S)) or ()]
    fallen = sum(each.fallen_back for each in seen)
    if not fallen:
        return " Every Prague flow negotiated ECN."
    return f" {fallen} Prague flows, whose handshakes lost two SYNs, have no ECN and are left out."


def _shares(quick: bool) -> list[Share]:
    if quick:
        return [Share(*each, rtt) for each, rtt in product(QUICK, QUICK_RTTS)]
    return [Share(*each) for each in product(FLOWS, RATES_MBPS, RTTS_MS)]


def between(samples: Samples, begin: Key, end: Key) -> list[Seen] | None:
    """Counts between the ends of two runs, for each seed."""
    begins: list[Seen] | None = samples.all(begin)
    ends: list[Seen] | None = samples.all(end)
    if begins is None or ends is None:
        return None

    def less(end: tuple[int, int], begin: tuple[int, int]) -> tuple[int, int]:
        return end[0] - begin[0], end[1] - begin[1]

    return [
        end._replace(
            delivered=less(end.delivered, begin.delivered),
            sent=less(end.sent, begin.sent),
            marked=less(end.marked, begin.marked),
        )
        for begin, end in zip(begins, ends, strict=True)
    ]


def _balance(samples: Samples, share: Share) -> Cell:
    seen = between(samples, share.key(BEGIN_S), share.key(END_S))
    ratios = None if seen is None else [share.ratio(each) for each in seen]
    return cell(
        share.row,
        "rate_ratio",
        "",
        1.0,
        ratios,
        origin="rule",
        bar=BALANCE,
        bar_reason=_BALANCE_REASON,
        null=formulas.prague_ratio(share.rtt_ms),
        cause="" if ratios is None else share.cause(sum(ratios) / len(ratios)),
    )


def _coupling(samples: Samples, share: Share) -> Cell:
    seen = between(samples, share.key(BEGIN_S), share.key(END_S))
    ratios = None
    if seen is not None:
        ratios = []
        for each in seen:
            low, classic = (
                marked / max(1, sent) for marked, sent in zip(each.marked, each.sent, strict=True)
            )
            ratios.append(classic / max(1e-12, (low / 2) ** 2))
    return cell(
        share.row,
        "marks_ratio",
        "",
        1.0,
        ratios,
        origin="rule",
        bar=COUPLING,
        bar_reason=_COUPLING_REASON,
        cause=_coupling_cause(share),
    )


def _delays(samples: Samples, share: Share) -> Iterable[Cell]:
    values: list[Seen] | None = samples.all(share.key(END_S))
    slow = PACKET_BITS / share.rate_mbps / 1e3
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
            cause=_FAR if name == "classic_mean" else _SLOW_LINE.format(slow) if slow > 1.0 else "",
        )


def _picture(table: Table, *, shown: str, column: str, by: tuple[str, ...] = ()) -> Picture:
    """The picture of a table over the RTT, with a line for each number of flows and rate.

    Args:
        table: the cells.
        shown: what the vertical axis shows, with its unit.
        column: the name of its values.
        by: labels that distinguish lines, beside flows and rate.
    """
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="rtt_ms",
        by=(*by, "flows_of_each", "rate_mbps"),
        x=Axis("RTT of the idle path (ms)", "rtt_ms", "log"),
        y=Axis(shown, column, "log"),
        caption=f"{shown[0].upper()}{shown[1:]} against the RTT, by flows of each kind and rate in Mbit/s.",
    )
