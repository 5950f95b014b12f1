"""A connection of a capture as one line, and as JSON.

Lives here: the content and wording of that line. Must not live here: reading, printing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from netspurt.analysis.capture import Capture

COLUMNS = (
    *("client", "server", "from", "bytes", "start_s", "duration_s", "goodput_bps"),
    *("rtt_min_ms", "rtt_median_ms", "rtt_p95_ms", "retransmitted", "reordered", "limit", "notes"),
)

CAUSES = ("timeout", "fast", "tail_probe", "nak", "unexplained")


def document(capture: Capture) -> dict[str, Any]:
    """The JSON document of a capture."""
    connections = list(described(capture.connections, capture.streams))
    return {"file": str(capture.path), **capture.tally, "connections": connections}


def described(connections: pl.DataFrame, streams: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Each connection with its two streams, one after the other: a capture may contain a million.

    Args:
        connections: rows of ``Capture.connections``.
        streams: the two rows of each of them of ``Capture.streams``, in the same order.
    """
    both = streams.iter_rows(named=True)
    for row in connections.iter_rows(named=True):
        yield {**row, "from_client": _stream(next(both)), "from_server": _stream(next(both))}


def largest(capture: Capture, most: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The connections with the most acknowledged bytes, largest first, and their streams."""
    import polars as pl

    sizes = capture.streams["acknowledged_bytes"]
    order = (
        pl.DataFrame({"size": sizes.gather_every(2) + sizes.gather_every(2, 1)})
        .with_row_index("row")
        .sort("size", descending=True, maintain_order=True)
        .head(most)["row"]
        .to_list()
    )
    return capture.connections[order], capture.streams[[at for row in order for at in (2 * row, 2 * row + 1)]]


def rest(capture: Capture, listed: pl.DataFrame) -> str:
    """What the connections that are not listed have in common, as text."""
    import polars as pl

    others = capture.connections.filter(~pl.col("connection").is_in(listed["connection"].implode()))
    streams = capture.streams.filter(~pl.col("connection").is_in(listed["connection"].implode()))
    total = int(streams["acknowledged_bytes"].sum())
    counts = {
        "not answered": int((others["opening"] == "half").sum()),
        "reset": int(others["closing"].str.ends_with("-reset").sum()),
        "segments retransmitted": int(streams["retransmitted"].sum()),
    }
    words = [f"{total} bytes in total", *(f"{count} {what}" for what, count in counts.items() if count)]
    return f"{others.height} smaller connections: {', '.join(words)}"


def _stream(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("connection", "from")}


def line(row: dict[str, Any]) -> dict[str, Any]:
    """A connection as one line: the stream that carried more, and any unusual events."""
    stream = row[f"from_{row['sender']}"]
    times = {what: stream[f"rtt_{what}_s"] for what in ("min", "median", "p95")}
    resent = {cause.replace("_", " "): stream[f"retransmitted_{cause}"] for cause in CAUSES}
    return {
        "client": _address(row["client"], row["client_port"]),
        "server": _address(row["server"], row["server_port"]),
        "from": row["sender"],
        "bytes": stream["acknowledged_bytes"],
        "start_s": row["start_s"],
        "duration_s": row["duration_s"],
        "goodput_bps": stream["goodput_bps"],
        **{f"rtt_{what}_ms": None if time is None else 1000 * time for what, time in times.items()},
        "retransmitted": resent,
        "reordered": stream["reordered"],
        "limit": row["limit"],
        "notes": ", ".join(_notes(row, stream)) or None,
    }


def _address(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _notes(row: dict[str, Any], stream: dict[str, Any]) -> Iterator[str]:
    counted = {
        "spurious": "spurious",
        "duplicated": "duplicated",
        "zero_windows": "zero windows",
        "window_probes": "window probes",
        "keep_alives": "keep-alives",
        "marked": "congestion marks",
        "unseen_bytes": "bytes not captured",
    }
    yield from (f"{stream[name]} {words}" for name, words in counted.items() if stream[name])
    if row["opening"] != "whole":
        yield {"half": "not answered", "missing": "began before the capture"}[row["opening"]]
    if not row["closing"].endswith("-fin"):
        yield row["closing"].replace("-", " ")
