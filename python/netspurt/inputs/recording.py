"""What there is to draw of a run, a trace or a capture, in one form.

Lives here: columns of segments, series, queues and drops, each row with the stream and the link it belongs to. Must not
live here: drawing, or what a number means.

A *stream* is one connection of one flow; its name is as short as tells it from the others (``web``, ``web 3``, ``web 3,
connection 7``). The columns ``stream`` and ``place`` (of links) hold such names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from netspurt.errors import RequestError, nearest

if TYPE_CHECKING:
    import polars as pl

    from netspurt.analysis.capture import Capture
    from netspurt.scenario import Result, Scenario

Frame: TypeAlias = "pl.DataFrame"

RECORDS = ("cwnd", "ssthresh", "flight", "window", "rtt", "srtt", "rto", "queue", "segments", "drops")
"""What pictures are made of."""

CAUSES = {"fast": "fast-retransmit", "nak": "nak-resend"}
"""Reasons that a capture shows, as a sender calls them; the others have the same name."""


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


def recording(what: object) -> Recording:
    """The recording of a ``Result``, a ``Capture``, or the path of a scenario, a run's folder, a trace or a capture.

    Raises:
        RequestError: nothing of the kind.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.analysis.capture import Capture
    from netspurt.scenario import Result

    if isinstance(what, Result):
        return Simulated.of(what)
    if isinstance(what, Capture):
        return Captured(what)
    if isinstance(what, Simulated | Captured | Traced):
        return what
    from netspurt.inputs.source import of_path
    from netspurt.sweeping import Sweep

    found = of_path(Path(str(what)))
    if isinstance(found, Sweep):
        raise RequestError(f"{what} is the folder of a sweep: draw it with heat_map, curves or distribution")
    return found


class Simulated:
    """A run. What it did not record it is repeated for: the same seed gives the same."""

    def __init__(self, scenario: Scenario, seed: int, digest: str | None = None) -> None:
        self._scenario = scenario
        self._seed = seed
        self._digest = digest
        """What the run came to when it was made; None if it is made now."""
        self._tables: dict[str, Result] = {}

    @classmethod
    def of(cls, result: Result) -> Simulated:
        """Of a run that is there already, with what it has recorded."""
        made = cls(result.scenario, result.seed, result.digest)
        made._tables = {name: result for name in RECORDS if _holds(result, name)}
        return made

    @property
    def name(self) -> str:
        """The scenario's."""
        return f"{self._scenario.name}, seed {self._seed}"

    def prepare(self, names: Iterable[str]) -> None:
        """Repeats the run if it lacks any of these.

        Raises:
            RequestError: the run was made by another version, and comes to something else now.
        """
        lacking = [name for name in names if name not in self._tables]
        if not lacking:
            return
        result = self._scenario.run(self._seed, lacking)
        if result.digest != (self._digest or result.digest):
            raise RequestError(
                f"{self.name} gives digest {result.digest} now and gave {self._digest}: it was made by another "
                "version of netspurt; run it again"
            )
        self._tables |= dict.fromkeys(lacking, result)

    def _holding(self, name: str) -> Result:
        self.prepare([name])
        return self._tables[name]

    def segments(self) -> Frame:
        """See ``Recording``."""
        return _named(self._holding("segments").segments)

    def series(self, name: str) -> Frame:
        """See ``Recording``."""
        return _series(self._holding(name).series(name))

    def drops(self) -> Frame:
        """See ``Recording``."""
        return _placed(self._holding("drops").drops)


class Traced:
    """What ``netspurt run --trace`` wrote."""

    def __init__(self, name: str, table: Frame) -> None:
        self.name = name
        self._table = table

    def prepare(self, names: Iterable[str]) -> None:
        """Nothing: it is all there."""

    def segments(self) -> Frame:
        """See ``Recording``."""
        return _named(self._rows("segments"))

    def series(self, name: str) -> Frame:
        """See ``Recording``."""
        return _series(self._rows(name))

    def drops(self) -> Frame:
        """See ``Recording``; a trace of an earlier version has none."""
        return _placed(self._rows("drops"))

    def _rows(self, record: str) -> Frame:
        import polars as pl

        rows = self._table.filter(pl.col("record") == record)
        return rows.select([column for column in rows.columns if rows[column].null_count() < rows.height])


