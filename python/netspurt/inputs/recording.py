"""The recorded tables of a run, a trace or a capture in one form.

Lives here: columns of segments, series, queues and drops, each row with its stream or link. Must not
live here: drawing, or the source of a recording.

A *stream* is one connection of one flow; its name is the shortest unique one (``web``, ``web 3``, ``web 3,
connection 7``). The columns ``stream`` and ``place`` (of links) contain such names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from netspurt.errors import nearest

if TYPE_CHECKING:
    import polars as pl

Frame: TypeAlias = "pl.DataFrame"

RECORDS = (
    "cwnd",
    "ssthresh",
    "flight",
    "window",
    "rtt",
    "srtt",
    "rto",
    "queue",
    "segments",
    "arrivals",
    "drops",
)
"""The records that plots need."""


class Recording(Protocol):
    """The interface for plots. A table that was not recorded is made on demand, or is empty if that is impossible."""

    @property
    def name(self) -> str:
        """The name of the source, for a title."""
        ...

    def prepare(self, names: Iterable[str]) -> None:
        """Announces the required tables, so that a run is repeated only once."""
        ...

    def segments(self) -> Frame:
        """Columns as in ``Result.segments``, and ``stream``."""
        ...

    def series(self, name: str) -> Frame:
        """Columns: ``time_s``, ``stream`` and ``from_client`` (for ``queue``: ``place``), ``value``."""
        ...

    def drops(self) -> Frame:
        """Columns: ``time_s``, ``place``, ``cause``, ``queue_packets``."""
        ...


def series_of(rows: Frame) -> Frame:
    """Adds the name of the stream to the rows of a series, or of the place to those of a link."""
    import polars as pl

    rows = rows.with_columns(pl.col("value").cast(pl.Float64))
    if "end" in rows.columns:
        return named(rows.with_columns((pl.col("end") == "client").alias("from_client")))
    return placed(rows)


def placed(rows: Frame) -> Frame:
    """Adds the column ``place`` with link and direction."""
    import polars as pl

    if "link" not in rows.columns:
        return rows.with_columns(pl.lit("").alias("place"))
    return rows.with_columns(pl.format("{}, {}", "link", "direction").alias("place"))


def named(rows: Frame) -> Frame:
    """Adds the column ``stream``."""
    import polars as pl

    if "flow" not in rows.columns:
        return rows.with_columns(pl.lit("").alias("stream"))
    several = pl.col("index").n_unique().over("flow") > 1
    again = pl.col("connection").n_unique().over("flow", "index") > 1
    name = pl.when(several).then(pl.format("{} {}", "flow", "index")).otherwise(pl.col("flow"))
    name = pl.when(again).then(pl.format("{}, connection {}", name, "connection")).otherwise(name)
    return rows.with_columns(name.alias("stream"))


def grouped(rows: Frame, most: int) -> Frame:
    """Adds the column ``group``: the stream, or the flow if there are more streams than ``most``."""
    import polars as pl

    if "flow" not in rows.columns or rows["stream"].n_unique() <= most:
        return rows.with_columns(pl.col("stream").alias("group"))
    several = pl.col("index").n_unique().over("flow") > 1
    each = rows.with_columns(
        pl.when(several).then(pl.format("{} {}", "flow", "index")).otherwise(pl.col("flow")).alias("group")
    )
    if each["group"].n_unique() <= most:
        return each
    return rows.with_columns(pl.col("flow").alias("group"))


def choose(rows: Frame, stream: str | None, weight: str) -> Frame:
    """The rows of one stream: the named one, or the only one of the named flow; by default the heaviest.

    Raises:
        ValueError: there are no rows, or none of this stream.
    """
    import polars as pl

    if rows.is_empty():
        raise ValueError("this run has no segments")
    names = (
        rows.group_by("stream", maintain_order=True).agg(pl.col(weight).sum()).sort(weight, descending=True)
    )
    known: Sequence[str] = names["stream"].to_list()
    if stream is None:
        return rows.filter(pl.col("stream") == known[0])
    chosen = [name for name in known if name == stream or name.split(" ")[0].rstrip(",") == stream]
    if not chosen:
        raise ValueError(
            f"there is no segment of a flow '{stream}'{nearest(stream, known)} (the flows are: {_some(known)})"
        )
    return rows.filter(pl.col("stream") == chosen[0])


def _some(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
