"""The time–sequence graph: segments, retransmissions with their reasons, ACK and window lines, SACK and NAK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.inputs.recording import choose
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import BLACK, GREEN, LIGHT, ORANGE, REASONS
from netspurt.plot.thinning import corners

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]

NEEDS = ("segments",)

TITLE = "Time–sequence graph"

CAPTION = "Each stroke is a segment. Data lies between the acknowledged data and the edge of the window."

EDGE = "window edge"

FAR = 3
"""If the plot with the edge of the window is higher by this factor than without it, it ends above the data."""


def time_sequence(
    what: object, flow: str | None = None, begin_s: float = 0.0, end_s: float | None = None
) -> Figure:
    """The time–sequence graph of one stream: segments, retransmissions by reason, SACK, NAK, ACK and window lines.

    Args:
        what: a result, a capture, or the path of a scenario, a run's folder, a trace or a capture. A run that did not
            record ``"segments"`` is repeated with the same seed to record them.
        flow: name of a flow or stream; by default the one that sent most.
        begin_s: start of the plot in seconds.
        end_s: end of the plot in seconds; by default the end of the run.

    Raises:
        ValueError: no segment of this flow was sent.
    """
    return time_sequence_chart(what, flow, begin_s, end_s).draw()


def time_sequence_chart(
    what: object, flow: str | None = None, begin_s: float = 0.0, end_s: float | None = None
) -> Chart:
    """The same plot as data."""
    rows = choose(recording(what).segments(), flow, "length")
    name = rows["stream"][0]
    columns = {column: rows[column].to_numpy() for column in rows.columns}
    chart = sequence(columns, f"{TITLE}: {name}" if name else TITLE)
    if begin_s <= 0 and end_s is None:
        return chart
    return _fitted(chart.between(begin_s, np.inf if end_s is None else end_s))


def time_sequence_of(segments: Columns, title: str = TITLE) -> Figure:
    """The time–sequence graph of the columns of one stream, each shape (n,); see ``Result.segments``.

    The plot shows the direction with more bytes; the other one gives the ACK line, the window line, SACK and NAK.
    """
    return sequence(segments, title).draw()


def time_sequences(flows: Mapping[str, Columns]) -> Figure:
    """Time–sequence graphs side by side with shared axes: the same transfer under different rules.

    Args:
        flows: for each title the columns of one stream, as for ``time_sequence_of``.
    """
    from netspurt.plot.drawing import draw_panels

    return draw_panels(sequence_charts(flows))


def sequence_charts(flows: Mapping[str, Columns]) -> list[Chart]:
    """The same plots as data, one per title."""
    return [sequence(segments, title) for title, segments in flows.items()]


def sequence(segments: Columns, title: str = TITLE) -> Chart:
    """The chart of one stream, used by the other functions."""
    from_client = segments["from_client"].astype(bool)
    length = segments["length"].astype(np.int64)
    sender = from_client == bool(length[from_client].sum() >= length[~from_client].sum())
    data = {name: column[sender & (length > 0)] for name, column in segments.items()}
    acks = {name: column[~sender] for name, column in segments.items()}
    acks = {name: column[acks["ack"] >= 0] for name, column in acks.items()}
    return _fitted(
        Chart(
            name="time-sequence",
            title=title,
            x=Axis("time (s)", "time_s"),
            y=Axis("sequence number (KiB)", "place_kib"),
            traces=[*_sent(data), *_acknowledged(acks), *_reported(acks)],
            caption="",
            height=4.6,
        )
    )


def _fitted(chart: Chart) -> Chart:
    """The chart with its caption. It ends above the data if the edge of the window lies far above them."""
    low, high, edge = np.inf, -np.inf, -np.inf
    for trace in chart.traces:
        if trace.name == EDGE:
            edge = max(edge, float(trace.y.max(initial=-np.inf)))
        else:
            low = min(low, float(trace.y.min(initial=np.inf)))
            high = max(high, float(trace.y.max(initial=-np.inf)))
    is_far = high > low and edge - low > FAR * (high - low)
    words = " The edge lies far above the data." if is_far else ""
    top = high + 0.1 * (high - low) if is_far else None
    return replace(chart, y=replace(chart.y, top=top), caption=f"{CAPTION}{words}")


def _sent(data: Columns) -> list[Trace]:
    reason = data["reason"].astype(str)
    place, end = data["seq"] / 1024, (data["seq"] + data["length"]) / 1024
    new = ~np.isin(reason, list(REASONS))
    traces = [Trace("new data", data["time_s"][new], end[new], "strokes", low=place[new], width=1.4)]
    for name, (colour, marker, words) in REASONS.items():
        these = reason == name
        if these.any():
            count = int(these.sum())
            traces.append(
                Trace(
                    words,
                    data["time_s"][these],
                    place[these],
                    "points",
                    colour=colour,
                    marker=marker,
                    counted=count,
                )
            )
    return traces


def _acknowledged(acks: Columns) -> list[Trace]:
    if acks["time_s"].size == 0:
        return []
    edge = acks["ack"] + acks["window"]
    at, until = corners(acks["ack"]), corners(edge)
    return [
        Trace("acknowledged", acks["time_s"][at], acks["ack"][at] / 1024, "steps", colour=BLACK, width=1),
        Trace(
            *(EDGE, acks["time_s"][until], edge[until] / 1024, "steps"),
            colour=LIGHT,
            dash="--",
            width=1,
        ),
    ]


def _reported(acks: Columns) -> list[Trace]:
    """SACK blocks as strokes, D-SACK and NAK as marks; missing columns are skipped."""
    nothing = np.full(acks["time_s"].shape, -1)
    traces = []
    left, right = acks.get("sack_from", nothing), acks.get("sack_until", nothing)
    beyond, twice = left >= acks["ack"], (right >= 0) & (left < acks["ack"])
    if beyond.any():
        traces.append(
            Trace(
                *("SACK", acks["time_s"][beyond], right[beyond] / 1024, "strokes"),
                low=left[beyond] / 1024,
                colour=GREEN,
                dash=":",
                width=0.8,
            )
        )
    if twice.any():
        traces.append(
            Trace(
                "D-SACK: duplicate",
                acks["time_s"][twice],
                left[twice] / 1024,
                "points",
                colour=ORANGE,
                marker="+",
                counted=int(twice.sum()),
            )
        )
    nak = acks.get("nak", nothing)
    sent = nak >= 0
    if sent.any():
        traces.append(
            Trace(
                "NAK sent",
                acks["time_s"][sent],
                nak[sent] / 1024,
                "points",
                colour=GREEN,
                marker="x",
                counted=int(sent.sum()),
            )
        )
    return traces
