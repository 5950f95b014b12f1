"""RTT samples of one stream, and the resulting RTO."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netspurt.inputs.recording import choose
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Shape, Trace
from netspurt.plot.palette import BLUE, GREEN, ORANGE, Dash
from netspurt.plot.runs.changing import delays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = ("rtt", "srtt", "rto")

LINES: tuple[tuple[str, str, Shape, str, Dash, str], ...] = (
    ("rtt", "RTT sample", "points", BLUE, "-", "."),
    ("srtt", "smoothed", "steps", ORANGE, "-", ""),
    ("rto", "RTO", "steps", GREEN, "--", ""),
)


def round_trips(what: object, flow: str | None = None) -> Figure:
    """RTT samples, smoothed RTT and RTO of one stream.

    Args:
        what: as for ``time_sequence``. A capture shows the samples only.
        flow: name of a flow or stream; by default the one with the most samples.

    Raises:
        ValueError: there are no RTT samples, or none of this flow.
    """
    return round_trips_chart(what, flow).draw()


def round_trips_chart(what: object, flow: str | None = None) -> Chart:
    """The same plot as data."""
    source = recording(what)
    source.prepare(NEEDS)
    rtt = source.series("rtt")
    if rtt.is_empty():
        raise ValueError(f"{source.name} has no RTT samples")
    # The end with more samples is the one whose data was acknowledged more often.
    counted = choose(rtt.with_columns(pl.lit(1).alias("samples")), flow, "samples")
    stream = counted["stream"][0]
    client = bool(counted["from_client"].sum() * 2 >= counted.height)
    traces = []
    timed = False
    for name, words, shape, colour, dash, marker in LINES:
        rows = source.series(name).filter(pl.col("stream") == stream, pl.col("from_client") == client)
        if rows.height:
            timed |= name == "rto"
            traces.append(
                Trace(
                    *(words, rows["time_s"].to_numpy(), rows["value"].to_numpy() * 1e3, shape),
                    colour=colour,
                    dash=dash,
                    marker=marker,
                    width=1.4,
                )
            )
    traces = [*delays(source, float(rtt["time_s"].to_numpy()[-1])), *traces]
    # A capture does not contain the RTO.
    title = "RTT and RTO" if timed else "RTT"
    return Chart(
        name="round-trips",
        title=f"{title}: {stream}" if stream else title,
        x=Axis("time (s)", "time_s"),
        y=Axis("time (ms)", "round_trip_ms"),
        traces=traces,
        caption="An RTT above the RTO causes a spurious retransmission." if timed else "",
    ).prolonged()
