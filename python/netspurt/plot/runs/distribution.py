"""Cumulative distributions: the share of samples up to each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netspurt.errors import RequestError
from netspurt.inputs.recording import grouped
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.palette import MANY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = ("rtt",)


def round_trip_distribution(what: object) -> Figure:
    """The RTT distribution of each stream; of each flow, if there are many streams.

    Args:
        what: as for ``time_sequence``.

    Raises:
        ValueError: there are no RTT samples.
    """
    return round_trip_distribution_chart(what).draw()


def round_trip_distribution_chart(what: object) -> Chart:
    """The same plot as data."""
    source = recording(what)
    rows = source.series("rtt")
    if rows.is_empty():
        raise ValueError(f"{source.name} has no RTT samples")
    rows = grouped(rows, len(MANY))
    counts = rows.group_by("group", maintain_order=True).len().sort("len", descending=True)
    samples = {
        name or "all": rows.filter(pl.col("group") == name)["value"].to_numpy() * 1e3
        for name in counts["group"].to_list()[: len(MANY)]
    }
    return distribution_chart(samples, Axis("RTT (ms)", "round_trip_ms"), "RTT distribution")


def distribution(
    samples: Mapping[str, Floats | Sequence[float]], label: str, title: str = "Distribution"
) -> Figure:
    """Several cumulative distributions in one plot.

    Args:
        samples: for each name its numbers, shape (n,), n >= 1; NaN is ignored.
        label: label of the x axis, with unit.
        title: title of the plot.

    Raises:
        RequestError: there are too many distributions for one plot, or no numbers.
    """
    return distribution_chart(samples, Axis(label, "value"), title).draw()


def distribution_chart(samples: Mapping[str, Floats | Sequence[float]], axis: Axis, title: str) -> Chart:
    """The same plot as data. The x axis is logarithmic if the samples span more than a factor of 30."""
    if len(samples) > len(MANY):
        raise RequestError(f"one plot cannot show {len(samples)} distributions: at most {len(MANY)}")
    traces, ends = [], []
    for (name, values), (colour, dash, _) in zip(samples.items(), MANY, strict=False):
        ordered = np.sort(np.asarray(values, dtype=np.float64))
        ordered = ordered[np.isfinite(ordered)]
        if ordered.size:
            ends += [ordered[0], ordered[-1]]
            share = np.arange(ordered.size + 1) / ordered.size
            traces.append(
                Trace(
                    *(name, np.append(ordered[0], ordered), share, "steps"),
                    colour=colour,
                    dash=dash,
                    counted=ordered.size,
                )
            )
    if not traces:
        raise RequestError("there are no samples for a distribution")
    wide = min(ends) > 0 and max(ends) > 30 * min(ends)
    return Chart(
        name="distribution",
        title=title,
        x=Axis(axis.label, axis.column, "log" if wide else "linear"),
        y=Axis("cumulative share of samples", "share"),
        traces=traces,
    )
