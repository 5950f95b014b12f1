"""Policers: the traffic that a token bucket passes."""

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

SCENARIO = "policer.toml"
RATE_BPS, LASTS_S = 5e6, 30.0
BURSTS_KB = (20, 200, 2000)
SENDERS = ("cubic", "bbr", "bbr3")
BAR = Range(75.0, 100.0, "75–100 %")
_BAR_REASON = (
    "never more than the tokens; and at least what a window that halves at each loss leaves, three quarters"
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
        """The token bucket's table with its picture."""
        table = Table(
            "policer",
            "A policer of 5 Mbit/s: bytes that pass in 30 s, in per cent of the tokens",
            tuple(_cell(samples, sender, burst) for sender, burst in product(SENDERS, BURSTS_KB)),
            note="Source: the arrival curve b + r · t of a token bucket (RFC 2697). A formula; ours is simulated.",
        )
        return Findings(tables=(table,), pictures=(_picture(table),))


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
