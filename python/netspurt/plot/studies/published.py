"""Published numbers beside measured ones, for any table with a number in its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import STYLES


class Point(NamedTuple):
    """A cell as a point: its place, both numbers (None where there is none), and the interval of the measured one."""

    x: float
    published: float | None
    measured: float | None
    interval: tuple[float, float] | None = None


def published_chart(name: str, title: str, x: Axis, y: Axis, curves: Mapping[str, Sequence[Point]]) -> Chart:
    """Measured lines with their 95 % intervals, published marks; lines with the same published numbers share them.

    Args:
        name: the name of its file.
        title: the title above it.
        x: the axis of the rows.
        y: the axis of both numbers.
        curves: the points of each line, by its name, ascending in ``x``.
    """
    traces: list[Trace] = []
    marked: list[list[tuple[float, float]]] = []
    for place, (curve, points) in enumerate(curves.items()):
        colour, dash, marker = STYLES[place % len(STYLES)]
        bands = [(point.x, *point.interval) for point in points if point.interval is not None]
        if len(bands) > 1:
            at, low, high = (np.array(column, dtype=np.float64) for column in zip(*bands, strict=True))
            traces.append(Trace(f"{curve}, 95 % interval", at, high, "band", low=low, colour=colour))
        ours = [(point.x, point.measured) for point in points if point.measured is not None]
        if ours:
            at, value = (np.array(column, dtype=np.float64) for column in zip(*ours, strict=True))
            traces.append(Trace(curve, at, value, colour=colour, dash=dash))
        theirs = [(point.x, point.published) for point in points if point.published is not None]
        if theirs and theirs not in marked:
            marked.append(theirs)
            at, value = (np.array(column, dtype=np.float64) for column in zip(*theirs, strict=True))
            traces.append(Trace(f"{curve}, published", at, value, "points", colour=colour, marker=marker))
    return Chart(name=name, title=title, x=x, y=y, traces=traces)
