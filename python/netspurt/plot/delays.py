"""Plots of delays: against time with timeouts, against length, as a histogram, and surfaces of a grid.

Lives here: drawing, as in the rest of ``plot``. Must not live here: replays or regressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.looks import entitle, figure_of, legend
from netspurt.plot.palette import BEST, BLUE, GREY, RED, STYLES
from netspurt.plot.sweeps.heat_map import HeatMap

if TYPE_CHECKING:
    from netspurt.analysis.regression import Characteristic
    from netspurt.analysis.rto_replay import Axis as GridAxis
    from netspurt.analysis.rto_replay import Surface

MOST_POINTS = 180_000
"""The maximal number of points of a scatter plot; more points show no more and take long to draw."""


def timeouts(time_s: Floats, delay_s: Floats, lines: Mapping[str, Floats], title: str) -> Figure:
    """RFC 889's plot: each delay as a point, the computed timeout as a line; see ``timeouts_chart``."""
    return timeouts_chart(time_s, delay_s, lines, title).draw()


def timeouts_chart(time_s: Floats, delay_s: Floats, lines: Mapping[str, Floats], title: str) -> Chart:
    """The same plot as data.

    Args:
        time_s: shape (n,).
        delay_s: one-way delay, NaN where lost; shape (n,).
        lines: the timeout in each cycle, one way, by the estimator's name; each shape (n,).
        title: title of the plot.
    """
    shown = slice(None, None, max(1, -(-time_s.size // MOST_POINTS)))
    traces = [Trace("delay", time_s[shown], delay_s[shown], "points", marker=".")]
    lost = time_s[np.isnan(delay_s)]
    if lost.size:
        traces.append(
            Trace("lost", lost, np.zeros(lost.size), "points", colour=RED, marker="x", counted=lost.size)
        )
    for (name, timeout), (colour, dash, _) in zip(lines.items(), STYLES[1:] + STYLES[:1], strict=False):
        words = f"timeout, {name}"
        traces.append(
            Trace(words, time_s[shown], timeout[shown], "steps", colour=colour, dash=dash, width=1.3)
        )
    return Chart(
        name="timeouts",
        title=title,
        x=Axis("time (s)", "time_s"),
        y=Axis("one-way delay (s)", "one_way_s"),
        traces=traces,
        height=4.2,
    )


def delay_against_length(panels: Mapping[str, tuple[Floats, Floats, Characteristic | None]]) -> Figure:
    """Scatter plot of delay against length with its regression lines; see ``delay_against_length_charts``."""
    from netspurt.plot.drawing import draw_panels

    return draw_panels(delay_against_length_charts(panels), shared=False)


def delay_against_length_charts(
    panels: Mapping[str, tuple[Floats, Floats, Characteristic | None]],
) -> list[Chart]:
    """The same plot as data, one chart per title (RFC 889, section 2).

    Args:
        panels: for each title lengths in bytes and one-way delays in seconds (NaN where lost), each shape (n,), and
            the lines through them.
    """
    return [_lengths(title, *panel) for title, panel in panels.items()]


def _lengths(title: str, octets: Floats, delay_s: Floats, lines: Characteristic | None) -> Chart:
    order = np.argsort(octets, kind="stable")[:: max(1, -(-octets.size // MOST_POINTS))]
    traces = [Trace("delay", octets[order], 1e3 * delay_s[order], "points", marker=".")]
    bands, fits = [], []
    for number, line in enumerate(() if lines is None else lines.lines, 1):
        name = "regression line" if len(lines.lines) == 1 else f"regression line {number}"  # type: ignore[union-attr]  # there is one
        at = np.linspace(line.low, line.high, 25)
        low, high = (1e3 * np.array(column) for column in zip(*map(line.interval_at, at), strict=True))
        colour, dash, _ = STYLES[number]
        bands.append(Trace(f"{name}: 95 % interval", at, high, "band", low=low, colour=colour))
        fits.append(Trace(name, at, 1e3 * np.array([line.at(each) for each in at]), colour=colour, dash=dash))
    return Chart(
        name="lengths",
        title=title,
        x=Axis("length (bytes)", "length_octets"),
        y=Axis("one-way delay (ms)", "delay_ms"),
        traces=[*traces, *bands, *fits],
    )


def histogram(delay_s: Floats, title: str) -> Figure:
    """Histogram of delays; the largest hundredth is collected at the right edge.

    Args:
        delay_s: one-way delay, NaN where lost; shape (n,).
        title: title of the plot.
    """
    figure, axes = figure_of()
    known = 1e3 * delay_s[~np.isnan(delay_s)]
    if known.size:
        edge = float(np.percentile(known, 99.0)) * 1.05
        axes.hist(np.minimum(known, edge), bins=60, color=BLUE)
        beyond = int((known > edge).sum())
        if beyond:
            axes.annotate(
                f"{beyond} beyond", (edge, 0), (-4, 14), textcoords="offset points", ha="right", color=GREY
            )
    axes.set(xlabel="one-way delay (ms)", ylabel="packets")
    entitle(axes, title)
    return figure


def surface(of: Surface, title: str) -> Figure:
    """Efficiency over a grid: a curve for one parameter, else a map of two with the best values of the others."""
    return (surface_chart if len(of.spec.axes) == 1 else surface_map)(of, title).draw()


def surface_chart(of: Surface, title: str) -> Chart:
    """Efficiency over one parameter; points that do not differ significantly from the best are marked."""
    x = of.spec.axes[0].numbers
    traces = [
        Trace("efficiency", x, of.efficiency),
        Trace(
            *("not significantly below the best", x[of.alike], of.efficiency[of.alike], "points"),
            colour=STYLES[1][0],
            marker="o",
        ),
    ]
    axis = Axis(_named(of.spec.axes[0]), of.spec.axes[0].key)
    return Chart("surface", title, axis, Axis("efficiency", "efficiency"), traces)


def surface_map(of: Surface, title: str) -> HeatMap:
    """Efficiency over the first two parameters, with the best values of the others; the best point is marked."""
    import polars as pl

    across, upwards = of.spec.axes[:2]
    # The indices of the other parameters, flat: the first two vary slowest.
    plane, rest = (*of.efficiency.shape[:2], -1), of.best[2:]
    other = int(np.ravel_multi_index(rest, of.spec.shape[2:])) if rest else 0
    values, alike = of.efficiency.reshape(plane)[:, :, other].T, of.alike.reshape(plane)[:, :, other].T
    marks = np.where(alike, "not significantly below the best", "")
    marks[of.best[1], of.best[0]] = BEST
    others = [f"{axis.key} = {axis.texts[at]}" for axis, at in zip(of.spec.axes[2:], rest, strict=True)]
    table = {
        across.key: np.tile(across.numbers, len(upwards.numbers)),
        upwards.key: np.repeat(upwards.numbers, len(across.numbers)),
        "efficiency": values.ravel(),
        "alike": alike.ravel(),
    }
    return HeatMap(
        name="surface",
        title=", ".join([title, *others]),
        quantity="efficiency",
        x=_named(across),
        y=_named(upwards),
        columns=across.texts,
        rows=upwards.texts,
        panels={"": values},
        source=pl.DataFrame(table),
        marks={"": marks},
    )


def _named(axis: GridAxis) -> str:
    return f"{axis.key} ({axis.unit})" if axis.unit else axis.key


def curves(
    x: Sequence[float], values: Mapping[str, Sequence[float]], xlabel: str, ylabel: str, title: str
) -> Figure:
    """Several quantities over one parameter."""
    figure, axes = figure_of()
    for (name, y), (colour, line, marker) in zip(values.items(), STYLES, strict=False):
        axes.plot(x, y, line + marker, color=colour, markersize=4, label=name)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    entitle(axes, title)
    legend(figure, axes, 1)
    return figure
