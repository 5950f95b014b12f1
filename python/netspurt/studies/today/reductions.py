"""By which factor a loss or a mark reduces the window: RFC 5681, RFC 9438, RFC 3168 and RFC 8511 (ABE)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples, series_of
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.setting import cell
from netspurt.studies.verdict import Fraction

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "reduction.toml"
WARM_UP_S = 5.0
BAR = Fraction(0.02)
_BAR_REASON = "windows of 60 segments and more, of which recovery counts whole ones"
MARKING: Value = {"kind": "drop-tail", "limit": "1000 packets", "mark_above": "60 packets"}


@dataclass(frozen=True)
class Reaction:
    """A congestion control, the signal that it reacts to, and the published factor."""

    tcp: str
    signal: str
    abe: bool
    factor: float
    source: str

    @property
    def key(self) -> Key:
        """The name of its experiment."""
        return ("reduction", self.tcp, self.signal, "abe" if self.abe else "plain")

    def settings(self) -> dict[str, Value]:
        """The scenario."""
        chosen: dict[str, Value] = {"tcp.congestion": self.tcp, "tcp.abe": self.abe}
        if self.signal == "mark":
            chosen |= {"tcp.ecn": "rfc3168", "link.path.queue": MARKING}
        return chosen


REACTIONS = (
    Reaction("newreno", "loss", False, 0.5, "RFC 5681, section 3.1"),
    Reaction("newreno", "mark", False, 0.5, "RFC 3168, section 6.1.2"),
    Reaction("newreno", "mark", True, 0.8, "RFC 8511, section 3"),
    Reaction("newreno", "loss", True, 0.5, "RFC 8511, section 3"),
    Reaction("cubic", "loss", False, 0.7, "RFC 9438, section 4.6"),
    Reaction("cubic", "mark", False, 0.7, "RFC 9438, section 4.6"),
    Reaction("cubic", "mark", True, 0.85, "RFC 8511, section 3"),
    Reaction("cubic", "loss", True, 0.7, "RFC 8511, section 3"),
)


def factor(run: _core.Run) -> float:
    """The mean of cwnd after a reduction over the data in flight before it."""
    time_s, cwnd = series_of(run, "cwnd", "client")
    flight_s, flight = series_of(run, "flight", "client")
    fell = np.flatnonzero((cwnd[1:] < 0.95 * cwnd[:-1]) & (time_s[1:] > WARM_UP_S)) + 1
    before = np.searchsorted(flight_s, time_s[fell], side="left") - 1
    return float(np.mean(cwnd[fell] / flight[before])) if fell.size else float("nan")


class Reductions:
    """Loss and mark, with and without ABE."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """No randomness: one run for each."""
        for reaction in REACTIONS:
            yield Experiment(
                key=reaction.key,
                scenario=SCENARIO,
                settings=reaction.settings(),
                record=("cwnd", "flight"),
                measure=factor,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The table and its picture."""
        table = Table(
            "reductions",
            "Reduction of the window by a loss and by a mark",
            tuple(_cell(samples, reaction) for reaction in REACTIONS),
            note="Source in each row. The null model is the halving of RFC 5681 for every signal.",
        )
        return Findings(tables=(table,), pictures=(_picture(table),))


def _cell(samples: Samples, reaction: Reaction) -> Cell:
    return cell(
        {"tcp": reaction.tcp, "signal": reaction.signal, "abe": reaction.abe, "source": reaction.source},
        "factor",
        "",
        reaction.factor,
        samples.all(reaction.key),
        origin="rule",
        bar=BAR,
        bar_reason=_BAR_REASON,
        null=0.5,
    )


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis, Chart
    from netspurt.plot.studies.published import Point, published_chart

    names = tuple(
        f"{each.row['tcp']}, {each.row['signal']}{', ABE' if each.row['abe'] else ''}" for each in table.cells
    )

    def make() -> list[Chart]:
        points = [
            Point(float(place), each.published, each.measured) for place, each in enumerate(table.cells)
        ]
        x = Axis("row of the table", "row", ticks=tuple(float(place) for place in range(len(names))))
        y = Axis("window after over data in flight before", "factor")
        return [published_chart("today-reductions", table.title, x, y, {"factor": points})]

    return Picture(
        name="today-reductions",
        title=table.title,
        caption=f"Measured line and published marks, by row: {'; '.join(names)}.",
        alt="The measured factors lie on the published ones.",
        make=make,
    )
