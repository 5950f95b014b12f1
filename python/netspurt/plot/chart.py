"""A plot as data: its axes, its traces and their styles.

Lives here: the description from which matplotlib, the report's page and a CSV file are made. Must not live here: the
source of the numbers, or any drawing library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.analysis import formats
from netspurt.plot.palette import BLUE, Dash
from netspurt.plot.thinning import thin

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Floats: TypeAlias = npt.NDArray[np.float64]

Shape = Literal["line", "steps", "points", "strokes", "band"]
"""A line through points; a staircase; points; vertical strokes from ``low`` to ``y``; an area from ``low`` to ``y``."""


Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        label: the label with its unit.
        column: the name of its column in a table.
        scale: linear or logarithmic.
        top: the upper end, if it is not the data's maximum.
        ticks: the values to mark, where round numbers would not be data points.
        names: of an axis of rows: the names of the values 0, 1, …
    """

    label: str
    column: str
    scale: Scale = "linear"
    top: float | None = None
    ticks: tuple[float, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """One set of points; all arrays have shape (n,), ``x`` is ascending.

    If ``counted`` is given, the legend shows this number of points beside the name.
    """

    name: str
    x: Floats
    y: Floats
    shape: Shape = "line"
    low: Floats | None = None
    colour: str = BLUE
    dash: Dash = "-"
    marker: str = ""
    width: float = 1.6
    counted: int | None = None

    @property
    def label(self) -> str:
        """The text of the legend entry."""
        return self.name if self.counted is None else f"{self.name} ({self.counted})"

    def prolonged(self, end: float) -> Trace:
        """A staircase extended to ``end``; any other trace is unchanged."""
        if self.shape != "steps" or not self.x.size or self.x[-1] >= end:
            return self
        return replace(self, x=np.append(self.x, end), y=np.append(self.y, self.y[-1]))

    def thinned(self, buckets: int) -> Trace:
        """A copy with at most 4 points per bucket and end; it keeps every extreme."""
        if self.x.size <= 4 * buckets:
            return self
        kept = thin(self.x, self.y, buckets)
        if self.low is None:
            return replace(self, x=self.x[kept], y=self.y[kept])
        kept = np.union1d(kept, thin(self.x, self.low, buckets))
        return replace(self, x=self.x[kept], y=self.y[kept], low=self.low[kept])

    def between(self, begin: float, end: float) -> Trace:
        """The points from ``begin`` to ``end``; a staircase keeps its value at ``begin`` and extends to the end."""
        first, last = np.searchsorted(self.x, begin, "left"), np.searchsorted(self.x, end, "right")
        x, goes_on = self.x, last < self.x.size
        if self.shape == "steps" and first > 0:
            first -= 1
            x = np.maximum(x, begin)
        low = None if self.low is None else self.low[first:last]
        counted = None if self.counted is None else int(last - first)
        cut = replace(self, x=x[first:last], y=self.y[first:last], low=low, counted=counted)
        return cut.prolonged(end) if goes_on else cut


@dataclass(frozen=True)
class Chart:
    """A plot.

    Attributes:
        name: for files, such as ``time-sequence``.
        title: the title above it.
        x: the horizontal axis.
        y: the vertical axis.
        traces: the traces in drawing order, the last on top.
        caption: one sentence for the reader.
        height: in inches, on paper.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    traces: Sequence[Trace] = field(default_factory=tuple)
    caption: str = ""
    height: float = 3.9

    @property
    def points(self) -> int:
        """The number of points of all traces together."""
        return sum(trace.x.size for trace in self.traces)

    def between(self, begin: float, end: float) -> Chart:
        """A copy limited to a range of the x axis; traces without a point in it are dropped."""
        cut = [trace.between(begin, end) for trace in self.traces]
        return replace(self, traces=[trace for trace in cut if trace.x.size])

    def prolonged(self) -> Chart:
        """A copy in which every staircase extends to the end of the last trace: its value holds until it changes."""
        end = max((float(trace.x[-1]) for trace in self.traces if trace.x.size), default=0.0)
        return replace(self, traces=[trace.prolonged(end) for trace in self.traces])

    def thinned(self, buckets: int) -> Chart:
        """A copy with fewer points, see ``Trace.thinned``."""
        return replace(self, traces=[trace.thinned(buckets) for trace in self.traces])

    def draw(self) -> Figure:
        """The plot as a matplotlib figure, for print."""
        from netspurt.plot.drawing import draw

        return draw(self)

    def table(self) -> pl.DataFrame:
        """All points: ``trace``, the columns of both axes, and ``<y>_low`` where a trace has one."""
        import polars as pl

        y, low = self.y.column, f"{self.y.column}_low"
        frames = []
        for trace in self.traces:
            columns: dict[str, Any] = {self.x.column: trace.x, y: trace.y}
            if trace.low is not None:
                columns[low] = trace.low
            frames.append(
                pl.DataFrame(columns)
                .select(pl.lit(trace.name).alias("trace"), pl.all())
                .filter(~pl.col(y).is_nan())
            )
        schema = {"trace": pl.String, self.x.column: pl.Float64, y: pl.Float64}
        return pl.concat([pl.DataFrame(schema=schema), *frames], how="diagonal")

    def alt(self) -> str:
        """The text alternative of the plot."""
        if self.y.names:
            return f"{self.title}. X axis: {self.x.label}. Rows from the top: {', '.join(reversed(self.y.names))}."
        parts = []
        for trace in self.traces:
            known = trace.y[np.isfinite(trace.y)]
            if trace.shape == "band" or not known.size:
                continue
            low = known if trace.low is None else trace.low[np.isfinite(trace.low)]
            parts.append(f"{trace.name} from {formats.plain(low.min())} to {formats.plain(known.max())}")
        return f"{self.title}. X axis: {self.x.label}; y axis: {self.y.label}. {'; '.join(parts)}."
