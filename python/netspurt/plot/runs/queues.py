"""Queue length of a link, and its drops by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netspurt.errors import RequestError
from netspurt.inputs.source import recording
from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import BLACK, BLUE, GREEN, MANY, ORANGE, RED, VIOLET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = ("queue", "drops")

MOST = 4
"""The maximal number of queues in one plot."""

LOOKS = ((RED, "x"), (ORANGE, "v"), (VIOLET, "D"), (GREEN, "s"), (BLUE, "P"), (BLACK, "h"))
"""Colour and marker of each cause of loss."""


def queues(what: object, link: str | None = None) -> Figure:
    """Queued packets, as a staircase for each direction of a link, and drops by cause.

    Args:
        what: a result, or the path of a scenario, a run's folder or a trace.
        link: its name, or ``"link, a->b"`` for one direction; by default the longest queues.

    Raises:
        RequestError: no packet was ever queued, or the link does not exist.
    """
    return queues_chart(what, link).draw()


def queues_chart(what: object, link: str | None = None) -> Chart:
    """The same plot as data."""
    source = recording(what)
    source.prepare(NEEDS)
    rows, drops = source.series("queue"), source.drops()
    longest = rows.group_by("place", maintain_order=True).agg(pl.col("value").max())
    known: list[str] = longest.sort("value", descending=True)["place"].to_list()
    known += [place for place in drops["place"].unique(maintain_order=True) if place not in known]
    if not known:
        raise RequestError(
            f"{source.name} has no queue to draw: no queue was recorded, or no packet was ever queued"
        )
    places = [place for place in known if link is None or place == link or place.startswith(f"{link}, ")]
    if not places:
        raise RequestError(f"there is no queue at a link '{link}'; the queues are: {'; '.join(known)}")
    traces = []
    for place, (colour, dash, _) in zip(places[:MOST], MANY, strict=False):
        own = rows.filter(pl.col("place") == place)
        if own.height:
            traces.append(
                Trace(
                    *(place, own["time_s"].to_numpy(), own["value"].to_numpy(), "steps"),
                    colour=colour,
                    dash=dash,
                    width=1,
                )
            )
    traces += _lost(drops.filter(pl.col("place").is_in(places[:MOST])))
    left = len(places) - MOST
    return Chart(
        name="queues",
        title="Queue and drops",
        x=Axis("time (s)", "time_s"),
        y=Axis("packets in queue", "packets"),
        traces=traces,
        caption="A mark is a dropped packet, at the queue length of that moment."
        + (f" The {MOST} longest queues; {left} more are not drawn." if left > 0 else ""),
    )


def _lost(drops: pl.DataFrame) -> list[Trace]:
    traces = []
    causes = drops["cause"].unique(maintain_order=True).to_list()
    for cause, (colour, marker) in zip(causes, LOOKS, strict=False):
        own = drops.filter(pl.col("cause") == cause)
        height = own["queue_packets"].cast(pl.Float64).to_numpy()
        traces.append(
            Trace(
                f"lost: {cause}",
                own["time_s"].to_numpy(),
                height,
                "points",
                colour=colour,
                marker=marker,
                counted=own.height,
            )
        )
    return traces
