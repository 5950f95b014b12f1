"""A capture as a recording.

Lives here: the conversion of capture tables to streams and series. Must not live here: packet analysis (``analysis``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netspurt.analysis.capture import TABLES, read_capture
from netspurt.inputs.recording import Frame

if TYPE_CHECKING:
    from netspurt.analysis.capture import Capture

CAUSES = {"fast": "fast-retransmit", "nak": "nak-resend"}
"""Reasons inferred from a capture, by the sender's names for them; other reasons have the same name."""


class Captured:
    """A capture; missing tables are read on demand."""

    def __init__(self, capture: Capture, name: str | None = None) -> None:
        self.capture = capture
        self.name = capture.path.name if name is None else name

    def prepare(self, names: Iterable[str]) -> None:
        """Reads the file again if it was read without its segments."""
        if self.capture.segments.is_empty() and self.capture.tally["segments"]:
            self.capture = read_capture(self.capture.path, TABLES)

    def segments(self) -> Frame:
        """See ``Recording``: the reason of a retransmission is inferred from the capture."""
        import polars as pl

        self.prepare(())
        resent = self.capture.events.filter(pl.col("event") == "retransmitted").select(
            *("time_s", "connection", "seq"),
            (pl.col("from") == "client").alias("from_client"),
            pl.col("reason").replace(CAUSES),
        )
        keys = ["time_s", "connection", "from_client", "seq"]
        joined = self.capture.segments.join(resent.unique(keys), on=keys, how="left", maintain_order="left")
        return self._with_stream(joined.with_columns(pl.col("reason").fill_null("new-data")))

    def series(self, name: str) -> Frame:
        """See ``Recording``: a capture has RTTs, data in flight and windows."""
        import polars as pl

        self.prepare(())
        if name == "rtt":
            rows = self.capture.samples.filter(pl.col("method") == "karn").rename({"rtt_s": "value"})
        elif name in ("flight", "window"):
            rows = self.capture.flight.select("time_s", "connection", "from", pl.col(name).alias("value"))
        elif name == "queue":
            return pl.DataFrame(schema={"time_s": pl.Float64, "place": pl.String, "value": pl.Float64})
        else:
            rows = self.capture.flight.clear().with_columns(pl.lit(0.0).alias("value"))
        rows = rows.with_columns((pl.col("from") == "client").alias("from_client"))
        return self._with_stream(rows.with_columns(pl.col("value").cast(pl.Float64)))

    def drops(self) -> Frame:
        """See ``Recording``: a capture shows no drops."""
        import polars as pl

        return pl.DataFrame(
            schema={"time_s": pl.Float64, "place": pl.String, "cause": pl.String, "queue_packets": pl.Int64}
        )

    def _with_stream(self, rows: Frame) -> Frame:
        import polars as pl

        ends = self.capture.connections.select(
            "connection",
            pl.format("{}:{} to {}:{}", "client", "client_port", "server", "server_port").alias("stream"),
        )
        # The same addresses and ports may identify successive connections.
        ends = ends.with_columns(
            pl.when(pl.col("stream").is_duplicated())
            .then(pl.format("{}, connection {}", "stream", "connection"))
            .otherwise(pl.col("stream"))
        )
        return rows.join(ends, on="connection", how="inner", maintain_order="left")
