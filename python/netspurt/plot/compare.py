"""Pictures of comparisons: both sides over each other.

Lives here: drawing, as in the rest of ``plot``. Must not live here: what is compared, or what it means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from netspurt.errors import RequestError
from netspurt.plot.looks import RC, entitle, figure_of, legend
from netspurt.plot.palette import BLUE, GREY, RED, STYLES

Floats = npt.NDArray[np.float64]

MOST_STEPS = 4000
"""A line of more has nothing more to show at the width of a page."""

MOST_ROWS = 40


def progress_of(segments: Mapping[str, npt.NDArray[Any]]) -> tuple[Floats, Floats]:
    """Bytes that had been sent for the first time, of all flows together, against time in seconds.

    Args:
        segments: columns of ``Result.segments``, each shape (n,).
    """
    data = segments["length"] > 0
    time, length, seq = (segments[name][data] for name in ("time_s", "length", "seq"))
    _, who = np.unique(
        np.char.add(
            np.char.add(segments["flow"][data].astype(str), segments["index"][data].astype(str)),
            np.char.add(segments["connection"][data].astype(str), segments["from_client"][data].astype(str)),
        ),
        return_inverse=True,
    )
    new = np.zeros(time.size)
    for stream in range(int(who.max()) + 1 if who.size else 0):
        own = np.flatnonzero(who == stream)
        edge = np.maximum.accumulate(seq[own] + length[own])
        new[own] = np.diff(edge, prepend=seq[own][0])
    return np.asarray(time, dtype=np.float64), np.cumsum(new)


def transfers(sides: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """How far each side has come: bytes sent for the first time against time.

    Args:
        sides: label to times in seconds and bytes, as of ``progress_of``.
    """
    figure, axes = figure_of(5.6, 4.2)
    for (label, (time, total)), (colour, line, _) in zip(sides.items(), STYLES, strict=False):
        kept = _thinned(time.size)
        axes.plot(
            time[kept], total[kept] / 1e6, color=colour, linestyle=line, label=label, drawstyle="steps-post"
        )
    axes.set_xlabel("time in seconds")
    axes.set_ylabel("new data sent, MB")
    axes.set_ylim(bottom=0)
    entitle(axes, "How far the transfers have come")
    legend(figure, axes, 1)
    return figure


def _thinned(count: int) -> npt.NDArray[np.int64]:
    """A line that only rises keeps its shape by any even choice of its points, both ends among them."""
    if count <= MOST_STEPS:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MOST_STEPS).astype(np.int64))


def distributions(sides: Mapping[str, Floats]) -> Figure:
    """The share of round-trip times up to each value.

    Args:
        sides: label to round-trip times in seconds, shape (n,), n >= 1.
    """
    figure, axes = figure_of(5.6, 4.2)
    for (label, samples), (colour, line, _) in zip(sides.items(), STYLES, strict=False):
        kept = _thinned(samples.size)
        share = (np.arange(samples.size) + 1) / samples.size
        axes.plot(np.sort(samples)[kept] * 1e3, share[kept], color=colour, linestyle=line, label=label)
    if min(float(samples.min()) for samples in sides.values()) > 0:
        axes.set_xscale("log")
    axes.set_xlabel("round-trip time in ms")
    axes.set_ylabel("share of samples up to it")
    axes.set_ylim(0, 1)
    entitle(axes, "Round-trip times")
    legend(figure, axes, 1)
    return figure


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
