"""How fast data is acknowledged, stream by stream and together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netspurt.inputs.recording import grouped
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.palette import BLACK, MANY, Dash

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = ("segments",)

BINS = 120
"""Of equal width, from the first to the last second in which something was acknowledged."""


def throughput(what: object, bin_s: float | None = None) -> Figure:
    """Acknowledged bits a second, for each stream and for all together.

    Args:
        what: as for ``time_sequence``.
        bin_s: width of the steps in seconds; by default a hundred and some for the whole.

    Raises:
        ValueError: nothing was acknowledged.
    """
    return throughput_chart(what, bin_s).draw()


def throughput_chart(what: object, bin_s: float | None = None) -> Chart:
    """The same as data."""
    progress = acknowledged(recording(what).segments())
    if not progress:
        raise ValueError("nothing was acknowledged in this run")
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
        traces.append(_steps("all together", edges, together, BLACK, "-", 2.4))
    for name, (colour, dash, _) in zip(ranked, MANY, strict=False):
        traces.append(_steps(name or "acknowledged", edges, rates[name], colour, dash))
    left = len(ranked) - len(MANY)
    return Chart(
        name="throughput",
        title="Throughput",
        x=Axis("time (s)", "time_s"),
        y=Axis("acknowledged (Mbit/s)", "rate_mbps"),
        traces=traces,
        caption=f"New data acknowledged, in steps of {width:.3g} s."
        + (f" The {len(MANY)} largest; {left} more are only in the sum." if left > 0 else ""),
    )


def acknowledged(segments: pl.DataFrame) -> dict[str, tuple[Floats, Floats]]:
    """The times of ACKs that acknowledge something new, and by how many bytes, of both directions together.

    By the name of the stream; of the flow, where there are too many streams.
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
