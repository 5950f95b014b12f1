"""RFC 9438, tables 1 and 2: the average window of Reno and CUBIC where one packet in every 1/p is lost.

The numbers of the document come from formulas for small p. Between two losses that are 1/p packets apart, a sender
with an average window W needs 1/(p·W) RTTs. The time between scripted losses therefore gives the average window
without samples of cwnd.

CUBIC's cycle depends on its beginning. A flow that comes from above ends each of many cycles a little below the last
one, and fast convergence (RFC 9438, section 4.7) then reduces W_max each time. The runs of the tables begin below the
printed window; a companion table shows those that begin above it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Label, Picture, Table
from netspurt.studies.today.setting import MSS_BYTES, cell, curves_picture, left_out, published
from netspurt.studies.verdict import Fraction

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "response.toml"
SENDERS = {"reno": "newreno", "cubic": "cubic"}
COLUMNS = {"reno": "reno", "cubic": "cubic_c0.4"}
WARM_UP = 6
"""Cycles before the measured ones: the window starts near its average and approaches its cycle by the factor beta."""
BELOW, ABOVE = 0.8, 1.2
"""Initial windows, in parts of the printed average window."""
BAR = Fraction(0.10)
_BAR_REASON = (
    "the formulas are limits for small p, without the RTT of each recovery and the rounding to segments"
)
_TOO_LONG = "a cycle has {packets} packets: {cycles} of them are more than a run of this study may take"
_OTHERS = (
    "RFC 9438, tables 1 and 2: the columns HSTCP, CUBIC (C = 0.04) and CUBIC (C = 4) have no rows here. HighSpeed TCP "
    "is not implemented, and C is 0.4, which the document recommends, and not a setting."
)

CAUSES = {
    ("reno", 1e-2): "a cycle of 8 RTTs, one of which is the recovery, during which the window stays reduced",
    ("cubic", 1e-2): "a cycle of 8 RTTs, one of which is the recovery, during which the window stays reduced",
}


@dataclass(frozen=True)
class Column:
    """A sender at an RTT and a loss rate, with the printed average window."""

    sender: str
    rtt_s: float
    loss: float
    window: float
    start: float = BELOW

    @property
    def gap(self) -> int:
        """Packets from one loss to the next."""
        return round(1.0 / self.loss)

    @property
    def cycles(self) -> int:
        """How many cycles are measured: more where they are short and lock onto whole segments."""
        return 40 if self.loss > 2e-4 else 12 if self.loss > 2e-5 else 4

    @property
    def key(self) -> Key:
        """The name of its experiment."""
        return ("rfc9438", self.sender, f"{self.rtt_s:g}s", f"{self.loss:g}", f"from-{self.start:g}")

    def settings(self) -> dict[str, Value]:
        """The scenario of this cell."""
        start = math.ceil(self.start * self.window)
        losses = WARM_UP + self.cycles + 1
        return {
            "tcp.congestion": SENDERS[self.sender],
            "tcp.initial_window": f"{start} segments",
            "tcp.initial_ssthresh": f"{start} segments",
            "link.path.delay": f"{500 * self.rtt_s:g} ms",
            "link.path.loss": {
                "kind": "script",
                # The SYN and the ACK of the handshake are packets 1 and 2.
                "drop": [self.gap * (count + 1) + 2 for count in range(losses)],
                "direction": "sender->receiver",
            },
            "flow.0.app.bytes": f"{MSS_BYTES * self.gap * (losses + 1)} B",
        }

    def average_window(self, run: _core.Run) -> float:
        """Segments: packets between the first and the last measured loss, over RTTs between them."""
        times = run.drops()["time_s"]
        elapsed_s = float(times[-1]) - float(times[WARM_UP])
        return self.cycles * self.gap * self.rtt_s / elapsed_s


class Response:
    """Both tables for Reno and CUBIC; the other columns are listed with the reason why they have no run."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Deterministic, so one run for each cell; the quick run stops at p = 1e-6, the full one at 1e-7."""
        for column in (*columns(), *from_above()):
            if column.loss >= least(plan) and not (plan.quick and column.start == ABOVE):
                yield Experiment(
                    key=column.key,
                    scenario=SCENARIO,
                    settings=column.settings(),
                    record=("drops",),
                    measure=column.average_window,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """One table for each RTT, with a picture."""
        tables = [
            Table(
                f"rfc9438_{number}",
                f"RFC 9438, table {number}: average window at an RTT of {rtt_s:g} s",
                tuple(_cells(samples, rtt_s)),
                note=(
                    "Source: RFC 9438, section 5.1. The published numbers are formulas, ours are simulated. The "
                    "null model is "
                    "the formula of Reno, also for CUBIC."
                ),
            )
            for number, rtt_s in ((1, 0.1), (2, 0.01))
        ]
        above = Table(
            "rfc9438_from_above",
            "CUBIC's average window where the flow begins above it: fast convergence keeps it lower",
            tuple(_from_above(samples)),
            kind="beyond",
        )
        return Findings(
            tables=(*tables, above) if above.cells else tuple(tables),
            pictures=tuple(_picture(table) for table in tables),
            notes=(_OTHERS,),
        )


def least(plan: Plan) -> float:
    """The least loss rate that is run: 4 million packets for a cell at 1e-6, 44 million at 1e-7."""
    return 0.99e-6 if plan.quick else 0.99e-7


def columns() -> list[Column]:
    """Every cell of Reno and of CUBIC with C = 0.4."""
    return [
        Column(sender, float(line["rtt_s"]), float(line["loss_rate"]), float(line[COLUMNS[sender]]))
        for line in published("rfc9438_tables1_2.csv")
        for sender in SENDERS
    ]


def from_above() -> list[Column]:
    """CUBIC at 100 ms, where its growth is not Reno's, from above."""
    return [
        replace(column, start=ABOVE)
        for column in columns()
        if column.sender == "cubic" and column.rtt_s == 0.1 and 1e-7 < column.loss < 1e-3
    ]


def reno_window(loss: float) -> float:
    """Reno's average window in segments: 1.2 / sqrt(p), as in RFC 3649, section 3."""
    return 1.2 / math.sqrt(loss)


def _cells(samples: Samples, rtt_s: float) -> Iterable[Cell]:
    for column in columns():
        if column.rtt_s != rtt_s:
            continue
        row: dict[str, Label] = {"tcp": column.sender, "loss_rate": column.loss}
        if not samples.knows(column.key):
            reason = _TOO_LONG.format(packets=f"{column.gap:,}", cycles=WARM_UP + column.cycles)
            yield left_out(row, "average_window", "segments", column.window, origin="formula", reason=reason)
            continue
        yield cell(
            row,
            "average_window",
            "segments",
            column.window,
            samples.all(column.key),
            origin="formula",
            bar=BAR,
            bar_reason=_BAR_REASON,
            null=reno_window(column.loss),
            cause=CAUSES.get((column.sender, column.loss), ""),
        )


def _from_above(samples: Samples) -> Iterable[Cell]:
    for column in from_above():
        row: dict[str, Label] = {
            "tcp": column.sender,
            "loss_rate": column.loss,
            "start": f"{column.start:g} of the printed window",
        }
        if samples.knows(column.key):
            yield cell(row, "average_window", "segments", None, samples.all(column.key), origin="")


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="loss_rate",
        by=("tcp",),
        x=Axis("packet loss rate", "loss_rate", "log"),
        y=Axis("average window (segments)", "window_segments", "log"),
        caption="Average window against loss rate.",
    )
