"""Ware et al. 2019: BBR version 1 takes a share of the link that does not depend on the number of loss-based flows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from netspurt.analysis.statistics import Estimate, mean_interval
from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Picture, Table
from netspurt.studies.today import formulas
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Points

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "bbr.toml"
RATE_BPS, RTT_S = 10e6, 0.04
BDP_PACKETS = RATE_BPS * RTT_S / (8 * 1500)
QUEUES, QUICK_QUEUES = (2, 4, 8, 16, 32, 64), (2, 8, 32, 64)
"""In bandwidth-delay products."""
OTHERS = (("cubic", 1), ("cubic", 4), ("cubic", 16), ("newreno", 1), ("newreno", 16))
QUICK_OTHERS = (("cubic", 1), ("cubic", 16))
DEEP_BDP = 16
"""In deeper queues the model does not hold beside CUBIC."""
BEGIN_S, END_S = 400, 800
"""The paper's 400 s, after as many for the flows to settle."""
BARS = {"cubic": Points(10.0), "newreno": Points(16.0)}
_BAR_REASON = (
    "twice the median error that the authors report for their model: 5 % beside CUBIC, 8 % beside Reno"
)
_DEEP = (
    "not established: beside NewReno the share in this queue is the published one. Likely, CUBIC, which grows by time "
    "and not by RTTs of 2.6 s, takes back what BBR gains in a cycle of eight RTTs"
)
_SHALLOW = (
    "likely: the model assumes a queue that is always full, and so few BDPs are not while windows are halved"
)
APART_POINTS = 10.0
_CHECK = (
    "BBR's share beside 16 CUBIC flows is within 10 points of its share beside one, for queues of 4 to 32 BDPs, "
    "as far as the 95 % intervals tell"
)


@dataclass(frozen=True)
class Rivals:
    """One BBR flow beside loss-based flows, with a queue."""

    queue: int
    tcp: str
    count: int

    @property
    def row(self) -> dict[str, str | bool | int | float]:
        """Its labels."""
        return {"others": self.tcp, "flows": self.count, "queue_bdp": self.queue}

    def key(self, until_s: int) -> Key:
        """The name of the experiment with this duration in seconds."""
        return ("bbr-share", f"{self.queue}bdp", self.tcp, self.count, f"{until_s}s")

    def settings(self, until_s: int) -> dict[str, Value]:
        """The scenario."""
        return {
            "duration": f"{until_s} s",
            "link.bottleneck.queue.limit": f"{round(self.queue * BDP_PACKETS)} packets",
            "flow.1.tcp.congestion": self.tcp,
            "flow.1.count": self.count,
        }


def delivered(run: _core.Run) -> tuple[int, int]:
    """Bytes of BBR, and of all flows."""
    counts = [int(count) for count in run.flows()["bytes_delivered"]]
    return counts[0], sum(counts)


class BbrShare:
    """One BBR flow of version 1 beside up to 16 loss-based flows."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Two runs with the same seed for each cell: the interval between their ends is measured."""
        for rivals in _rivals(plan.quick):
            for until_s in (BEGIN_S, END_S):
                yield Experiment(
                    key=rivals.key(until_s),
                    scenario=SCENARIO,
                    settings=rivals.settings(until_s),
                    seeds=plan.choose(2, 10),
                    measure=delivered,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The table, whether the number of flows matters, and a picture."""
        rivals = [each for each in _rivals() if samples.knows(each.key(END_S))]
        table = Table(
            "bbr_share",
            "BBR version 1: share of a link of 10 Mbit/s and 40 ms beside loss-based flows",
            tuple(_cell(samples, each) for each in rivals),
            note=(
                "Source: Ware, Mukerjee, Seshan and Sherry, Modeling BBR's Interactions with Loss-Based Congestion "
                "Control, "
                "IMC 2019, equations 9 to 11. A formula; ours is simulated. The null model is an equal share for "
                "each flow."
            ),
        )
        return Findings(tables=(table,), checks=(_independent(samples),), pictures=(_picture(table),))


def _rivals(quick: bool = False) -> list[Rivals]:
    others, queues = (QUICK_OTHERS, QUICK_QUEUES) if quick else (OTHERS, QUEUES)
    return [Rivals(queue, tcp, count) for (tcp, count), queue in product(others, queues)]


def shares(samples: Samples, rivals: Rivals) -> list[float] | None:
    """BBR's share of all bytes in the measured time, in per cent, for each seed."""
    begins: list[tuple[int, int]] | None = samples.all(rivals.key(BEGIN_S))
    ends: list[tuple[int, int]] | None = samples.all(rivals.key(END_S))
    if begins is None or ends is None:
        return None
    pairs = zip(begins, ends, strict=True)
    return [100.0 * (end[0] - begin[0]) / (end[1] - begin[1]) for begin, end in pairs]


def _cell(samples: Samples, rivals: Rivals) -> Cell:
    return cell(
        rivals.row,
        "share_of_bbr",
        "%",
        100.0 * formulas.bbr_share(rivals.queue, 1, BDP_PACKETS, RTT_S),
        shares(samples, rivals),
        origin="formula",
        bar=BARS[rivals.tcp],
        bar_reason=_BAR_REASON,
        null=100.0 / (1 + rivals.count),
        cause=_DEEP if rivals.queue > DEEP_BDP else _SHALLOW,
    )


def _independent(samples: Samples) -> Check:
    """A difference above the bar counts only if its interval excludes the bar: a quick run has few seeds."""
    worst, holds = 0.0, True
    for queue in (4, 8, 16, 32):
        if not samples.knows(Rivals(queue, "cubic", 1).key(END_S)):
            continue
        one, many = (shares(samples, Rivals(queue, "cubic", count)) for count in (1, 16))
        if one is None or many is None:
            return Check(_CHECK, None)
        means = mean_interval(one), mean_interval(many)
        difference = abs(means[0].mean - means[1].mean)
        reach = math.hypot(*(_reach(mean) for mean in means))
        worst = max(worst, difference)
        holds &= difference - reach <= APART_POINTS
    return Check(_CHECK, holds, f"at most {worst:.1f} points apart")


def _reach(mean: Estimate) -> float:
    """Half of the interval; 0 for a single run."""
    return 0.0 if mean.interval is None else (mean.interval[1] - mean.interval[0]) / 2


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="queue_bdp",
        by=("others", "flows"),
        x=Axis("queue (bandwidth-delay products)", "queue_bdp", "log"),
        y=Axis("share of BBR (%)", "share_percent"),
        caption="Share of one BBR flow against the queue, beside one and more loss-based flows.",
    )
