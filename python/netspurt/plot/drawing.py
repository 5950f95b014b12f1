"""Draws a chart as a matplotlib figure.

Lives here: drawing with matplotlib. Must not live here: the content of a chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from netspurt.plot.looks import RC, entitle, legend_of
from netspurt.plot.palette import DENSE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netspurt.plot.chart import Chart, Trace

BUCKETS = 4000
"""A page is less than this many dots wide."""

ROOM = 0.6
"""Below the first row and above the last one, in rows."""

PANEL = (4.8, 4.2)
"""Width in inches of each of several charts side by side."""


def draw(chart: Chart) -> Figure:
    """A chart as a figure for print: SVG, PDF or PNG."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(5.6, chart.height), layout="constrained")
        axes = figure.add_subplot()
        _fill(axes, chart)
        handles, labels = axes.get_legend_handles_labels()
        if not set(labels) <= set(chart.y.names):
            # Otherwise the rows have the names already.
            legend_of(figure, handles, labels, 2)
    return figure


def draw_panels(charts: Sequence[Chart], *, shared: bool = True) -> Figure:
    """Two or three charts side by side: the same quantity under different rules.

    Args:
        charts: at least one.
        shared: whether they share their axes.
    """
    if len(charts) == 1:
        return draw(charts[0])
    width, height = PANEL
    columns = 2 if len(charts) in (2, 4) else 3
    lines = -(-len(charts) // columns)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width * columns, height * lines), layout="constrained")
        grid = figure.subplots(lines, columns, sharex=shared, sharey=shared, squeeze=False)
        panels = grid.ravel()
        named: dict[str, Any] = {}
        for axes, chart in zip(panels, charts, strict=False):
            _fill(axes, chart)
            handles, labels = axes.get_legend_handles_labels()
            # With their counts, equal entries of the panels would differ.
            named.update(
                (label.split(" (")[0], handle) for handle, label in zip(handles, labels, strict=True)
            )
        for axes in grid[:, 1:].ravel():
            axes.set(ylabel="")
        for axes in panels[len(charts) :]:
            axes.set_visible(False)
        legend_of(figure, list(named.values()), list(named), 3)
    return figure


def draw_column(charts: Sequence[Chart]) -> Figure:
    """Charts of the same time, one below the other."""
    with mpl.rc_context(RC):
        heights = [chart.height for chart in charts]
        figure = Figure(figsize=(5.6, sum(heights)), layout="constrained")
        column = figure.subplots(len(charts), 1, sharex=True, squeeze=False, height_ratios=heights).ravel()
        for axes, chart in zip(column, charts, strict=True):
            _fill(axes, chart)
        for axes in column[:-1]:
            axes.set(xlabel="")
        handles, labels = zip(*(axes.get_legend_handles_labels() for axes in column), strict=True)
        legend_of(figure, [*chain(*handles)], [*chain(*labels)], 3)
    return figure


def _fill(axes: Axes, chart: Chart) -> None:
    for trace in chart.thinned(BUCKETS).traces:
        _DRAWN[trace.shape](axes, trace)
    axes.set(xlabel=chart.x.label, ylabel=chart.y.label, xscale=chart.x.scale, yscale=chart.y.scale)
    if chart.x.ticks:
        axes.set_xticks(chart.x.ticks, [f"{value:.4g}" for value in chart.x.ticks])
        axes.tick_params(axis="x", which="minor", bottom=False)
    if chart.y.names:
        axes.set_yticks(range(len(chart.y.names)), chart.y.names)
        axes.set_ylim(-ROOM, len(chart.y.names) - 1 + ROOM)
    least, most = _span(chart)
    if not chart.y.names and chart.y.scale == "linear" and 0 <= least < most / 5:
        axes.set_ylim(bottom=0)
    if chart.y.top is not None and axes.get_ylim()[1] > chart.y.top:
        axes.set_ylim(top=chart.y.top)
    entitle(axes, chart.title)


def _span(chart: Chart) -> tuple[float, float]:
    """The smallest and the largest y value."""
    finite = [
        column[np.isfinite(column)]
        for trace in chart.traces
        for column in (trace.y, trace.low)
        if column is not None
    ]
    known = [column for column in finite if column.size]
    if not known:
        return 0.0, 1.0
    return min(float(column.min()) for column in known), max(float(column.max()) for column in known)


def _line(axes: Axes, trace: Trace) -> None:
    style = "steps-post" if trace.shape == "steps" else "default"
    axes.plot(
        *(trace.x, trace.y),
        color=trace.colour,
        linestyle=trace.dash,
        marker=trace.marker or None,
        markersize=4,
        linewidth=trace.width,
        drawstyle=style,
        label=trace.label,
        rasterized=trace.x.size > 4 * DENSE,
    )


def _points(axes: Axes, trace: Trace) -> None:
    small = trace.marker in (".", "|")
    axes.plot(
        *(trace.x, trace.y, trace.marker or "."),
        color=trace.colour,
        markersize=3.5 if small else 5.5,
        # A stroke marker has no face, only an edge.
        markeredgecolor=trace.colour if small or trace.marker in "x+" else "white",
        markeredgewidth=1.2 if trace.marker in "x+" else 0.5,
        label=trace.label,
        rasterized=trace.x.size > DENSE,
        zorder=3,
    )


def _strokes(axes: Axes, trace: Trace) -> None:
    """One line with gaps instead of one shape per stroke: a tenth of the file size."""
    assert trace.low is not None
    ends = np.stack([trace.low, trace.y, np.full(trace.x.size, np.nan)])
    axes.plot(
        *(np.repeat(trace.x, 3), ends.T.ravel(), "-"),
        color=trace.colour,
        linewidth=trace.width,
        label=trace.label,
        rasterized=trace.x.size > DENSE,
    )


def _band(axes: Axes, trace: Trace) -> None:
    assert trace.low is not None
    axes.fill_between(trace.x, trace.low, trace.y, color=trace.colour, alpha=0.15, linewidth=0)


_DRAWN = {"line": _line, "steps": _line, "points": _points, "strokes": _strokes, "band": _band}
