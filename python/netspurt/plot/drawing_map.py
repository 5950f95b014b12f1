"""Draws a map as a matplotlib figure.

Lives here: drawing with matplotlib. Must not live here: the content of a map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from netspurt.plot.looks import RC, entitle
from netspurt.plot.palette import BEST, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from netspurt.plot.chart import Floats
    from netspurt.plot.sweeps.heat_map import HeatMap, Words

WRITTEN = 100
"""Up to this many cells show their number."""

LABELS = 16
"""More labels on one axis would overlap."""

GROUND = "cividis"
"""Its lightness rises monotonically: it is readable in grey and by colour-blind readers."""


def draw_map(of: HeatMap) -> Figure:
    """The map as a figure; cells without a run stay empty."""
    with mpl.rc_context(RC):
        wide, high = min(len(of.panels), 3), -(-len(of.panels) // 3)
        size = (1.6 + wide * max(2.8, 0.55 * len(of.columns)), high * max(2.4, 0.42 * len(of.rows)) + 1.0)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(high, wide, squeeze=False, sharex=True, sharey=True).ravel()
        cells = np.concatenate([values.ravel() for values in of.panels.values()])
        span = (float(np.nanmin(cells)), float(np.nanmax(cells)))
        for axes, (name, values) in zip(grid, of.panels.items(), strict=False):
            image = _panel(axes, of, values, span)
            _mark(axes, of.marks.get(name))
            entitle(axes, name or of.title)
        for axes in grid[len(of.panels) :]:
            axes.set_visible(False)
        if len(of.panels) > 1:
            figure.suptitle(of.title, fontsize=11, fontweight="bold", x=0.01, ha="left")
        figure.supxlabel(of.x, fontsize=10)
        figure.supylabel(of.y, fontsize=10)
        figure.colorbar(image, ax=list(grid), label=of.quantity, shrink=0.9)
    return figure


def _mark(axes: Axes, marks: Words | None) -> None:
    """White dots, and a star for the best."""
    if marks is None:
        return
    rows, columns = np.nonzero(marks != "")
    axes.plot(columns, rows, ".", color="white", markersize=4)
    rows, columns = np.nonzero(marks == BEST)
    axes.plot(columns, rows, "*", color=RED, markersize=12, markeredgecolor="white")


def _panel(axes: Axes, of: HeatMap, values: Floats, span: tuple[float, float]) -> AxesImage:
    image = axes.imshow(values, origin="lower", aspect="auto", cmap=GROUND, vmin=span[0], vmax=span[1])
    axes.grid(visible=False)
    across, upwards = (range(0, len(names), -(-len(names) // LABELS)) for names in (of.columns, of.rows))
    axes.set_xticks(across, [of.columns[at] for at in across], rotation=35, ha="right", fontsize=8)
    axes.set_yticks(upwards, [of.rows[at] for at in upwards], fontsize=8)
    if values.size <= WRITTEN:
        middle = sum(span) / 2
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                ink = "black" if value > middle else "white"
                axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7, color=ink)
    return image
