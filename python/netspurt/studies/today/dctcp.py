"""DCTCP: the swing of the queue (Alizadeh et al. 2010), and the threshold that keeps the link busy (RFC 8257)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today import formulas
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Fraction, Range

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "dctcp.toml"
RATE_BPS, RTT_S, PACKET_BITS = 10e9, 100e-6, 8 * 1500
BDP_PACKETS = RATE_BPS * RTT_S / PACKET_BITS
THRESHOLD = 40
FLOWS = (2, 10, 40)
"""The numbers of flows of the paper's comparison of its analysis with simulation, with K = 40."""
WARM_UP_S = 0.15
SWING_BAR = Fraction(0.25)
_SWING_REASON = "a fluid model of flows in step, in whole packets"
_OUT_OF_STEP = "flows out of step: the paper found its model less accurate with 40 flows too"
THRESHOLDS = {"RTT · C / 7": round(BDP_PACKETS / 7) + 1, "one packet": 1}
BUSY = Range(99.0, 100.1, "≥ 99 %")
_BUSY_REASON = "above this threshold the queue does not run empty"


class Swing(NamedTuple):
    """Low and high end of the queue in packets, without the extreme 1 % of the time; utilisation in per cent."""

    low: float
    high: float
    busy: float


def swing(run: _core.Run) -> Swing:
    """Measures a run after its warm-up."""
    series = run.series("queue")
    here = np.asarray(series["direction"]) == "switch->receiver"
    here &= np.asarray(series["time_s"]) >= WARM_UP_S
    low, high = np.percentile(np.asarray(series["value"], dtype=np.float64)[here], [1.0, 99.0])
    links = run.links()
    place = list(links["direction"]).index("switch->receiver")
    return Swing(float(low), float(high), 100.0 * float(links["utilisation"][place]))


class Dctcp:
    """Flows at 10 Gbit/s and 100 µs."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """The paper's numbers of flows, and two thresholds for two flows."""
        for flows in FLOWS:
            yield _experiment(("dctcp", "flows", flows), flows, THRESHOLD, plan)
        for name, packets in THRESHOLDS.items():
            yield _experiment(("dctcp", "threshold", name), 2, packets, plan)

    def evaluate(self, samples: Samples) -> Findings:
        """Two tables and a picture."""
        queue = Table(
            "dctcp_queue",
            "DCTCP: the swing of the queue at 10 Gbit/s, 100 µs and K = 40",
            tuple(each for flows in FLOWS for each in _swing_cells(samples, flows)),
            note=(
                "Source: Alizadeh et al., Data Center TCP, SIGCOMM 2010, section 3.3: the top K + N, the swing "
                "sqrt(2N(C · RTT + K)) / 2. A formula; ours is simulated (1st and 99th percentile of the queue)."
            ),
        )
        busy = Table(
            "dctcp_threshold",
            "DCTCP: utilisation with the least marking threshold",
            tuple(_busy(samples, name) for name in THRESHOLDS),
            note=(
                "Source: RFC 8257, section 3.1: K > RTT · C / 7. The row with one packet has no published number; "
                "it shows "
                "that the threshold matters."
            ),
        )
        return Findings(tables=(queue, busy), pictures=(_picture(queue), _busy_picture(busy)))


def _experiment(key: Key, flows: int, threshold: int, plan: Plan) -> Experiment:
    settings: dict[str, Value] = {
        "flow.0.count": flows,
        "link.port.queue.mark_above": f"{threshold} packets",
    }
    return Experiment(
        key=key,
        scenario=SCENARIO,
        settings=settings,
        seeds=plan.choose(3, 10),
        record=("queue",),
        measure=swing,
    )


def _swing_cells(samples: Samples, flows: int) -> Iterable[Cell]:
    values: list[Swing] | None = samples.all(("dctcp", "flows", flows))
    low, high = formulas.dctcp_queue(flows, BDP_PACKETS, THRESHOLD)
    for end, printed, found in (
        ("low", low, None if values is None else [each.low for each in values]),
        ("high", high, None if values is None else [each.high for each in values]),
    ):
        yield cell(
            {"flows": flows, "end": end},
            "queue",
            "packets",
            printed,
            found,
            origin="formula",
            bar=SWING_BAR,
            bar_reason=_SWING_REASON,
            null=float(THRESHOLD),
            cause=_OUT_OF_STEP if flows == 40 else "",
        )


def _busy(samples: Samples, name: str) -> Cell:
    values: list[Swing] | None = samples.all(("dctcp", "threshold", name))
    judged = name != "one packet"
    return cell(
        {"threshold": name, "packets": THRESHOLDS[name]},
        "utilisation",
        "%",
        100.0 if judged else None,
        None if values is None else [each.busy for each in values],
        origin="rule",
        bar=BUSY if judged else None,
        bar_reason=_BUSY_REASON if judged else "",
        reason="" if judged else "the document gives no number for a threshold that is too low",
    )


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="flows",
        by=("end",),
        x=Axis("flows", "flows", "log"),
        y=Axis("queue (packets)", "queue_packets"),
        caption="Low and high end of the queue against the number of flows.",
    )


def _busy_picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="packets",
        by=(),
        x=Axis("marking threshold (packets)", "packets"),
        y=Axis("utilisation (%)", "utilisation_percent"),
        caption="Utilisation against the marking threshold.",
    )
