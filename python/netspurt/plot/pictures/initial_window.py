"""A quantity against the initial window, in panels (RFC 2415)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from netspurt.plot.looks import RC, entitle, legend_of
from netspurt.plot.palette import STYLES


def against_window(
    panels: Mapping[str, Mapping[str, Sequence[float | None]]],
    windows: Sequence[int],
    quantity: str,
    marks: Mapping[str, Mapping[str, Sequence[float | None]]],
) -> Figure:
    """A quantity against the initial window, a panel for each load and a line for each of its variants (RFC 2415).

    Args:
        panels: for each panel and line, the values, shape (windows,), None where nothing was run.
        windows: initial windows in segments.
        quantity: what the vertical axis shows, with its unit.
        marks: published values of the same shape, for the lines that have some.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(7.6, 3.7), layout="constrained")
        all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (panel, lines) in zip(all_axes, panels.items(), strict=True):
        for (name, values), (colour, line, marker) in zip(lines.items(), STYLES, strict=False):
            known = [(w, value) for w, value in zip(windows, values, strict=True) if value is not None]
            if known:
                axes.plot(*zip(*known, strict=True), line, color=colour, label=name)
            published = marks.get(panel, {}).get(name)
            if published:
                axes.plot(windows, published, marker, color=colour, markersize=5, mfc="white", mew=1.3)
        axes.set(xlabel="initial window (segments)", xticks=list(windows))
        entitle(axes, panel)
    all_axes[0].set_ylabel(quantity)
    handles, labels = all_axes[0].get_legend_handles_labels()
    legend_of(figure, handles, labels, len(STYLES))
    return figure
