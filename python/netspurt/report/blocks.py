"""The elements of a report's page: texts, tables, pictures, files.

Lives here: data for the template. Must not live here: the source of the data.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from netspurt.analysis import formats
from netspurt.files.rows import csv_of, flat
from netspurt.plot.chart import Chart, Floats, Trace
from netspurt.plot.swept import in_units

if TYPE_CHECKING:
    import polars as pl

    from netspurt.plot.sweeps.changes import Change, Ruler
    from netspurt.plot.sweeps.heat_map import HeatMap

BUCKETS = 10_000
"""A trace with more than four times this many points is thinned on the page; it looks complete at tenfold zoom."""

HEIGHTS = {"time-sequence": 420}
"""Heights in pixels of charts that need more than the default."""

ROW, FRAME = 22, 70
"""Pixels of a row of a chart with named rows, and of its axis."""

VERDICTS = ("verdict",)

MEANS = ("mean", "low", "high")
"""Columns in the unit of the quantity of their row."""

DIGITS = 5
"""Significant digits of a number."""

ALIKE = 100
"""Numbers of a column whose ratio is at most this are aligned at their decimal points."""


class Block(Protocol):
    """An element of a section; ``kind`` selects its template."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Sentences:
    """A folded list."""

    kind: ClassVar[str] = "sentences"
    title: str
    texts: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Pairs of name and value."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Tries:
    """What may help: for what and where, a sentence, and its commands."""

    kind: ClassVar[str] = "tries"
    rows: Sequence[tuple[str, str, Sequence[str]]]


@dataclass(frozen=True)
class Code:
    """A folded file."""

    kind: ClassVar[str] = "code"
    title: str
    text: str


@dataclass(frozen=True)
class File:
    """A download that is embedded in the page."""

    name: str
    words: str
    type: str
    content: bytes

    @property
    def base64(self) -> str:
        """The content for a data URL."""
        return base64.b64encode(self.content).decode("ascii")


@dataclass(frozen=True)
class Files:
    """Several downloads."""

    kind: ClassVar[str] = "files"
    files: Sequence[File]


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and the alignment of its cells."""

    head: str
    number: bool
    verdict: bool


@dataclass(frozen=True)
class Table:
    """Rows of text, and of the number that each cell shows rounded: rows are sorted by it."""

    kind: ClassVar[str] = "table"
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[Sequence[float | None]]
    note: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Zoomable:
    """A chart that the page draws.

    Attributes:
        id: its id in the page.
        chart: its data.
        group: the group of charts that zoom together.
        alike: whether the charts of the group share their y range.
        heading: whether the page shows its title.
    """

    kind: ClassVar[str] = "chart"
    id: str
    chart: Chart
    group: str = ""
    alike: bool = False
    heading: bool = True

    @property
    def title(self) -> str:
        """The title above the chart."""
        return self.chart.title

    @property
    def caption(self) -> str:
        """The caption below the title."""
        return self.chart.caption

    @property
    def alt(self) -> str:
        """The text alternative."""
        return self.chart.alt()

    @property
    def height(self) -> int:
        """Pixels."""
        if self.chart.y.names:
            return ROW * len(self.chart.y.names) + FRAME
        return HEIGHTS.get(self.chart.name, 300)

    @property
    def file(self) -> File:
        """All points, including those that the page omits."""
        return parquet(f"{self.id}.parquet", self.chart.table())

    @property
    def thinned(self) -> str:
        """A sentence on the points that the page omits."""
        shown = self.chart.thinned(BUCKETS).points
        if shown == self.chart.points:
            return ""
        return f"{shown} of {self.chart.points} points are drawn, including all extremes; the Parquet file has all."

    @property
    def payload(self) -> str:
        """The data for the script, as JSON that is safe inside an element."""
        chart = self.chart.thinned(BUCKETS)
        whole = {
            "height": self.height,
            "alike": self.alike,
            "x": {"label": chart.x.label, "column": chart.x.column, "scale": chart.x.scale},
            "y": {
                "label": chart.y.label,
                "column": chart.y.column,
                "scale": chart.y.scale,
                "top": chart.y.top,
                "names": list(chart.y.names),
            },
            "traces": [_trace(trace) for trace in chart.traces],
        }
        return json.dumps(whole).replace("<", "\\u003c")


def _trace(trace: Trace) -> dict[str, Any]:
    return {
        "name": trace.name,
        "label": trace.label,
        "shape": trace.shape,
        "colour": trace.colour,
        "dash": trace.dash,
        "marker": trace.marker,
        "width": trace.width,
        "x": _numbers(trace.x),
        "y": _numbers(trace.y),
        "low": None if trace.low is None else _numbers(trace.low),
    }


def _numbers(values: Floats) -> str:
    return base64.b64encode(np.asarray(values, dtype="<f8").tobytes()).decode("ascii")


@dataclass(frozen=True)
class Still:
    """A picture without zoom; one without a title belongs to the picture above it."""

    kind: ClassVar[str] = "still"
    id: str
    title: str
    caption: str
    alt: str
    svg: str
    file: File | None = None


@dataclass(frozen=True)
class Changes:
    """Changes with their intervals on one scale; the page sets the colours."""

    kind: ClassVar[str] = "changes"
    id: str
    title: str
    caption: str
    changes: Sequence[Change]
    ruler: Ruler
    file: File

    def place(self, value: float) -> str:
        """The position of a value, as CSS."""
        return f"{100 * self.ruler.at(value):.2f}%"

    def width(self, ends: tuple[float, float]) -> str:
        """The width of an interval, as CSS."""
        return f"{100 * (self.ruler.at(ends[1]) - self.ruler.at(ends[0])):.2f}%"


@dataclass(frozen=True)
class Mapped:
    """A map that the page draws; each cell shows its values on hover."""

    kind: ClassVar[str] = "map"
    id: str
    map: HeatMap

    @property
    def title(self) -> str:
        """The title above the map."""
        return self.map.title

    @property
    def caption(self) -> str:
        """The caption below the title."""
        return self.map.caption

    @property
    def alt(self) -> str:
        """The text alternative."""
        return self.map.alt()

    @property
    def titles(self) -> Sequence[str]:
        """The titles of the panels."""
        return list(self.map.panels)

    @property
    def file(self) -> File:
        """The data of the map."""
        return parquet(f"{self.id}.parquet", self.map.table())

    @property
    def payload(self) -> str:
        """The data for the script, as JSON that is safe inside an element."""
        from netspurt.plot.palette import BEST

        of = self.map
        whole = {
            **{"x": of.x, "y": of.y, "quantity": of.quantity, "best": BEST},
            **{"columns": list(of.columns), "rows": list(of.rows)},
            "panels": [
                {
                    "title": title,
                    "values": _numbers(values.ravel()),
                    "marks": [(at, str(word)) for at, word in enumerate(of.marks[title].ravel()) if word]
                    if title in of.marks
                    else [],
                    "details": of.details[title].ravel().tolist() if title in of.details else [],
                }
                for title, values in of.panels.items()
            ],
        }
        return json.dumps(whole).replace("<", "\\u003c")


@dataclass(frozen=True)
class Share:
    """A line of a budget.

    Attributes:
        limit: its name.
        seconds: its time as text.
        share: 0 to 1.
        colour: of its bar.
        sentence: what it means here.
        packets: the packets of its longest interval, as text.
        begin: where this interval begins on the time axis, and ``end`` where it ends, with some room.
    """

    limit: str
    seconds: str
    share: float
    colour: str
    sentence: str
    packets: str
    begin: float
    end: float


@dataclass(frozen=True)
class Budget:
    """The time budget of a transfer; each line leads to its place in the charts of ``group``, if they exist."""

    kind: ClassVar[str] = "budget"
    id: str
    title: str
    lines: Sequence[Share]
    group: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    title: str
    blocks: Sequence[Block]

    @property
    def id(self) -> str:
        """The target of links to it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True)
