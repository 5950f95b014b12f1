"""What all pictures share: colours, line styles, markers, and the frame they stand in.

Lives here: looks. Must not live here: what is drawn.

Pictures must be read in grey as well, so line style and marker tell apart what colour does; they hold a white
ground, so they look alike on a dark page. In SVG glyphs are outlines, so that no font is needed to read them and they
look the same everywhere; in PDF fonts are embedded as TrueType, as journals ask for.
Nothing here touches ``pyplot`` or global state: figures are made in threads too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RC: dict[Any, Any] = {
    # At this size a picture is read on a phone, where it is drawn at two thirds of its width.
    "font.size": 10,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#333333",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "lines.linewidth": 1.8,
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


def figure_of(width: float = 5.6, height: float = 3.9) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes; sizes in inches."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def entitle(axes: Axes, text: str) -> None:
    """Flush left above the axes."""
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold", color="#222222")


def legend(figure: Figure, axes: Axes, columns: int = 2) -> None:
    """Below the axes, where it hides no data."""
    handles, labels = axes.get_legend_handles_labels()
    legend_of(figure, handles, labels, columns)


def legend_of(figure: Figure, handles: Sequence[Any], labels: Sequence[str], columns: int) -> None:
    """Below everything, for entries that are put together by hand."""
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        fontsize=9,
        markerscale=1.2,
        frameon=False,
        columnspacing=1.4,
        handler_map={tuple: HandlerTuple(ndivide=None)},
    )
