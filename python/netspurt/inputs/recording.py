"""What a run, a trace or a capture recorded, in one form.

Lives here: columns of segments, series, queues and drops, each row with the stream and the link it belongs to. Must not
live here: drawing, or where a recording comes from.

A *stream* is one connection of one flow; its name is as short as tells it from the others (``web``, ``web 3``, ``web 3,
connection 7``). The columns ``stream`` and ``place`` (of links) hold such names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from netspurt.errors import nearest

if TYPE_CHECKING:
    import polars as pl

Frame: TypeAlias = "pl.DataFrame"

RECORDS = ("cwnd", "ssthresh", "flight", "window", "rtt", "srtt", "rto", "queue", "segments", "drops")
"""What pictures are made of."""


class Recording(Protocol):
    """What pictures ask for. A table that was not recorded is made, or is empty where it cannot be."""

    @property
    def name(self) -> str:
        """What was recorded, for a title."""
        ...

    def prepare(self, names: Iterable[str]) -> None:
        """Says beforehand which tables will be asked for: a run is repeated once instead of once for each."""
        ...

    def segments(self) -> Frame:
        """Columns as in ``Result.segments``, and ``stream``."""
        ...

    def series(self, name: str) -> Frame:
        """Columns: ``time_s``, ``stream`` and ``from_client`` (of ``queue``: ``place``), ``value``."""
        ...

    def drops(self) -> Frame:
        """Columns: ``time_s``, ``place``, ``cause``, ``queue_packets``."""
        ...


def series_of(rows: Frame) -> Frame:
    """Rows of a series with the name of their stream, or of their place where they are of a link."""
    import polars as pl

    rows = rows.with_columns(pl.col("value").cast(pl.Float64))
    if "end" in rows.columns:
        return named(rows.with_columns((pl.col("end") == "client").alias("from_client")))
    return placed(rows)


def placed(rows: Frame) -> Frame:
    """With the link and direction of each row in one column."""
    import polars as pl

    if "link" not in rows.columns:
        return rows.with_columns(pl.lit("").alias("place"))
    return rows.with_columns(pl.format("{}, {}", "link", "direction").alias("place"))


def named(rows: Frame) -> Frame:
    """With the name of the stream of each row."""
    import polars as pl

    if "flow" not in rows.columns:
        return rows.with_columns(pl.lit("").alias("stream"))
    several = pl.col("index").n_unique().over("flow") > 1
    again = pl.col("connection").n_unique().over("flow", "index") > 1
    name = pl.when(several).then(pl.format("{} {}", "flow", "index")).otherwise(pl.col("flow"))
    name = pl.when(again).then(pl.format("{}, connection {}", name, "connection")).otherwise(name)
    return rows.with_columns(name.alias("stream"))


def grouped(rows: Frame, most: int) -> Frame:
    """With the column ``group``: the stream; the flow, where there are more streams than ``most``."""
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
    """The rows of one stream: the one that is named, or of whose flow there is one; by default the heaviest.

    Raises:
        ValueError: there are no rows, or none of this stream.
    """
    import polars as pl

    if rows.is_empty():
        raise ValueError("no segment was sent in this run")
    names = (
        rows.group_by("stream", maintain_order=True).agg(pl.col(weight).sum()).sort(weight, descending=True)
    )
    known: Sequence[str] = names["stream"].to_list()
    if stream is None:
        return rows.filter(pl.col("stream") == known[0])
    chosen = [name for name in known if name == stream or name.split(" ")[0].rstrip(",") == stream]
    if not chosen:
        raise ValueError(
            f"no segment of a flow '{stream}' was sent{nearest(stream, known)}; there are: {_some(known)}"
        )
    return rows.filter(pl.col("stream") == chosen[0])


def _some(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
