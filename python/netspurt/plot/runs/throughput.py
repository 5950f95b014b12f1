"""The rate of acknowledged data, by stream and in total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netspurt.inputs.recording import grouped
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.palette import BLACK, MANY, Dash
from netspurt.plot.runs.changing import capacities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = ("segments",)

BINS = 120
"""Number of equal bins from the first to the last acknowledgment."""


def throughput(what: object, bin_s: float | None = None) -> Figure:
    """Acknowledged bits per second, for each stream and in total.

    Args:
        what: as for ``time_sequence``.
        bin_s: width of the bins in seconds; by default the whole time has a little over a hundred bins.

    Raises:
        ValueError: no data was acknowledged.
    """
    return throughput_chart(what, bin_s).draw()


def throughput_chart(what: object, bin_s: float | None = None) -> Chart:
    """The same plot as data."""
    source = recording(what)
    progress = acknowledged(source.segments())
    if not progress:
        raise ValueError("this run has no acknowledged data")
    first = min(float(time[0]) for time, _ in progress.values())
    last = max(float(time[-1]) for time, _ in progress.values())
    width = bin_s or max((last - first) / BINS, 1e-9)
    bins = max(int(np.ceil((last - first) / width)), 1)
    edges: Floats = np.array([first + width * number for number in range(bins + 1)])
    ranked = sorted(progress, key=lambda name: -float(progress[name][1].sum()))
    rates = {name: _rate(*progress[name], edges) for name in ranked}
    traces = []
    if len(ranked) > 1:
        together = np.sum(list(rates.values()), axis=0)
        traces.append(_steps("total", edges, together, BLACK, "-", 2.4))
    for name, (colour, dash, _) in zip(ranked, MANY, strict=False):
        traces.append(_steps(name or "acknowledged", edges, rates[name], colour, dash))
    traces = [*capacities(source, last), *traces]
    left = len(ranked) - len(MANY)
    return Chart(
        name="throughput",
        title="Throughput",
        x=Axis("time (s)", "time_s"),
        y=Axis("acknowledged (Mbit/s)", "rate_mbps"),
        traces=traces,
        caption=f"Newly acknowledged data, in bins of {width:.3g} s."
        + (f" The {len(MANY)} largest streams; {left} more are only in the total." if left > 0 else ""),
    )


def acknowledged(segments: pl.DataFrame) -> dict[str, tuple[Floats, Floats]]:
    """The times of ACKs of new data and the number of bytes acknowledged, of both directions together.

    The key is the name of the stream, or of the flow if there are too many streams.
    """
    ways = ["stream", "from_client"]
    gained = (
        grouped(segments.filter(pl.col("ack") >= 0), len(MANY))
        .with_columns(pl.col("ack").cum_max().over(ways).alias("edge"))
        .with_columns(pl.col("edge").diff().over(ways).fill_null(0).cast(pl.Float64).alias("gain"))
        .filter(pl.col("gain") > 0)
    )
    return {
        str(name): (rows["time_s"].to_numpy(), rows["gain"].to_numpy())
        for (name,), rows in gained.group_by("group", maintain_order=True)
    }


def _rate(time_s: Floats, gained: Floats, edges: Floats) -> Floats:
    in_bins, _ = np.histogram(time_s, edges, weights=gained)
    return in_bins * 8 / np.diff(edges) / 1e6


def _steps(name: str, edges: Floats, rates: Floats, colour: str, dash: Dash, width: float = 1.4) -> Trace:
    return Trace(name, edges, np.append(rates, rates[-1]), "steps", colour=colour, dash=dash, width=width)
