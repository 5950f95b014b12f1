"""A quantity of a sweep over two varied paths, as a map; a panel for each value of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.analysis import formats
from netspurt.errors import RequestError
from netspurt.plot.chart import Floats
from netspurt.plot.swept import axis_of, in_units, ordered, short, table_of, value_label

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Words: TypeAlias = npt.NDArray[np.str_]


PANELS = 6
"""The maximal number of maps side by side."""


@dataclass(frozen=True)
class HeatMap:
    """A map as data.

    Attributes:
        panels: for each title the values, shape (rows of y, columns of x), NaN if not run.
        details: additional text for the cells of a panel, of the same shape.
        marks: for some titles, marks of single cells, of the same shape; ``BEST`` is drawn as a star, others as dots.
    """

    name: str
    title: str
    quantity: str
    x: str
    y: str
    columns: Sequence[str]
    rows: Sequence[str]
    panels: Mapping[str, Floats]
    source: pl.DataFrame
    caption: str = ""
    marks: Mapping[str, Words] = field(default_factory=dict)
    details: Mapping[str, Words] = field(default_factory=dict)

    def table(self) -> pl.DataFrame:
        """All points: the varied paths, ``runs``, ``mean``, ``low`` and ``high``."""
        return self.source

    def draw(self) -> Figure:
        """The map as a figure."""
        from netspurt.plot.drawing_map import draw_map

        return draw_map(self)

    def alt(self) -> str:
        """The text alternative of the map."""
        cells = np.concatenate([values.ravel() for values in self.panels.values()])
        known = cells[np.isfinite(cells)]
        return (
            f"{self.title}. X axis: {self.x}; y axis: {self.y}. {self.quantity} from "
            f"{formats.plain(known.min())} to {formats.plain(known.max())} in {known.size} cells."
        )


def heat_map(
    what: object,
    quantity: str = "goodput_bps",
    x: str | None = None,
    y: str | None = None,
    where: Mapping[str, object] | None = None,
) -> Figure:
    """Means over seeds as a map over two varied paths.

    Args:
        what: a sweep, or the path of its folder.
        quantity: a column of its flows or links.
        x: the path of the x axis; by default the one with the most values.
        y: the path of the y axis; by default the one with the most values except x.
        where: required values of some of the other paths; each combination of the rest is a panel.

    Raises:
        RequestError: no such data, or too many panels.
    """
    return heat_map_data(what, quantity, x, y, where).draw()


def heat_map_data(
    what: object,
    quantity: str = "goodput_bps",
    x: str | None = None,
    y: str | None = None,
    where: Mapping[str, object] | None = None,
) -> HeatMap:
    """The same map as data."""
    table = table_of(what, quantity, where)
    across = axis_of(table, x, [y] if y else [])
    upwards = axis_of(table, y, [across])
    others = [path for path in table.varied if path not in (across, upwards)]
    columns, rows = (ordered(table.rows[path].to_list()) for path in (across, upwards))
    words, factor = in_units(quantity)
    panels: dict[str, Floats] = {}
    details: dict[str, Words] = {}
    for row in table.rows.iter_rows(named=True):
        name = ", ".join(f"{short(path)} {value_label(row[path])}" for path in others)
        values = panels.setdefault(name, np.full((len(rows), len(columns)), np.nan))
        words_of = details.setdefault(name, np.full(values.shape, "", dtype="U80"))
        cell = rows.index(row[upwards]), columns.index(row[across])
        values[cell] = row["mean"] * factor
        words_of[cell] = _detail(row, factor)
    if len(panels) > PANELS:
        raise RequestError(
            f"{len(panels)} maps ({', '.join(others)}) are too many: fix some of these paths with where"
        )
    return HeatMap(
        name="heat-map",
        title=f"{formats.sentence_case(words.split(' (')[0])} over {short(across)} and {short(upwards)}",
        quantity=words,
        x=across,
        y=upwards,
        columns=[value_label(value) for value in columns],
        rows=[value_label(value) for value in rows],
        panels=panels,
        source=table.rows,
        caption="Means over seeds.",
        details=details,
    )


def _detail(row: Mapping[str, Any], factor: float) -> str:
    """Text such as ``95 %: 1.02 to 1.07, 20 runs``."""
    runs = f"{row['runs']} run{'s' if row['runs'] > 1 else ''}"
    if row["low"] is None:
        return runs
    ends = " to ".join(formats.plain(row[end] * factor) for end in ("low", "high"))
    return f"95 %: {ends}, {runs}"