class Captured:
    """A capture, with everything recorded."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    @property
    def name(self) -> str:
        """The file's."""
        return self._capture.path.name

    def prepare(self, names: Iterable[str]) -> None:
        """Reads the file again if it was read without its segments."""
        from netspurt.analysis.capture import RECORDABLE, read_capture

        if self._capture.segments.is_empty() and self._capture.tally["segments"]:
            self._capture = read_capture(self._capture.path, RECORDABLE)

    def segments(self) -> Frame:
        """See ``Recording``: the reason of what was sent again is what the capture lets conclude."""
        import polars as pl

        self.prepare(())
        resent = self._capture.events.filter(pl.col("event") == "retransmitted").select(
            *("time_s", "connection", "seq"),
            (pl.col("from") == "client").alias("from_client"),
            pl.col("reason").replace(CAUSES),
        )
        keys = ["time_s", "connection", "from_client", "seq"]
        joined = self._capture.segments.join(resent.unique(keys), on=keys, how="left", maintain_order="left")
        return self._with_stream(joined.with_columns(pl.col("reason").fill_null("new-data")))

    def series(self, name: str) -> Frame:
        """See ``Recording``: a capture tells of round trips, flight and windows."""
        import polars as pl

        self.prepare(())
        if name == "rtt":
            rows = self._capture.samples.filter(pl.col("method") == "karn").rename({"rtt_s": "value"})
        elif name in ("flight", "window"):
            rows = self._capture.flight.select("time_s", "connection", "from", pl.col(name).alias("value"))
        elif name == "queue":
            return pl.DataFrame(schema={"time_s": pl.Float64, "place": pl.String, "value": pl.Float64})
        else:
            rows = self._capture.flight.clear().with_columns(pl.lit(0.0).alias("value"))
        rows = rows.with_columns((pl.col("from") == "client").alias("from_client"))
        return self._with_stream(rows.with_columns(pl.col("value").cast(pl.Float64)))

    def drops(self) -> Frame:
        """See ``Recording``: none are seen in a capture."""
        import polars as pl

        return pl.DataFrame(
            schema={"time_s": pl.Float64, "place": pl.String, "cause": pl.String, "queue_packets": pl.Int64}
        )

    def _with_stream(self, rows: Frame) -> Frame:
        import polars as pl

        ends = self._capture.connections.select(
            "connection",
            pl.format("{}:{} to {}:{}", "client", "client_port", "server", "server_port").alias("stream"),
        )
        # The same four numbers may name one connection after the other.
        ends = ends.with_columns(
            pl.when(pl.col("stream").is_duplicated())
            .then(pl.format("{}, connection {}", "stream", "connection"))
            .otherwise(pl.col("stream"))
        )
        return rows.join(ends, on="connection", how="inner", maintain_order="left")


def _holds(result: Result, name: str) -> bool:
    """Whether it was recorded. An empty table of segments or drops may mean either: it is made again."""
    if name in ("segments", "drops"):
        return not getattr(result, name).is_empty()
    try:
        result.native.series(name)
    except ValueError:
        return False
    return True


def _series(rows: Frame) -> Frame:
    import polars as pl

    rows = rows.with_columns(pl.col("value").cast(pl.Float64))
    if "end" in rows.columns:
        return _named(rows.with_columns((pl.col("end") == "client").alias("from_client")))
    return _placed(rows)


def _placed(rows: Frame) -> Frame:
    import polars as pl

    if "link" not in rows.columns:
        return rows.with_columns(pl.lit("").alias("place"))
    return rows.with_columns(pl.format("{}, {}", "link", "direction").alias("place"))


def _named(rows: Frame) -> Frame:
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
