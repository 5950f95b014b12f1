"""The changes between the sides of a comparison, row by row, for print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from netspurt.plot.looks import RC, entitle
from netspurt.plot.palette import BLUE, GREY, RED
from netspurt.plot.sweeps.changes import changes_of, ruler_of


def differences(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The change from A to B of each row with its interval, in per cent of A.

    Args:
        rows: rows of ``comparing.pairs``; those with A = 0 or without a change are omitted.

    Raises:
        RequestError: no row has a change in per cent.
    """
    drawn = changes_of(rows)
    ruler = ruler_of(drawn)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(6.4, 1.4 + 0.28 * len(drawn)), layout="constrained")
        axes = figure.add_subplot()
    if ruler.bend is not None:
        axes.set_xscale("asinh", linear_width=ruler.bend)
    for place, change in enumerate(drawn):
        colour = GREY if not change.plain else (BLUE if change.middle > 0 else RED)
        if change.ends is not None:
            axes.plot(change.ends, [place, place], color=colour, linewidth=1.6)
        face = colour if change.plain else "white"
        axes.plot([change.middle], [place], marker="o", color=colour, markerfacecolor=face, linestyle="")
    axes.axvline(0, color="#333333", linewidth=0.8)
    axes.set_yticks(range(len(drawn)), [change.name for change in drawn], fontsize=8)
    axes.set_xticks(ruler.marks, [f"{mark:g}" for mark in ruler.marks])
    axes.invert_yaxis()
    axes.set_xlabel("B against A, % of A (filled: distinguishable)")
    entitle(axes, "Changes from A to B")
    return figure
