"""One Prague flow beside one CUBIC flow in the DualPI2 of Linux, as measured in 2020."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table
from netspurt.studies.today import formulas
from netspurt.studies.today.l4s import SCENARIO, Seen, Share, between, counts
from netspurt.studies.today.setting import cell, published
from netspurt.studies.verdict import Fraction

RATE_MBPS = 50
BEGIN_S, END_S = 118, 178
"""The measured interval: the minute that ends two seconds before the end of three minutes."""
BAR = Fraction(0.25)
_BAR_REASON = "one flow of each kind on another implementation, and one minute of a cycle of several seconds"
_NO_VIRTUAL_RTT = (
    "Prague of August 2020 had no virtual RTT unless it was switched on, so it grew as fast as its RTT is short; "
    "today's grows like a flow of 25 ms"
)


class MeasuredShare:
    """Round trips of 10, 20 and 80 ms at 50 Mbit/s."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Two runs with the same seed for each cell: the interval between their ends is measured."""
        for rtt_ms in _published():
            share = Share(1, RATE_MBPS, rtt_ms)
            for until_s in (BEGIN_S, END_S):
                yield Experiment(
                    key=share.key(until_s),
                    scenario=SCENARIO,
                    settings=share.settings(until_s),
                    seeds=plan.choose(2, 10),
                    measure=counts,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The ratio of rates beside the measured one."""
        table = Table(
            "l4s_measured",
            "DualPI2 at 50 Mbit/s: rate of Prague over rate of CUBIC, one flow of each",
            tuple(_cell(samples, rtt_ms, ratio) for rtt_ms, ratio in _published().items()),
            note=(
                "Source: Heist and Morton, L4S Tests, November 2020, appendix, table of scenario 1: Linux with the L4S "
                "patches of August 2020; the mean of two measurements. The null model is that of the balance table."
            ),
        )
        return Findings(tables=(table,))


def _published() -> dict[int, float]:
    """The mean ratio for each RTT in ms."""
    ratios: dict[int, list[float]] = {}
    for line in published("l4s_heist_2020.csv"):
        ratio = float(line["prague_mbps"]) / float(line["cubic_mbps"])
        ratios.setdefault(int(line["rtt_ms"]), []).append(ratio)
    return {rtt_ms: fmean(each) for rtt_ms, each in ratios.items()}


def _cell(samples: Samples, rtt_ms: int, printed: float) -> Cell:
    share = Share(1, RATE_MBPS, rtt_ms)
    seen: list[Seen] | None = between(samples, share.key(BEGIN_S), share.key(END_S))
    comparable = rtt_ms >= formulas.VIRTUAL_RTT_MS
    return cell(
        {"rtt_ms": rtt_ms},
        "rate_ratio",
        "",
        printed,
        None if seen is None else [share.ratio(each) for each in seen],
        origin="measurement",
        bar=BAR if comparable else None,
        bar_reason=_BAR_REASON if comparable else "",
        null=formulas.prague_ratio(rtt_ms),
        reason="" if comparable else _NO_VIRTUAL_RTT,
    )
