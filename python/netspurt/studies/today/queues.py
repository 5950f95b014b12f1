"""The standing queue of CoDel and PIE, and what the link carries beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Floats, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Bar, Fraction, Range

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "bottleneck.toml"
PACKET_BITS = 8 * 1500
WARM_UP_S = 10.0
FLOWS = 4


@dataclass(frozen=True)
class Queue:
    """A queue with its target: which statistic of the queueing delay the document names, and the bar."""

    name: str
    words: str
    keys: Mapping[str, Value]
    target_ms: float
    statistic: str
    source: str
    bar: Bar
    bar_reason: str


QUEUES = (
    Queue(
        name="codel",
        words="CoDel",
        keys={"kind": "codel"},
        target_ms=5.0,
        statistic="median",
        source="RFC 8289, sections 4.3 and 5.1: under long transfers the median delay tends to the target, 5 ms",
        bar=Range(2.5, 10.0, "2.5–10 ms"),
        bar_reason="the document says that the median tends to the target, and names 10 ms as the bound of the delay",
    ),
    Queue(
        name="pie",
        words="PIE",
        keys={"kind": "pie"},
        target_ms=15.0,
        statistic="mean",
        source="RFC 8033: the controller keeps the delay at QDELAY_REF, 15 ms",
        bar=Fraction(0.5),
        bar_reason="a set point around which the windows of four flows swing",
    ),
    Queue(
        name="docsis-pie",
        words="DOCSIS-PIE",
        keys={"kind": "docsis-pie"},
        target_ms=10.0,
        statistic="mean",
        source="RFC 8034: a target of 10 ms",
        bar=Fraction(0.5),
        bar_reason="a set point around which the windows of four flows swing",
    ),
)
SENDERS = ("newreno", "cubic")
RATES_MBPS = (4, 10, 50)
RTTS_MS = (30, 100)
BUSY = Range(95.0, 100.5, "≥ 95 %")
_BUSY_REASON = "the document says close to 100 %"


def waits(run: _core.Run, rate_bps: float, direction: str) -> tuple[Floats, Floats]:
    """Queueing delays in ms after the warm-up, and for how long each held, in seconds."""
    series = run.series("queue")
    here = np.asarray(series["direction"]) == direction
    time_s = np.asarray(series["time_s"], dtype=np.float64)[here]
    packets = np.asarray(series["value"], dtype=np.float64)[here]
    held_s = np.diff(time_s)
    late = time_s[:-1] >= WARM_UP_S
    return packets[:-1][late] * PACKET_BITS / rate_bps * 1e3, held_s[late]


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])


@dataclass(frozen=True)
class Load:
    """Flows of one kind over one queue."""

    queue: Queue
    sender: str
    rate_mbps: int
    rtt_ms: int

    @property
    def key(self) -> Key:
        """The name of its experiment."""
        return ("queue", self.queue.name, self.sender, f"{self.rate_mbps}M", f"{self.rtt_ms}ms")

    @property
    def row(self) -> dict[str, str | bool | int | float]:
        """Its labels."""
        return {"tcp": self.sender, "rtt_ms": self.rtt_ms, "rate_mbps": self.rate_mbps}

    def settings(self) -> dict[str, Value]:
        """The scenario of this cell."""
        return {
            "tcp.congestion": self.sender,
            "link.bottleneck.rate": f"{self.rate_mbps} Mbit/s",
            # The access link has half a millisecond each way on average.
            "link.bottleneck.delay": f"{self.rtt_ms / 2 - 0.5:g} ms",
            "link.bottleneck.queue": dict(self.queue.keys),
        }

    def measure(self, run: _core.Run) -> tuple[float, float]:
        """Queueing delay in ms, by the document's statistic, and utilisation in per cent."""
        delays, held_s = waits(run, self.rate_mbps * 1e6, "edge->receivers")
        if self.queue.statistic == "median":
            delay = weighted_median(delays, held_s)
        else:
            delay = float(np.average(delays, weights=held_s))
        links = run.links()
        directions = list(links["direction"])
        return delay, 100.0 * float(links["utilisation"][directions.index("edge->receivers")])


class StandingQueues:
    """Four flows over each queue, at three rates and two RTTs."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Several seeds for each cell."""
        for load in _loads():
            yield Experiment(
                key=load.key,
                scenario=SCENARIO,
                settings=load.settings(),
                seeds=plan.choose(3, 20),
                record=("queue",),
                measure=load.measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """A table and a picture for each queue."""
        tables = [
            Table(
                f"queue_{queue.name.replace('-', '_')}",
                f"{queue.words}: {queue.statistic} queueing delay of four flows",
                tuple(each for load in _loads() if load.queue is queue for each in _cells(samples, load)),
                note=f"Source: {queue.source}. The null model is a queue of one bandwidth-delay product that is full.",
            )
            for queue in QUEUES
        ]
        return Findings(tables=tuple(tables), pictures=tuple(_picture(table) for table in tables))


def _loads() -> list[Load]:
    return [Load(*each) for each in product(QUEUES, SENDERS, RATES_MBPS, RTTS_MS)]


_OVERLOAD = "ten packets fill the path, so four flows overload the queue, which the document excepts"
_EMPTY = (
    "after a loss the window of Reno, halved, and on the longest path that of CUBIC, is less than the path holds, and "
    "the queue stays empty for a part of each cycle: an interval of 100 ms is an RTT of the path and not more"
)


_UNKNOWN = "not established; PIE lies above its target at the same load too"


def cause(load: Load) -> str:
    """Why cells of this load may lie outside, as far as it is known."""
    if load.queue.name != "codel":
        return _UNKNOWN
    if load.rtt_ms * load.rate_mbps <= 120:
        return _OVERLOAD
    return _EMPTY if load.rtt_ms >= 100 else ""


def _cells(samples: Samples, load: Load) -> Iterable[Cell]:
    values = samples.all(load.key)
    queue = load.queue
    yield cell(
        load.row,
        f"{queue.statistic}_delay",
        "ms",
        queue.target_ms,
        None if values is None else [delay for delay, _ in values],
        origin="rule",
        bar=queue.bar,
        bar_reason=queue.bar_reason,
        null=float(load.rtt_ms),
        cause=cause(load),
    )
    if queue.name == "codel":
        yield cell(
            load.row,
            "utilisation",
            "%",
            100.0,
            None if values is None else [busy for _, busy in values],
            origin="rule",
            bar=BUSY,
            bar_reason=_BUSY_REASON,
            cause=cause(load),
        )


def _picture(table: Table) -> Picture:
    from dataclasses import replace

    from netspurt.plot.chart import Axis

    delays = replace(table, cells=tuple(each for each in table.cells if each.unit == "ms"))
    return curves_picture(
        delays,
        over="rate_mbps",
        by=("tcp", "rtt_ms"),
        x=Axis("link rate (Mbit/s)", "rate_mbps", "log"),
        y=Axis("queueing delay (ms)", "delay_ms"),
        caption="Queueing delay against the rate of the link, for two congestion controls and two RTTs.",
    )