class Page:
    """A whole report: its kind ("run", "sweep", "comparison"), title, lead sentences, and sections.

    ``headline`` is the one number that matters most, and what it is, such as ("64.2 s", "for 8.39 MB, 1.04 Mbit/s").
    """

    kind: str
    title: str
    lead: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)
    headline: tuple[str, str] | None = None

    @property
    def kinds(self) -> set[str]:
        """The kinds of all blocks, and ``rows`` if a table has several: they determine the scripts of the page."""
        blocks = [block for section in self.sections for block in section.blocks]
        several = any(isinstance(block, Table) and len(block.rows) > 1 for block in blocks)
        return {block.kind for block in blocks} | ({"rows"} if several else set())


def table(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | None = None,
    *,
    note: str = "",
    folded: bool = False,
    scale: str = "",
) -> Table:
    """Rows as a table, in readable units.

    Args:
        title: the title above it.
        rows: names to values.
        columns: the columns in order; empty ones are omitted. By default all columns of any row.
        note: the note below it.
        folded: whether it starts folded.
        scale: the quantity whose unit applies to ``mean``, ``low`` and ``high``.
    """
    names = (
        list(columns) if columns is not None else list(dict.fromkeys(name for row in rows for name in row))
    )
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    scales = {name: (name, in_units(scale)[1]) if name in MEANS else in_units(name) for name in names}
    heads = [
        Column(
            scales[name][0],
            all(isinstance(row.get(name), int | float | None) for row in rows),
            name in VERDICTS,
        )
        for name in names
    ]
    fixed = {name: _decimals([row.get(name) for row in rows], scales[name][1]) for name in names}
    texts = [[_cell_text(row.get(name), scales[name][1], fixed[name]) for name in names] for row in rows]
    numbers = [[_number(row.get(name)) for name in names] for row in rows]
    return Table(title, heads, texts, numbers, note, folded)


def _number(value: Any) -> float | None:
    """The value of a cell if it is a number."""
    return +value if isinstance(value, int | float) and math.isfinite(value) else None


def _decimals(values: Sequence[Any], factor: float) -> int | None:
    """The number of decimals that aligns the numbers of a column; None if their magnitudes differ too much."""
    numbers = [value for value in values if isinstance(value, int | float)]
    sizes = [abs(value * factor) for value in numbers if value]
    if len(sizes) < 2 or (factor == 1 and all(isinstance(value, int) for value in numbers)):
        return None
    if not all(map(math.isfinite, numbers)) or max(sizes) > ALIKE * min(sizes):
        return None
    return max(0, DIGITS - 1 - math.floor(math.log10(max(sizes))))


def _cell_text(value: Any, factor: float, decimals: int | None) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool) and value and decimals is not None:
        return f"{value * factor:.{decimals}f}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (
            formats.count(value)
            if isinstance(value, int) and factor == 1
            else formats.digits(value * factor, DIGITS)
        )
    return formats.arrows(formats.text(value))


def parquet(name: str, frame: pl.DataFrame, words: str = "Parquet of all points") -> File:
    """A table as a Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return File(name, words, "application/vnd.apache.parquet", buffer.getvalue())


def csv(name: str, rows: Sequence[Mapping[str, Any]]) -> File:
    """Rows as a CSV file with full precision; nested counts become separate columns."""
    text = csv_of([flat(row) for row in rows])
    return File(name, name, "text/csv", text.encode())
