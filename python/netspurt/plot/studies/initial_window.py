"""A quantity against the initial window, in panels (RFC 2415)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import STYLES

Panels = Mapping[str, Mapping[str, Sequence[float | None]]]


def against_window_charts(
    panels: Panels, windows: Sequence[int], quantity: str, marks: Panels
) -> list[Chart]:
    """A quantity against the initial window: a panel for each load and a line for each of its variants (RFC 2415).

    Args:
        panels: for each panel and line, the values, shape (windows,), None for missing runs.
        windows: initial windows in segments.
        quantity: label of the y axis, with its unit.
        marks: published values of the same shape, for some of the lines.
    """
    at = np.array(windows, dtype=np.float64)
    charts: list[Chart] = []
    for panel, lines in panels.items():
        traces = []
        for (name, values), (colour, dash, marker) in zip(lines.items(), STYLES, strict=False):
            traces.append(Trace(name, at, _numbers(values), colour=colour, dash=dash))
            if (published := marks.get(panel, {}).get(name)) is not None:
                traces.append(
                    Trace(
                        *(f"{name}, published", at, _numbers(published), "points"),
                        colour=colour,
                        marker=marker,
                    )
                )
        charts.append(
            Chart(
                name=f"against-window-{len(charts) + 1}",
                title=panel,
                x=Axis("initial window (segments)", "initial_window"),
                y=Axis(quantity, "value"),
                traces=traces,
            )
        )
    return charts


def _numbers(values: Sequence[float | None]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values])
