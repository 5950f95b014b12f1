"""LEDBAT++ at the sender and at the receiver (rLEDBAT): alone on a link it keeps the queueing delay at its target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.queues import waits, weighted_median
from netspurt.studies.today.setting import cell, curves_picture, left_out
from netspurt.studies.verdict import Fraction

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "bottleneck.toml"
RATES_MBPS = (5, 20, 50)
CONTROLS: Mapping[str, dict[str, Value]] = {
    "ledbat-plus-plus": {"tcp.congestion": "ledbat-plus-plus"},
    # The receiver controls a sender with CUBIC.
    "rledbat": {"tcp.congestion": "cubic-linux", "tcp.receiver_congestion": "rledbat"},
}
TARGET_MS, OLD_TARGET_MS = 60.0, 100.0
BAR = Fraction(0.10)
_BAR_REASON = "the target, less the periodic slow-downs that empty the queue"


class Background:
    """One flow at three rates, controlled by its sender or by its receiver."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Long enough for several periodic slow-downs."""
        for control, rate in product(CONTROLS, RATES_MBPS):
            settings: dict[str, Value] = {
                "duration": "120 s",
                **CONTROLS[control],
                "flow.0.count": 1,
                "link.bottleneck.rate": f"{rate} Mbit/s",
                "link.bottleneck.delay": "19.5 ms",
                "link.bottleneck.queue": {"kind": "drop-tail", "limit": "1000 packets"},
            }
            yield Experiment(
                key=_key(control, rate),
                scenario=SCENARIO,
                settings=settings,
                seeds=plan.choose(2, 10),
                record=("queue",),
                measure=partial(median_ms, rate_mbps=rate),
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The table and its picture."""
        table = Table(
            "ledbat",
            "LEDBAT++: median queueing delay of a flow that is alone",
            (*(_cell(samples, *each) for each in product(CONTROLS, RATES_MBPS)), _old()),
            note=(
                "Source: draft-irtf-iccrg-ledbat-plus-plus: a target of 60 ms, at the receiver too (RFC 9840); "
                "RFC 6817, section 2.5: at most 100 ms. A rule; ours is simulated."
            ),
        )
        return Findings(tables=(table,), pictures=(_picture(table),))


def median_ms(run: _core.Run, rate_mbps: int) -> float:
    """Median queueing delay in ms, by time."""
    return weighted_median(*waits(run, rate_mbps * 1e6, "edge->receivers"))


def _key(control: str, rate: int) -> Key:
    return ("ledbat", control, f"{rate}M")


def _cell(samples: Samples, control: str, rate: int) -> Cell:
    return cell(
        {"tcp": control, "rate_mbps": rate},
        "median_delay",
        "ms",
        TARGET_MS,
        samples.all(_key(control, rate)),
        origin="rule",
        bar=BAR,
        bar_reason=_BAR_REASON,
    )


def _old() -> Cell:
    return left_out(
        {"tcp": "ledbat (RFC 6817)", "rate_mbps": RATES_MBPS[1]},
        "median_delay",
        "ms",
        OLD_TARGET_MS,
        origin="rule",
        reason="LEDBAT as in RFC 6817 is not implemented; LEDBAT++ replaces it",
    )


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="rate_mbps",
        by=("tcp",),
        x=Axis("link rate (Mbit/s)", "rate_mbps", "log"),
        y=Axis("median queueing delay (ms)", "delay_ms"),
        caption="Median queueing delay of one background flow against the rate of the link.",
    )
