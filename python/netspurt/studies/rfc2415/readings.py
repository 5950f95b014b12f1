"""The effect of choices that the document leaves open: each reading changes one choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

from netspurt.analysis.formats import number
from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Label, Table
from netspurt.studies.rfc2415.setting import (
    HTTP10,
    HTTP11,
    SEEDS,
    WEBS,
    Http,
    Load,
    Runs,
    estimated,
    measure,
    published_decreases,
    published_delays,
)

CLOCK = {"kind": "rfc6298", "max": "64 s", "initial": "6 s"}
MAH: dict[str, Value] = {"kind": "quantiles", "file": "mah_quantiles.csv", "column": "reply_length_octets"}
NODES = range(2, 10)


@dataclass(frozen=True)
class Reading:
    """One changed choice; ``flow`` has settings of every web client's application."""

    words: str
    http: Http = HTTP10
    settings: Mapping[str, Value] = field(default_factory=dict)
    flow: Mapping[str, Value] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether it is the reading of the tables, whose runs are used here too."""
        return not self.settings and not self.flow

    def key(self, load: Load) -> Key:
        """The key of a load's experiment."""
        return load.key if self.is_ours else ("reading", self.http.name, self.words, load.webs, load.window)

    def of(self, load: Load) -> dict[str, Value]:
        """All settings of a run beyond the scenario file."""
        web = {f"flow.{flow}.app.{name}": value for flow in range(4) for name, value in self.flow.items()}
        return {**load.settings(), **self.settings, **web}


def _access(delay: str) -> dict[str, Value]:
    return {f"link.n{node}.delay": delay for node in NODES}


READINGS = (
    Reading("as in the tables"),
    Reading(
        "25 packets wait behind the one being sent",
        settings={"link.bottleneck.queue": {"kind": "drop-tail", "limit": "25 packets"}},
    ),
    Reading("50 ms each way, access 1 ms", settings={"link.bottleneck.delay": "50 ms", **_access("1 ms")}),
    Reading("access 1 ms", settings=_access("1 ms")),
    Reading("file sizes of Mah's replies", flow={"size": MAH}),
    Reading(
        "timeouts of at least 1 s, clock of 100 ms",
        settings={"tcp.rto": {**CLOCK, "min": "1 s", "granularity": "100 ms"}, "tcp.timer_grain": "100 ms"},
    ),
    Reading(
        "timeouts of at least 0.2 s, clock of 10 ms",
        settings={"tcp.rto": {**CLOCK, "min": "200 ms", "granularity": "10 ms"}, "tcp.timer_grain": "10 ms"},
    ),
    Reading("every segment acknowledged", settings={"tcp.acking": "every-segment"}),
    Reading("as in the tables", http=HTTP11),
    Reading("embedded files pipelined", http=HTTP11, flow={"http": {"kind": "1.1", "order": "pipelined"}}),
    Reading("file sizes of Mah's replies", http=HTTP11, flow={"size": MAH}),
)


class Readings:
    """The loads without file transfers, which have the narrowest bars."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """All readings except that of the tables, which the grid runs. None in a quick run."""
        if plan.quick:
            return
        for reading, webs, window in product(READINGS, WEBS, (1, 3)):
            load = Load(reading.http, webs, 0, window)
            if not reading.is_ours:
                yield Experiment(
                    key=reading.key(load),
                    scenario=load.scenario,
                    settings=reading.of(load),
                    seeds=plan.choose(SEEDS, SEEDS),
                    measure=measure,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """One table, with the published numbers among its row names."""
        if not any(
            samples.knows(each.key(Load(each.http, 8, 0, 1))) for each in READINGS if not each.is_ours
        ):
            return Findings()
        cells = []
        for reading in READINGS:
            runs = Runs(samples, reading.key)
            delays, falls = published_delays(reading.http), published_decreases(reading.http)
            for webs in WEBS:
                one, three = (Load(reading.http, webs, 0, window) for window in (1, 3))
                for quantity, unit, published, values in (
                    ("median_page_delay_iw1", "s", delays[one.place], runs.each(one, "web")),
                    ("decrease_iw3", "%", falls[three.place], runs.decreases(three)),
                ):
                    row: dict[str, Label] = {
                        "http": reading.http.name,
                        "reading": reading.words,
                        "web_clients": webs,
                        "published": number(published),
                    }
                    cell = Cell(row, quantity, unit, None, None, reason="another reading of the document")
                    cells.append(estimated(cell, values))
        note = (
            "Each row changes one choice. The README lists the choices and their reasons. No reading improves "
            "every row: each one that is closer in one row is further off in another."
        )
        title = "Other readings of what the document leaves open, without file transfers"
        return Findings(tables=(Table("beyond_readings", title, tuple(cells), kind="beyond", note=note),))
