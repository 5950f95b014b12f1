"""LEDBAT++: alone on a link it keeps the queueing delay at its target."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
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
TARGET_MS, OLD_TARGET_MS = 60.0, 100.0
BAR = Fraction(0.10)
_BAR_REASON = "the target, less the periodic slow-downs that empty the queue"


class Background:
    """One flow at three rates."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Long enough for several periodic slow-downs."""
        for rate in RATES_MBPS:
            settings: dict[str, Value] = {
                "duration": "120 s",
                "tcp.congestion": "ledbat-plus-plus",
                "flow.0.count": 1,
                "link.bottleneck.rate": f"{rate} Mbit/s",
                "link.bottleneck.delay": "19.5 ms",
                "link.bottleneck.queue": {"kind": "drop-tail", "limit": "1000 packets"},
            }
            yield Experiment(
                key=_key(rate),
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
            (*(_cell(samples, rate) for rate in RATES_MBPS), _old()),
            note=(
                "Source: draft-irtf-iccrg-ledbat-plus-plus: a target of 60 ms; RFC 6817, section 2.5: "
                "at most "
                "100 ms. A rule; ours is simulated."
            ),
        )
        return Findings(tables=(table,), pictures=(_picture(table),))


def median_ms(run: _core.Run, rate_mbps: int) -> float:
    """Median queueing delay in ms, by time."""
    return weighted_median(*waits(run, rate_mbps * 1e6, "edge->receivers"))


def _key(rate: int) -> Key:
    return ("ledbat", f"{rate}M")


def _cell(samples: Samples, rate: int) -> Cell:
    return cell(
        {"tcp": "ledbat-plus-plus", "rate_mbps": rate},
        "median_delay",
        "ms",
        TARGET_MS,
        samples.all(_key(rate)),
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
