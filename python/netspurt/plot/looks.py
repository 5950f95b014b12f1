"""The common style of all plots: colours, line styles, markers, and frames.

Lives here: style. Must not live here: the content of plots.

Plots must be readable in grey too, so line style and marker distinguish whatever colour does. The background is
white, so a plot looks the same on a dark page. SVG glyphs are outlines, so they need no font and
look the same everywhere. PDF fonts are embedded as TrueType, as journals require.
Nothing here uses ``pyplot`` or global state, because several threads make figures.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RC: dict[Any, Any] = {
    # A phone shows the plot at this size at two thirds of its width.
    "font.size": 10,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#333333",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "lines.linewidth": 1.8,
    # A thick stretch ends where its interval ends.
    "lines.solid_capstyle": "butt",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


LEGEND = 9
"""Size of the text of legends in points."""

LETTER, HANDLE = 0.56 * LEGEND, 5.0 * LEGEND
"""Mean width of a letter, and of a sample with the space around it, in points."""


def figure_of(width: float = 5.6, height: float = 3.9) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes; sizes in inches."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def entitle(axes: Axes, text: str) -> None:
    """Sets a title, left-aligned above the axes."""
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold", color="#222222")


def legend(figure: Figure, axes: Axes, columns: int = 2) -> None:
    """Places the legend below the axes, where it hides no data."""
    handles, labels = axes.get_legend_handles_labels()
    legend_of(figure, handles, labels, columns)


def legend_of(figure: Figure, handles: Sequence[Any], labels: Sequence[str], columns: int) -> None:
    """Places a legend with given entries below everything, in at most this many columns.

    Entries that are too long for that have fewer columns; one that is too long for the figure is broken.
    """
    room = figure.get_figwidth() * 72.0
    longest = int((room - HANDLE) / LETTER)
    lines = [textwrap.fill(label, longest) for label in labels]
    widest = max((len(line) for label in lines for line in label.splitlines()), default=0)
    figure.legend(
        handles,
        lines,
        loc="outside lower center",
        ncols=max(1, min(columns, int(room / (HANDLE + LETTER * widest)))),
        fontsize=LEGEND,
        markerscale=1.2,
        frameon=False,
        columnspacing=1.4,
        handler_map={tuple: HandlerTuple(ndivide=None)},
    )
