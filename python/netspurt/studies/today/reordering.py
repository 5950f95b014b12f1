"""RFC 8985: reordering within the reordering window causes no retransmissions, once it has been seen."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Range

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "reordering.toml"
RTT_MS, LATE = 100.0, 0.01
"""The RTT, and the share of packets that are late."""
PERCENT = (5, 10, 20, 40, 80)
"""By how much of the RTT packets are late. The reordering window begins with 25 % and grows to the RTT."""
RECOVERIES: dict[str, dict[str, Value]] = {
    "rack": {},
    "sack": {"tcp.recovery": "sack", "tcp.prr": False, "tcp.undo": False, "tcp.tail_loss_probe": False},
}
WITHIN, BEYOND = Range(0.0, 1.0, "≤ 1 %"), Range(0.0, 7.0, "≤ 7 %")
_WITHIN_REASON = "the first late packet is taken for lost, because no reordering has been seen before it"
_BEYOND_REASON = (
    "the document bounds spurious recoveries to one in 16, less than 7 %, once the window has grown"
)


def spurious_percent(run: _core.Run) -> float:
    """Retransmissions, all of which are spurious, in per cent of the packets that were late on average."""
    flows = run.flows()
    return 100.0 * float(flows["retransmitted"][0]) / (LATE * float(flows["segments_sent"][0]))


class Reordering:
    """RACK beside a threshold of three duplicate ACKs."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Several seeds for each recovery and lateness."""
        for (name, chosen), percent in product(RECOVERIES.items(), PERCENT):
            late: Value = [
                {"probability": LATE, "delay": f"{percent * RTT_MS / 100:g} ms"},
                {"probability": 0.0, "delay": "0 ms"},
            ]
            yield Experiment(
                key=_key(name, percent),
                scenario=SCENARIO,
                settings={**chosen, "link.last.reorder": late},
                seeds=plan.choose(3, 20),
                measure=spurious_percent,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The table and its picture."""
        table = Table(
            "rack_reordering",
            "RACK: spurious retransmissions, in per cent of the late packets",
            tuple(_cell(samples, name, percent) for name, percent in product(RECOVERIES, PERCENT)),
            note=(
                "Source: RFC 8985, sections 6.2 and 7: a reordering window of a quarter of the RTT that grows with "
                "DSACKs, and "
                "spurious recoveries in less than 7 % of the recoveries after that. A rule; ours is simulated. The "
                "null model "
                "is the threshold of three duplicate ACKs (RFC 6675), simulated too."
            ),
        )
        return Findings(tables=(table,), pictures=(_picture(table),))


def _key(name: str, percent: int) -> Key:
    return ("reordering", name, f"{percent}%")


def _cell(samples: Samples, name: str, percent: int) -> Cell:
    other: list[float] | None = samples.all(_key("sack", percent))
    within = percent <= 25
    judged = name == "rack"
    return cell(
        {"recovery": name, "late_by_percent_of_rtt": percent},
        "spurious_retransmissions",
        "%",
        0.0 if judged and within else None,
        samples.all(_key(name, percent)),
        origin="rule",
        bar=(WITHIN if within else BEYOND) if judged else None,
        bar_reason=(_WITHIN_REASON if within else _BEYOND_REASON) if judged else "",
        null=sum(other) / len(other) if other else None,
        reason="" if judged else "RFC 6675 prints no number for reordering",
    )


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="late_by_percent_of_rtt",
        by=("recovery",),
        x=Axis("late by (% of the RTT)", "late_percent", "log"),
        y=Axis("spurious retransmissions (% of late packets)", "spurious_percent"),
        caption="Spurious retransmissions against the lateness of packets, for RACK and for three duplicate ACKs.",
    )
