"""Pictures of delays: against time with the timeouts over them, against length, as a histogram, and surfaces of a grid.

Lives here: drawing, as in the rest of ``plot``. Must not live here: replays or regressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from netspurt.plot.looks import RC, entitle, figure_of, legend, legend_of
from netspurt.plot.palette import BLUE, DENSE, GREY, RED, STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netspurt.regression import Characteristic
    from netspurt.replaying import Surface

Floats = npt.NDArray[np.float64]

MOST_POINTS = 180_000
"""Beyond so many a scatter shows no more, and takes long."""


def timeouts(time_s: Floats, delay_s: Floats, lines: Mapping[str, Floats], title: str) -> Figure:
    """RFC 889's picture: each delay as a point, the computed timeout as a line.

    Args:
        time_s: shape (n,).
        delay_s: one way, NaN where lost; shape (n,).
        lines: the timeout in each cycle, one way, by the estimator's name; each shape (n,).
        title: of the picture.
    """
    figure, axes = figure_of(6.4, 4.2)
    _draw_timeouts(axes, time_s, delay_s, lines)
    axes.set_ylim(bottom=0)
    entitle(axes, title)
    legend(figure, axes)
    return figure


def timeouts_side_by_side(panels: Mapping[str, tuple[Floats, Floats, Mapping[str, Floats]]]) -> Figure:
    """``timeouts`` for several replays with axes in common.

    Args:
        panels: for each title the arguments ``time_s``, ``delay_s`` and ``lines``.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(4.6 * len(panels), 4.0), layout="constrained")
        all_axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        named: dict[str, Any] = {}
        for axes, (title, (time_s, delay_s, lines)) in zip(all_axes, panels.items(), strict=True):
            _draw_timeouts(axes, time_s, delay_s, lines)
            entitle(axes, title)
            handles, labels = axes.get_legend_handles_labels()
            named.update(zip(labels, handles, strict=True))
        # Only now: a limit that is set ends the scaling to what is drawn.
        all_axes[0].set_ylim(bottom=0)
        for axes in all_axes[1:]:
            axes.set(ylabel="")
        legend_of(figure, list(named.values()), list(named), 3)
    return figure


def _draw_timeouts(axes: Axes, time_s: Floats, delay_s: Floats, lines: Mapping[str, Floats]) -> None:
    step = max(1, -(-time_s.size // MOST_POINTS))
    shown = slice(None, None, step)
    dense = time_s[shown].size > DENSE
    axes.plot(
        time_s[shown],
        delay_s[shown],
        ".",
        color=BLUE,
        markersize=3.5,
        label="delay",
        rasterized=dense,
        zorder=2,
    )
    lost = np.isnan(delay_s)
    if lost.any():
        height = np.zeros(int(lost.sum()))
        axes.plot(
            time_s[lost], height, "x", color=RED, markersize=5, label="lost", rasterized=dense, zorder=3
        )
    for (name, timeout), (colour, line, _) in zip(lines.items(), STYLES[1:] + STYLES[:1], strict=False):
        axes.step(
            time_s[shown],
            timeout[shown],
            line,
            where="post",
            color=colour,
            linewidth=1.3,
            label=f"timeout, {name}",
        )
    axes.set(xlabel="time (s)", ylabel="one way (s)")


def delay_against_length(panels: Mapping[str, tuple[Floats, Floats, Characteristic | None]]) -> Figure:
    """Scatter of delay against length with its regression lines (RFC 889, section 2).

    Args:
        panels: for each title lengths in octets and delays one way in seconds (NaN where lost), each shape (n,), and
            the lines through them.
    """
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(5.6 if columns == 1 else 4.4 * columns, 3.6 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        named: dict[str, Any] = {}
        for axes, (title, (octets, delay_s, lines)) in zip(grid.ravel(), panels.items(), strict=False):
            _draw_lengths(axes, octets, delay_s, lines)
            entitle(axes, title)
            handles, labels = axes.get_legend_handles_labels()
            named.update(zip(labels, handles, strict=True))
        for axes in grid.ravel()[len(panels) :]:
            axes.set_visible(False)
        legend_of(figure, list(named.values()), list(named), 3)
    return figure


def _draw_lengths(axes: Axes, octets: Floats, delay_s: Floats, lines: Characteristic | None) -> None:
    step = max(1, -(-octets.size // MOST_POINTS))
    dense = octets[::step].size > DENSE
    axes.plot(
        octets[::step], 1e3 * delay_s[::step], ".", color=BLUE, markersize=3, label="delay", rasterized=dense
    )
    for line in () if lines is None else lines.lines:
        ends = np.array([line.low, line.high])
        axes.plot(
            ends,
            [line.at(float(end)) * 1e3 for end in ends],
            "-",
            color=STYLES[1][0],
            label="regression line",
        )
        bands = [line.interval_at(float(end)) for end in np.linspace(line.low, line.high, 25)]
        axes.fill_between(
            np.linspace(line.low, line.high, 25),
            [1e3 * low for low, _ in bands],
            [1e3 * high for _, high in bands],
            color=STYLES[1][0],
            alpha=0.2,
            linewidth=0,
        )
    axes.set(xlabel="length (octets)", ylabel="delay one way (ms)")
    axes.set_ylim(bottom=0)


def histogram(delay_s: Floats, title: str) -> Figure:
    """How often which delay was measured; the largest hundredth is gathered at the right edge.

    Args:
        delay_s: one way, NaN where lost; shape (n,).
        title: of the picture.
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
    axes.set(xlabel="delay one way (ms)", ylabel="packets")
    entitle(axes, title)
    return figure


def surface(of: Surface, title: str) -> Figure:
    """Efficiency over a grid: a curve for one parameter, else a map of the first two with the others at their best.

    Members that cannot be told from the best one are dotted.
    """
    figure, axes = figure_of(5.8, 4.2)
    rest = of.best[2:]
    names = [f"{axis.key} ({axis.unit})" if axis.unit else axis.key for axis in of.spec.axes]
    x = of.spec.axes[0].numbers
    if len(of.spec.axes) == 1:
        axes.plot(x, of.efficiency, "-o", color=BLUE, markersize=4, label="efficiency")
        axes.plot(
            x[of.alike],
            of.efficiency[of.alike],
            "o",
            color=STYLES[1][0],
            label="not to be told from the best",
        )
        axes.set(xlabel=names[0], ylabel="efficiency")
        legend(figure, axes)
    else:
        y = of.spec.axes[1].numbers
        # The places of the other parameters, flat: the first two run slowest.
        plane = (*of.efficiency.shape[:2], -1)
        other = int(np.ravel_multi_index(rest, of.spec.shape[2:])) if rest else 0
        values, same = of.efficiency.reshape(plane)[:, :, other], of.alike.reshape(plane)[:, :, other]
        image = axes.pcolormesh(x, y, values.T, cmap="cividis", shading="nearest", rasterized=True)
        figure.colorbar(image, ax=axes, label="efficiency")
        at_x, at_y = np.nonzero(same)
        axes.plot(x[at_x], y[at_y], ".", color="white", markersize=4)
        axes.plot(x[of.best[0]], y[of.best[1]], "*", color=RED, markersize=12, markeredgecolor="white")
        axes.grid(visible=False)
        axes.set(xlabel=names[0], ylabel=names[1])
        others = [f"{axis.key} = {axis.texts[at]}" for axis, at in zip(of.spec.axes[2:], rest, strict=True)]
        title = ", ".join([title, *others])
    entitle(axes, title)
    return figure


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
