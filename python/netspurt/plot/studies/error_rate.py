"""Goodput against packet error rate (terabit paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import STYLES


def error_rate_chart(
    curves: Mapping[str, Sequence[tuple[float, float, float, float]]], lossless: Mapping[str, float]
) -> Chart:
    """Goodput against packet error rate (terabit paper, figure 2).

    Args:
        curves: for each line rate, points of (packet error rate, mean, low, high), in Gbit/s.
        lossless: goodput without loss for each line rate, Gbit/s.
    """
    traces = []
    for (name, points), (colour, dash, marker) in zip(curves.items(), STYLES, strict=False):
        rates, means, lows, highs = (
            np.array(column, dtype=np.float64) for column in zip(*points, strict=True)
        )
        ends = np.array([rates[0], rates[-1]])
        traces += [
            Trace(f"{name}: 95 % interval", rates, highs, "band", low=lows, colour=colour),
            Trace(
                *(f"{name}, without loss", ends, np.full(2, lossless[name])),
                colour=colour,
                dash=":",
                width=1,
            ),
            Trace(name, rates, means, colour=colour, dash=dash, marker=marker),
        ]
    return Chart(
        name="error-rate",
        title="Goodput of 8 MB files, with scaling",
        x=Axis("packet error rate", "error_rate", "log"),
        y=Axis("goodput (Gbit/s)", "goodput_gbps"),
        traces=traces,
    )
