"""Windows of one stream over time: cwnd, ssthresh, data in flight, rwnd; and cwnd of all streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netspurt.errors import RequestError
from netspurt.inputs.recording import choose
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import BLUE, GREEN, LIGHT, MANY, ORANGE, Dash

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = ("cwnd", "ssthresh", "flight", "window")

LINES: tuple[tuple[str, str, str, Dash, float], ...] = (
    ("window", "receive window", LIGHT, "--", 1.2),
    ("ssthresh", "ssthresh", ORANGE, "-.", 1.4),
    ("cwnd", "cwnd", BLUE, "-", 2.0),
    ("flight", "in flight", GREEN, ":", 1.0),
)
"""Series, legend text, colour, dash and width; the last is on top."""


DWARFED = 4
"""If a window exceeds those that limit the sender by this factor, the plot ends above these."""


def windows(what: object, flow: str | None = None) -> Figure:
    """cwnd, ssthresh, data in flight and receive window of the sending end.

    Args:
        what: as for ``time_sequence``. A capture shows data in flight and receive window only.
        flow: name of a flow or stream; by default the one with the most data in flight.

    Raises:
        ValueError: no data was sent, or none by this flow.
    """
    return windows_chart(what, flow).draw()


def windows_chart(what: object, flow: str | None = None) -> Chart:
    """The same plot as data."""
    source = recording(what)
    source.prepare(NEEDS)
    flight = choose(source.series("flight"), flow, "value")
    stream, client = flight["stream"][0], _sender(flight)
    traces = []
    for name, words, colour, dash, width in LINES:
        rows = source.series(name).filter(pl.col("stream") == stream, pl.col("from_client") == client)
        if rows.height:
            value = rows["value"].to_numpy()
            y = np.where(np.isinf(value), np.nan, value) / 1024
            traces.append(
                Trace(words, rows["time_s"].to_numpy(), y, "steps", colour=colour, dash=dash, width=width)
            )
    top = _top(traces)
    return Chart(
        name="windows",
        title=f"Windows: {stream}" if stream else "Windows",
        x=Axis("time (s)", "time_s"),
        y=Axis("window (KiB)", "window_kib", top=top),
        traces=traces,
        caption=_caption(trace.name for trace in traces)
        + (" A window that never limits the sender may exceed the plot." if top else ""),
    ).prolonged()


def _caption(names: Iterable[str]) -> str:
    """The caption; a capture contains neither cwnd nor ssthresh, which only the sender knows."""
    if "cwnd" not in names:
        return (
            "The data in flight stays below the receive window. A capture does not contain the sender's cwnd."
        )
    return "The data in flight stays below cwnd and the receive window. ssthresh appears once it is set."


def _top(traces: list[Trace]) -> float | None:
    """The upper end of the plot if a window out of use would compress everything else; otherwise None."""
    most = {trace.name: float(np.nanmax(trace.y)) for trace in traces if np.isfinite(trace.y).any()}
    in_use = most.get("in flight", 0.0)
    if "cwnd" in most:
        in_use = max(in_use, min(most["cwnd"], most.get("receive window", most["cwnd"])))
    return 1.3 * in_use if max(most.values(), default=0.0) > DWARFED * in_use > 0 else None


def _sender(flight: pl.DataFrame) -> bool:
    """Which end sent more; true for the client."""
    ends = flight.group_by("from_client", maintain_order=True).agg(pl.col("value").max())
    return bool(ends.sort("value", descending=True)["from_client"][0])


def cwnds(what: object) -> Figure:
    """The congestion windows of the streams that sent most, up to the number that one plot can show.

    Raises:
        RequestError: the source is a capture, which does not contain cwnd.
    """
    return cwnds_chart(what).draw()


def cwnds_chart(what: object) -> Chart:
    """The same plot as data."""
    source = recording(what)
    source.prepare(("cwnd", "flight"))
    rows = source.series("cwnd")
    if rows.is_empty():
        raise RequestError(f"{source.name} has no cwnd: a capture contains only packets")
    # The window of an end that never had data in flight is not of interest.
    most = source.series("flight").group_by("stream", "from_client", maintain_order=True)
    ranked = (
        most.agg(pl.col("value").max()).sort("value", descending=True).unique("stream", maintain_order=True)
    )
    traces = []
    for (stream, client), (colour, dash, _) in zip(
        ranked.select("stream", "from_client").rows(), MANY, strict=False
    ):
        own = rows.filter(pl.col("stream") == stream, pl.col("from_client") == client)
        traces.append(
            Trace(
                *(stream or "cwnd", own["time_s"].to_numpy(), own["value"].to_numpy() / 1024, "steps"),
                colour=colour,
                dash=dash,
                width=1.4,
            )
        )
    left = ranked.height - len(traces)
    return Chart(
        name="cwnds",
        title="Congestion windows",
        x=Axis("time (s)", "time_s"),
        y=Axis("cwnd (KiB)", "cwnd_kib"),
        traces=traces,
        caption=f"The {len(traces)} streams with the most data in flight; {left} more are not drawn."
        if left
        else "",
    )
