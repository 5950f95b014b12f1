"""Goodput against packet error rate (terabit paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from netspurt.plot.looks import entitle, figure_of, legend
from netspurt.plot.palette import STYLES


def goodput_against_error_rate(
    curves: Mapping[str, Sequence[tuple[float, float, float, float]]], lossless: Mapping[str, float]
) -> Figure:
    """Goodput against packet error rate (terabit paper, figure 2).

    Args:
        curves: for each line rate, points of (packet error rate, mean, low, high), in Gbit/s.
        lossless: goodput without loss for each line rate, Gbit/s.
    """
    figure, axes = figure_of()
    for (name, points), (colour, line, marker) in zip(curves.items(), STYLES, strict=False):
        rates, means, lows, highs = (np.array(column) for column in zip(*points, strict=True))
        spread = [np.maximum(means - lows, 0.0), np.maximum(highs - means, 0.0)]
        axes.errorbar(
            rates, means, yerr=spread, fmt=marker + line, color=colour, markersize=5, capsize=3, label=name
        )
        axes.axhline(lossless[name], linestyle=":", linewidth=1, color=colour)
    axes.set_xscale("log")
    axes.set(xlabel="packet error rate", ylabel="goodput (Gbit/s)")
    entitle(axes, "Goodput of 8 MB files, with scaling")
    axes.set_ylim(bottom=0)
    legend(figure, axes)
    return figure
