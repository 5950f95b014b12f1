"""The rate of data, by stream and in total: of what arrived, or in a capture of what was acknowledged."""

from __future__ import annotations

from collections import deque
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

NEEDS = ("segments", "arrivals")

BINS = 120
"""Number of equal bins from the first to the last byte."""


def throughput(what: object, bin_s: float | None = None) -> Figure:
    """Bits per second, for each stream and in total.

    A run knows when each segment arrived. What arrived crossed the links one packet after the other, so it does not
    exceed their rates. A capture has the times of ACKs and SACK blocks. Without SACK, each duplicate ACK counts as one
    segment of what the ACK that ends the gap acknowledges.

    Args:
        what: as for ``time_sequence``.
        bin_s: width of the bins in seconds; by default the whole time has a little over a hundred bins.

    Raises:
        ValueError: no data arrived, or none was acknowledged.
    """
    return throughput_chart(what, bin_s).draw()


def throughput_chart(what: object, bin_s: float | None = None) -> Chart:
    """The same plot as data."""
    source = recording(what)
    source.prepare(NEEDS)
    segments = source.segments()
    knows = "arrives_s" in segments.columns
    progress = arrived(segments) if knows else acknowledged(segments)
    happened = "arrived" if knows else "acknowledged"
    if not progress:
        raise ValueError(f"this run has no data that {'arrived' if knows else 'was acknowledged'}")
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
        traces.append(_steps(name or happened, edges, rates[name], colour, dash))
    traces = [*capacities(source, last), *traces]
    left = len(ranked) - len(MANY)
    return Chart(
        name="throughput",
        title="Throughput",
        x=Axis("time (s)", "time_s"),
        y=Axis(f"{happened} (Mbit/s)", "rate_mbps"),
        traces=traces,
        caption=f"{'Data that arrived' if knows else 'Newly acknowledged data'}, in bins of {width:.3g} s."
        + (f" The {len(MANY)} largest streams; {left} more are only in the total." if left > 0 else ""),
    )


def arrived(segments: pl.DataFrame) -> dict[str, tuple[Floats, Floats]]:
    """The times at which segments with data arrived, and their bytes, like ``acknowledged``."""
    came = segments.filter(pl.col("length") > 0, pl.col("arrives_s").is_finite())
    return {
        str(name): (rows["arrives_s"].to_numpy(), rows["length"].cast(pl.Float64).to_numpy())
        for (name,), rows in grouped(came.sort("arrives_s"), len(MANY)).group_by("group", maintain_order=True)
    }


def acknowledged(segments: pl.DataFrame) -> dict[str, tuple[Floats, Floats]]:
    """The times of ACKs of new data and the number of bytes acknowledged, of both directions together.

    The key is the name of the stream, or of the flow if there are too many streams.
    """
    ways = ["stream", "from_client"]
    gained = (
        grouped(segments.filter(pl.col("ack") >= 0), len(MANY))
        .with_columns(pl.col("length").filter(pl.col("length") > 0).median().over("stream").alias("segment"))
        .with_columns(
            pl.struct("ack", "sack_from", "sack_until", "length", "segment")
            .map_batches(_gained, return_dtype=pl.Float64)
            .over(ways)
            .alias("gain")
        )
        .filter(pl.col("gain") > 0)
    )
    return {
        str(name): (rows["time_s"].to_numpy(), rows["gain"].to_numpy())
        for (name,), rows in gained.group_by("group", maintain_order=True)
    }


def _gained(reports: pl.Series) -> pl.Series:
    """The bytes that each report of one direction acknowledges for the first time, by its ACK or its first block.

    Blocks below the highest one are not counted: their bytes count once the ACK covers them.
    """
    fields = reports.struct.unnest()
    if not (fields["sack_from"] >= 0).any():
        return _by_duplicates(fields)
    gains = np.zeros(len(reports))
    acked = highest = int(fields["ack"][0])
    counted: deque[tuple[int, int]] = deque()
    for row, (ack, begin, end) in enumerate(fields.select("ack", "sack_from", "sack_until").iter_rows()):
        if ack > acked:
            known = 0
            while counted and counted[0][0] < ack:
                low, high = counted.popleft()
                known += min(high, ack) - low
                if high > ack:
                    counted.appendleft((ack, high))
            gains[row] = ack - acked - known
            acked, highest = ack, max(highest, ack)
        if end > highest:
            low = max(begin, highest)
            gains[row] += end - low
            counted.append((low, end))
            highest = end
    return pl.Series(gains)


def _by_duplicates(reports: pl.DataFrame) -> pl.Series:
    """The same without SACK.

    A duplicate ACK says that one more segment has arrived above a gap, not which one. The ACK that ends the gap
    acknowledges them together with the retransmission, so a segment of it counts at each of them.
    """
    highest = reports["ack"].cum_max()
    gains = highest.diff().fill_null(0).cast(pl.Float64).to_numpy().copy()
    segment = float(reports["segment"][0] or 0.0)
    repeats = ((reports["ack"] == highest) & (reports["length"] == 0)).to_numpy()
    duplicates: deque[int] = deque()
    repeated = False
    for row, gain in enumerate(gains):
        if gain == 0:
            if row > 0 and repeats[row]:
                duplicates.append(row)
                repeated = True
            continue
        if gain > 2 * segment:
            rest = gain - segment
            while rest > 0 and duplicates:
                moved = min(segment, rest)
                gains[duplicates.popleft()] += moved
                gains[row] -= moved
                rest -= moved
        elif not repeated:
            # An ordinary ACK: the gaps are closed.
            duplicates.clear()
        repeated = False
    return pl.Series(gains)


def _rate(time_s: Floats, gained: Floats, edges: Floats) -> Floats:
    in_bins, _ = np.histogram(time_s, edges, weights=gained)
    return in_bins * 8 / np.diff(edges) / 1e6


def _steps(name: str, edges: Floats, rates: Floats, colour: str, dash: Dash, width: float = 1.4) -> Trace:
    return Trace(name, edges, np.append(rates, rates[-1]), "steps", colour=colour, dash=dash, width=width)
