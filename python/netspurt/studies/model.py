"""The results of a study: cells, tables, checks, pictures; and their JSON form, which scripts rely on.

Lives here: data and its JSON shape. Must not live here: simulation, drawing, printing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from netspurt.studies.verdict import Bar, Role, Verdict, deviation, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netspurt.plot.chart import Chart
    from netspurt.plot.sweeps.heat_map import HeatMap

SIGNED = ("decrease", "gain")
"""Last words of quantities that can be below zero; all others are counts, times, rates and shares."""

Label = str | bool | int | float
"""The labels of a row."""

Origin = Literal["", "formula", "measurement", "rule"]
"""The origin of a number in a document: computed, measured, or required; empty if a study does not distinguish them."""


@dataclass(frozen=True)
class Cell:
    """One number of a table, published and measured.

    ``measured`` carries full precision. ``interval`` is the 95 % confidence interval of the mean, ``band``
    the 5 to 95 % range over seeds, ``null_model`` the value of a trivial rule; all in ``unit``.
    ``allowance`` marks a bar that some cells of a column may miss: a check then judges the column.
    ``bar_reason`` says why the bar has its width. ``left_out`` marks a published number for which no run is made;
    ``reason`` says why.
    """

    row: Mapping[str, Label]
    quantity: str
    unit: str
    published: float | None
    measured: float | None
    decimals: int | None = None
    bar: Bar | None = None
    role: Role = "predicted"
    interval: tuple[float, float] | None = None
    band: tuple[float, float] | None = None
    null_model: float | None = None
    runs: int = 1
    allowance: bool = False
    reason: str = ""
    origin: Origin = ""
    bar_reason: str = ""
    left_out: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict on this cell."""
        if self.left_out:
            return "not comparable"
        return judge(self.published, self.measured, self.decimals, self.bar, self.band)

    @property
    def deviation(self) -> float | None:
        """Measured over published, minus one."""
        return deviation(self.published, self.measured)

    @property
    def possible_interval(self) -> tuple[float, float] | None:
        """The confidence interval, without values below zero of a quantity that has none."""
        if self.interval is None or self.quantity.split()[-1] in SIGNED:
            return self.interval
        return max(self.interval[0], 0.0), self.interval[1]

    @property
    def falls_short(self) -> bool:
        """True if this cell alone makes the study fall short."""
        return self.verdict == "outside" and not self.allowance

    def as_json(self) -> dict[str, Any]:
        """The cell as ``reproduce --json`` prints it."""
        cell: dict[str, Any] = {
            "row": dict(self.row),
            "quantity": self.quantity,
            "unit": self.unit,
            "published": self.published,
            "measured": self.measured,
            "interval": None if self.possible_interval is None else list(self.possible_interval),
            "deviation": self.deviation,
            "role": self.role,
            "bar": None if self.bar is None else self.bar.words,
            "verdict": self.verdict,
            "runs": self.runs,
        }
        if self.band is not None:
            cell["band_5_95"] = list(self.band)
        if self.null_model is not None:
            cell["null_model"] = self.null_model
        for name in ("reason", "origin", "bar_reason"):
            if getattr(self, name):
                cell[name] = getattr(self, name)
        return cell


@dataclass(frozen=True)
class Table:
    """A table of the document (``kind`` "document"), or an additional one."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    kind: Literal["document", "beyond"] = "document"
    note: str = ""

    def counts(self) -> Counter[Verdict]:
        """The number of cells with each verdict."""
        return Counter(cell.verdict for cell in self.cells)

    def as_json(self) -> dict[str, Any]:
        """The table as ``reproduce --json`` prints it."""
        table: dict[str, Any] = {"table": self.name, "kind": self.kind, "title": self.title}
        if self.note:
            table["note"] = self.note
        table["cells"] = [cell.as_json() for cell in self.cells]
        return table


@dataclass(frozen=True)
class Check:
    """A statement that holds or does not hold; ``holds`` is None if its runs are incomplete."""

    check: str
    holds: bool | None
    found: str = ""

    def as_json(self) -> dict[str, Any]:
        """The check as ``reproduce --json`` prints it."""
        return {"check": self.check, "holds": self.holds, "found": self.found}


@dataclass(frozen=True)
class Picture:
    """A picture that a report draws on demand.

    Attributes:
        name: the name of its file.
        title: the title above it.
        caption: what it shows and from which data.
        alt: the text alternative.
        make: returns its data: a chart for each panel, or a map; or a figure where no zoom is needed.
        shared: whether the panels share their axes.
    """

    name: str
    title: str
    caption: str
    alt: str
    make: Callable[[], Sequence[Chart] | HeatMap | Figure]
    shared: bool = True

    @cached_property
    def data(self) -> Sequence[Chart] | HeatMap | Figure:
        """The result of ``make``, computed once."""
        return self.make()

    def draw(self) -> Figure:
        """The picture as a figure for print."""
        from matplotlib.figure import Figure

        from netspurt.plot.drawing import draw_panels
        from netspurt.plot.sweeps.heat_map import HeatMap

        if isinstance(self.data, Figure):
            return self.data
        return (
            self.data.draw() if isinstance(self.data, HeatMap) else draw_panels(self.data, shared=self.shared)
        )


@dataclass(frozen=True)
class Findings:
    """The results of one part of a study."""

    tables: tuple[Table, ...] = ()
    checks: tuple[Check, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyResult:
    """A study's outcome.

    ``seconds`` is wall time, ``live_seconds`` the part of it for measurements with real programs (of several studies at
    the same time). ``scenarios`` maps a file name to its merged TOML.
    """

    study: str
    title: str
    document: str
    question: str
    seconds: float
    findings: Findings
    scenarios: Mapping[str, str] = field(default_factory=dict)
    runs: int = 0
    interrupted: bool = False
    live_seconds: float = 0.0

    @property
    def falls_short(self) -> bool:
        """True if a cell or a check with a bar misses it."""
        cells = any(cell.falls_short for table in self.findings.tables for cell in table.cells)
        return cells or any(check.holds is False for check in self.findings.checks)

    def counts(self) -> Counter[Verdict]:
        """Verdicts over the tables of the document."""
        total: Counter[Verdict] = Counter()
        for table in self.findings.tables:
            if table.kind == "document":
                total += table.counts()
        return total

    def as_json(self) -> dict[str, Any]:
        """The study as ``reproduce --json`` prints it."""
        return {
            "study": self.study,
            "seconds": self.seconds,
            "live_seconds": self.live_seconds,
            "runs": self.runs,
            "interrupted": self.interrupted,
            "tables": [table.as_json() for table in self.findings.tables],
            "checks": [check.as_json() for check in self.findings.checks],
            "notes": list(self.findings.notes),
            "pictures": [
                {name: getattr(picture, name) for name in ("name", "title", "caption", "alt")}
                for picture in self.findings.pictures
            ],
        }


def gather(parts: Iterable[Findings]) -> Findings:
    """All findings of a study's parts, in order."""
    whole = Findings()
    for part in parts:
        whole = replace(
            whole,
            tables=whole.tables + part.tables,
            checks=whole.checks + part.checks,
            pictures=whole.pictures + part.pictures,
            notes=whole.notes + part.notes,
        )
    return whole
