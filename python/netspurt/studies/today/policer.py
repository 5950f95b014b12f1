"""Policers: the traffic that a token bucket passes, and the figures of Flach et al. 2016."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.setting import cell, curves_picture, left_out
from netspurt.studies.verdict import Range

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "policer.toml"
RATE_BPS, LASTS_S = 5e6, 30.0
BURSTS_KB = (20, 200, 2000)
SENDERS = ("cubic", "bbr", "bbr3")
BAR = Range(75.0, 100.0, "75–100 %")
_BAR_REASON = (
    "never more than the tokens; and at least what a window that halves at each loss leaves, three quarters"
)
_POPULATION = "a figure of the paths of one operator's users in 2015, which no single scenario has"

_LABORATORY = (
    "the configurations of that laboratory are not at hand; docs/diagnosis/accuracy.md has the share that "
    "the diagnosis of netspurt finds in random cases of its own"
)


def passed_bytes(run: _core.Run) -> float:
    """Bytes, with headers, that left the policer."""
    links = run.links()
    return float(links["bytes"][list(links["direction"]).index("server->client")])


class Policer:
    """Three senders and three buckets."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """No randomness beside that of BBR's cycle: few seeds."""
        for sender, burst in product(SENDERS, BURSTS_KB):
            bucket: Value = [{"rate": "5 Mbit/s", "burst": f"{burst} kB"}, "none"]
            yield Experiment(
                key=_key(sender, burst),
                scenario=SCENARIO,
                settings={"tcp.congestion": sender, "link.line.policer": bucket},
                seeds=plan.choose(2, 10),
                measure=passed_bytes,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The token bucket's table with its picture, and what cannot be compared."""
        table = Table(
            "policer",
            "A policer of 5 Mbit/s: bytes that pass in 30 s, in per cent of the tokens",
            tuple(_cell(samples, sender, burst) for sender, burst in product(SENDERS, BURSTS_KB)),
            note="Source: the arrival curve b + r · t of a token bucket (RFC 2697). A formula; ours is simulated.",
        )
        flach = Table(
            "flach_2016",
            "Figures of Flach et al. 2016",
            tuple(_flach()),
            note=(
                "Source: Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016, "
                "abstract and validation."
            ),
        )
        return Findings(tables=(table, flach), pictures=(_picture(table),))


def _key(sender: str, burst: int) -> Key:
    return ("policer", sender, f"{burst}kB")


def _cell(samples: Samples, sender: str, burst: int) -> Cell:
    tokens = RATE_BPS / 8 * LASTS_S + 1e3 * burst
    values: list[float] | None = samples.all(_key(sender, burst))
    return cell(
        {"tcp": sender, "burst_kb": burst},
        "passed_of_tokens",
        "%",
        100.0,
        None if values is None else [100.0 * value / tokens for value in values],
        origin="formula",
        bar=BAR,
        bar_reason=_BAR_REASON,
    )


def _flach() -> Iterable[Cell]:
    yield left_out(
        {"figure": "policers found by their detector in a laboratory"},
        "share",
        "%",
        93.0,
        origin="measurement",
        reason=_LABORATORY,
    )
    yield left_out(
        {"figure": "loss rate of policed transfers over that of others"},
        "ratio",
        "",
        6.0,
        origin="measurement",
        reason=_POPULATION,
    )
    yield left_out(
        {"figure": "largest share of policed connections in a region"},
        "share",
        "%",
        7.0,
        origin="measurement",
        reason=_POPULATION,
    )


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="burst_kb",
        by=("tcp",),
        x=Axis("bucket (kB)", "burst_kb", "log"),
        y=Axis("passed (% of the tokens)", "passed_percent"),
        caption="Bytes that pass the policer in 30 s against the size of its bucket.",
    )
