"""How often a policer is found in captures, and how often something else is taken for one: Flach et al. 2016."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import CapturedExperiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today.setting import cell, curves_picture, left_out, published
from netspurt.studies.verdict import Range

if TYPE_CHECKING:
    from netspurt import _core
    from netspurt.diagnosing import Diagnosis

SCENARIO = "policer_laboratory.toml"
PAUSES_S = (0.5, 1.0, 2.0)
FOUND_SHARE = 0.1
"""A chunk counts as policed if the diagnosis gives a policer at least this share of its time."""
SLACK_POINTS = 10.0
FALSE_ALARMS = Range(0.0, 5.0, "≤ 5 %")
_FOUND_REASON = "a diagnosis should find what the published detector finds; ten points are one chunk in ten"
_NO_LOSSES = (
    "no chunk of a simulated run loses a packet: the bucket has filled up again before the next chunk"
)
_ONE_BURST = (
    "the bucket is full again before each chunk, so a chunk loses one burst of hundreds of packets, and its repair "
    "takes most of the time; the document names single bursts as what its detector misses, too"
)
_FALSE_REASON = (
    "a user asks the provider about a policer that is reported, so a wrong report is worse than none"
)


class Chunks(NamedTuple):
    """The chunks of one run: how many there are, how many lost a packet, and how many count as policed.

    ``found_lossy`` are those that lost a packet and count as policed.
    """

    number: int
    lossy: int
    found: int
    found_lossy: int


@dataclass(frozen=True)
class Configuration:
    """A cause of losses in the laboratory, and what the published detector found there.

    ``size_kb`` is that of the bucket or of the queue in kB; None for random loss.
    """

    cause: str
    rate_mbps: float
    size_kb: int | None
    loss_percent: float
    chunks: int
    lossy: int
    found: int

    @property
    def row(self) -> dict[str, str | bool | int | float]:
        """Its labels."""
        if self.cause == "policer":
            return {"rate_mbps": self.rate_mbps, "bucket_kb": self.size_kb or 0}
        return {"cause": self.words, "rate_mbps": self.rate_mbps}

    @property
    def words(self) -> str:
        """The cause with its size."""
        if self.size_kb is None:
            return f"random loss of {self.loss_percent:g} %"
        return f"{'bucket' if self.cause == 'policer' else 'drop-tail queue'} of {self.size_kb} kB"

    @property
    def share_percent(self) -> float:
        """The share of chunks that the published detector marked: of those with losses for a policer, else of all."""
        return 100.0 * self.found / (self.lossy if self.cause == "policer" else self.chunks)

    def key(self, pause_s: float) -> Key:
        """The name of the experiment with this pause between chunks."""
        size = f"{self.loss_percent:g}%" if self.size_kb is None else f"{self.size_kb}kB"
        return ("laboratory", self.cause, f"{self.rate_mbps:g}M", size, f"{pause_s:g}s")

    def settings(self, pause_s: float) -> dict[str, Value]:
        """The scenario."""
        rate = f"{self.rate_mbps:g} Mbit/s"
        settings: dict[str, Value] = {"flow.0.app.gap": f"{1e3 * pause_s:g} ms"}
        if self.cause == "policer":
            settings["link.line.policer"] = [{"rate": rate, "burst": f"{self.size_kb} kB"}, "none"]
        else:
            settings["link.line.rate"] = [rate, "1 Gbit/s"]
        if self.cause == "queue":
            settings["link.line.queue"] = {"kind": "drop-tail", "limit": f"{self.size_kb} kB"}
        if self.cause == "random loss":
            settings["link.line.loss"] = {
                "kind": "packet-error",
                "rate": self.loss_percent / 100.0,
                "direction": "edge->client",
            }
        return settings


def configurations() -> list[Configuration]:
    """The published ones."""
    return [
        Configuration(
            cause=line["cause"],
            rate_mbps=float(line["rate_mbps"]),
            size_kb=int(line["size_kb"]) if line["size_kb"] else None,
            loss_percent=float(line["loss_percent"]),
            **{name: int(line[name]) for name in ("chunks", "lossy", "found")},
        )
        for line in published("flach_2016_laboratory.csv")
    ]


def count(run: _core.Run, diagnosis: Diagnosis) -> Chunks:
    """Counts the chunks of a run by its drops and by the diagnosis of its capture at the server."""
    transfers = diagnosis.transfers.sort("from_s")
    begins = transfers["from_s"].to_numpy()
    drops = np.asarray(run.drops()["time_s"], dtype=np.float64)
    # The clock of the capture begins half a round trip late, and pauses between chunks are longer.
    lossy = np.unique(np.searchsorted(begins, drops, side="right") - 1)
    found = [place for place, budget in enumerate(transfers["budget"]) if is_policed(json.loads(budget))]
    return Chunks(
        transfers.height, int((lossy >= 0).sum()), len(found), len(set(found) & set(lossy.tolist()))
    )


def is_policed(budget: Iterable[Mapping[str, object]]) -> bool:
    """Whether a policer has its share of a budget."""
    shares = [float(str(line["share"])) for line in budget if line["limit"] == "policer"]
    return sum(shares) >= FOUND_SHARE


class Laboratory:
    """The configurations of the laboratory, with one flow at a time."""

    def experiments(self, plan: Plan) -> Iterable[CapturedExperiment]:
        """Every pause of the laboratory, with few seeds: only microseconds of the delay are random."""
        for each in configurations():
            for pause_s in PAUSES_S:
                yield CapturedExperiment(
                    key=each.key(pause_s),
                    scenario=SCENARIO,
                    settings=each.settings(pause_s),
                    seeds=plan.choose(1, 5),
                    record=("drops",),
                    point="server",
                    measure=count,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """A table for policers, one for what is none, and the figures that cannot be compared."""
        every = configurations()
        policed = Table(
            "flach_2016_policers",
            "Chunks with losses in which a policer is found, in per cent",
            tuple(_cell(samples, each) for each in every if each.cause == "policer"),
            note=(
                "Source: Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016, section 3.1, and "
                "its data (validation.csv): what their detector finds in captures at the server, by rate and bucket. "
                "It judges each chunk by itself, and a router limited the traffic. "
                f"Ours is what netspurt's diagnosis finds in simulated captures at the server: {FOUND_SHARE:.0%} of "
                "the time of a chunk or more. It sees the whole connection, and the simulated path has no other noise."
            ),
        )
        others = Table(
            "flach_2016_others",
            "Chunks in which a policer is found where there is none, in per cent",
            tuple(_cell(samples, each) for each in every if each.cause != "policer"),
            note="Source: as above: bottlenecks with a drop-tail queue, and random loss.",
        )
        whole = Table(
            "flach_2016",
            "Figures of Flach et al. 2016 on the paths of their users",
            tuple(_populations()),
            note="Source: the same paper, abstract and table 2.",
        )
        return Findings(tables=(policed, others, whole), pictures=(_picture(policed),))


def _cell(samples: Samples, each: Configuration) -> Cell:
    is_policer = each.cause == "policer"
    printed = each.share_percent
    shares = _shares(samples, each)
    if shares == []:
        return left_out(each.row, "found", "%", printed, origin="measurement", reason=_NO_LOSSES)
    low = max(0.0, printed - SLACK_POINTS)
    return cell(
        each.row,
        "found",
        "%",
        printed,
        shares,
        origin="measurement",
        bar=Range(low, 100.0, f"≥ {low:.0f} %") if is_policer else FALSE_ALARMS,
        bar_reason=_FOUND_REASON if is_policer else _FALSE_REASON,
        cause=_ONE_BURST if is_policer and (each.size_kb or 0) >= 1000 else "",
    )


def _shares(samples: Samples, each: Configuration) -> list[float] | None:
    """The share found of each run that has something to be found in; None if a run is missing."""
    runs: list[Chunks] = []
    for pause_s in PAUSES_S:
        of_pause: list[Chunks] | None = samples.all(each.key(pause_s))
        if of_pause is None:
            return None
        runs += of_pause
    if each.cause != "policer":
        return [100.0 * run.found / run.number for run in runs]
    return [100.0 * run.found_lossy / run.lossy for run in runs if run.lossy]


def _populations() -> Iterable[Cell]:
    reason = "a figure of the paths of one operator's users in 2015, which no single scenario has"
    for figure, quantity, unit, value in (
        ("loss rate of policed transfers over that of others", "ratio", "", 6.0),
        ("largest share of policed connections in a region", "share", "%", 7.0),
    ):
        yield left_out({"figure": figure}, quantity, unit, value, origin="measurement", reason=reason)


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="bucket_kb",
        by=("rate_mbps",),
        x=Axis("bucket (kB)", "bucket_kb", "log"),
        y=Axis("chunks found policed (%)", "found_percent"),
        caption="Share of chunks with losses in which a policer is found, by its rate, against the size of its bucket.",
    )
