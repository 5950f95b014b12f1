"""The first divergence of two simulated runs.

Lives here: the comparison of two histories. Must not live here: statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from netspurt.scenario import Result

RECORD = ("segments", "drops", "marks")

COLUMNS = (
    *("time_s", "event", "flow", "index", "connection", "from_client", "seq", "length", "ack", "window"),
    *("reason", "nak", "link", "direction", "size", "cause", "queue_packets"),
)


@dataclass(frozen=True)
class Divergence:
    """The first divergence: the number of common events before it, and the first different event of each history.

    ``a`` or ``b`` is None if that history has ended. Keys are those of ``Result.segments``, ``drops`` and ``marks``,
    and ``event``: "segment", "drop" or "mark".
    """

    shared: int
    a: dict[str, Any] | None
    b: dict[str, Any] | None

    @property
    def time_s(self) -> float:
        """The earlier of the two times, in seconds of virtual time."""
        return min(float(event["time_s"]) for event in (self.a, self.b) if event is not None)


def history(result: Result) -> pl.DataFrame:
    """Every segment, drop and mark of a run that recorded ``RECORD``, in order of time."""
    import polars as pl

    tables = (("segment", result.segments), ("drop", result.drops), ("mark", result.marks))
    frames = [
        table.select(pl.lit(name).alias("event"), *[column for column in COLUMNS if column in table.columns])
        for name, table in tables
        if table.height
    ]
    if not frames:
        return pl.DataFrame(schema={"time_s": pl.Float64, "event": pl.String})
    joined = pl.concat(frames, how="diagonal_relaxed").sort("time_s", maintain_order=True)
    return joined.select([column for column in COLUMNS if column in joined.columns])


def first_divergence(a: pl.DataFrame, b: pl.DataFrame) -> Divergence | None:
    """The first event in which two histories differ; None if they are identical.

    A column that one table lacks, such as ``queue_packets`` without losses, counts as missing there.
    """
    import polars as pl

    both = min(a.height, b.height)
    differs = pl.Series([False]).new_from_index(0, both) if both else pl.Series([], dtype=pl.Boolean)
    for column in dict.fromkeys([*a.columns, *b.columns]):
        own, other = (
            frame[column].head(both) if column in frame.columns else pl.Series([None] * both, dtype=pl.Null)
            for frame in (a, b)
        )
        if own.dtype == pl.Null or other.dtype == pl.Null:
            differs = differs | own.is_not_null() | other.is_not_null()
        else:
            differs = differs | own.ne_missing(other)
    first = differs.arg_max() if differs.any() else both
    if first is None or (first == both and a.height == b.height):
        return None
    return Divergence(first, _event(a, first), _event(b, first))


def _event(frame: pl.DataFrame, row: int) -> dict[str, Any] | None:
    if row >= frame.height:
        return None
    return {name: value for name, value in frame.row(row, named=True).items() if value is not None}


def words(event: dict[str, Any] | None) -> str:
    """A short description of an event."""
    if event is None:
        return "no further event"
    who = f"{event['flow']} {event.get('index', 0)}" if "flow" in event else "a packet"
    side = "" if "from_client" not in event else (" (client)" if event["from_client"] else " (server)")
    at = f"{event['time_s']:.9g} s"
    if event["event"] == "segment":
        data = f"bytes {event['seq']} to {event['seq'] + event['length']}" if event["length"] else "no data"
        return f"at {at}, {who}{side} sends {data}, ack {event['ack']}, window {event['window']} ({event['reason']})"
    where = f"{event.get('link', '?')} {event.get('direction', '')}".strip()
    if event["event"] == "drop":
        return f"at {at}, {where} loses a packet of {who}{side}, {event.get('size', '?')} bytes ({event['cause']})"
    return f"at {at}, {where} marks a packet of {who}{side}"


def sentence(divergence: Divergence | None, first: str = "A", second: str = "B") -> str:
    """The first divergence of two runs as a sentence."""
    if divergence is None:
        return "The two runs have identical histories."
    before = f"After {divergence.shared} common events" if divergence.shared else "From the first event on"
    return f"{before}, {first}: {words(divergence.a)}; {second}: {words(divergence.b)}."
