"""What changes from one side of a comparison to the other, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from netspurt.errors import RequestError
from netspurt.plot.looks import RC, entitle
from netspurt.plot.palette import BLUE, GREY, RED

MOST_ROWS = 40


def differences(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The change from A to B of each row with its interval, in per cent of A.

    Args:
        rows: of ``comparing.pairs``; those in which A is 0 are left out.

    Raises:
        RequestError: no row has a change in per cent.
    """
    drawn = [row for row in rows if row["relative"] is not None][:MOST_ROWS]
    if not drawn:
        raise RequestError("there is no change in per cent to draw: A is 0 everywhere")
    with mpl.rc_context(RC):
        figure = Figure(figsize=(6.4, 1.4 + 0.28 * len(drawn)), layout="constrained")
        axes = figure.add_subplot()
    for place, row in enumerate(drawn):
        scale = 100 / abs(row["a"])
        plain = row["verdict"] == "distinguishable"
        colour = GREY if not plain else (BLUE if row["difference"] > 0 else RED)
        if row["low"] is not None:
            axes.plot([row["low"] * scale, row["high"] * scale], [place, place], color=colour, linewidth=1.6)
        face = colour if plain else "white"
        axes.plot(
            [row["difference"] * scale], [place], marker="o", color=colour, markerfacecolor=face, linestyle=""
        )
    axes.axvline(0, color="#333333", linewidth=0.8)
    axes.set_yticks(range(len(drawn)), [_label(row) for row in drawn], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("B against A, % of A (filled: distinguishable)")
    entitle(axes, "What changes from A to B")
    return figure


def _label(row: Mapping[str, Any]) -> str:
    places = [str(value) for name, value in row.items() if "." in name]
    return ", ".join([*places, f"{row['name']} {row['quantity']}"])
