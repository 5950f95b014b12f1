"""A connection of a capture as one line, and as JSON.

Lives here: the content and wording of that line. Must not live here: reading, printing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats

if TYPE_CHECKING:
    import polars as pl

    from netspurt.analysis.capture import Capture

COLUMNS = (
    *("client", "server", "from", "bytes", "start", "time", "goodput", "least RTT", "median", "95 %"),
    *("retransmitted", "reordered", "captured at", "limit", "notes"),
)

BOTH = ("", "client → server", "server → client")
"""The columns of a connection's statistics, as tcptrace has them."""

COUNTS = (
    *("spurious", "reordered", "duplicated", "unseen_bytes", "duplicate_acks", "zero_windows"),
    *("window_probes", "keep_alives", "marked"),
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
    words = [
        f"{formats.count(total)} bytes in total",
        *(f"{count} {what}" for what, count in counts.items() if count),
    ]
    return f"{others.height} smaller connections: {', '.join(words)}"


def _stream(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("connection", "from")}


def line(row: dict[str, Any]) -> dict[str, Any]:
    """A connection as one line: the stream that carried more, and any unusual events."""
    stream = row[f"from_{row['sender']}"]
    # Behind the path, an ACK follows its data at once.
    times = {} if row["vantage"] == "receiver" else stream
    return {
        "client": _address(row["client"], row["client_port"]),
        "server": _address(row["server"], row["server_port"]),
        "from": row["sender"],
        "bytes": formats.size(stream["acknowledged_bytes"]),
        "start": formats.span(row["start_s"]),
        "time": formats.span(row["duration_s"]),
        "goodput": formats.rate(stream["goodput_bps"]),
        "least RTT": formats.span(times.get("rtt_min_s")),
        "median": formats.span(times.get("rtt_median_s")),
        "95 %": formats.span(times.get("rtt_p95_s")),
        "retransmitted": _resent(stream),
        "reordered": stream["reordered"],
        "captured at": row["vantage"],
        "limit": row["limit"],
        "notes": ", ".join(_notes(row, stream)) or None,
    }


def title(row: dict[str, Any]) -> str:
    """The ends of a connection, and when it existed."""
    ends = [_address(row[end], row[f"{end}_port"]) for end in ("client", "server")]
    first, last = formats.span(row["start_s"]), formats.span(row["start_s"] + row["duration_s"])
    words = [f"connection {row['connection']}: {ends[0]} → {ends[1]}", f"{first} to {last}"]
    if row["vantage"] is not None:
        words += [f"captured at: {row['vantage']}", f"limit: {row['limit']}"]
    return ", ".join(words)


def statistics(row: dict[str, Any]) -> list[dict[str, Any]]:
    """All counts of both directions of a connection: one row for each count, with the columns ``BOTH``."""
    both = [_statistics(row[f"from_{end}"]) for end in ("client", "server")]
    return [{BOTH[0]: name, BOTH[1]: both[0][name], BOTH[2]: both[1][name]} for name in both[0]]


def _statistics(stream: dict[str, Any]) -> dict[str, Any]:
    shown = {
        "packets": stream["packets"],
        "segments with data, SYN or FIN": stream["segments"],
        "bytes sent": stream["bytes"],
        "bytes acknowledged": stream["acknowledged_bytes"],
        "data from": formats.span(stream["data_from_s"]),
        "data until": formats.span(stream["data_until_s"]),
        "goodput": formats.rate(stream["goodput_bps"]),
        "segments retransmitted": _resent(stream),
        "bytes retransmitted": stream["retransmitted_bytes"],
    }
    shown |= {name.replace("_", " "): stream[name] for name in COUNTS}
    shown |= {
        "most in flight": formats.size(stream["flight_max"]),
        "largest window": formats.size(stream["window_max"]),
        "longest segment": stream["segment_max"],
        "MSS": stream["mss"],
        "window scale": stream["window_scale"],
        "SACK": stream["sack"],
        "timestamps": stream["timestamps"],
    }
    for what, ending in (("", ""), (", by timestamps", "_timestamps")):
        shown[f"RTT samples{what}"] = stream[f"rtt{ending}_samples"]
        for name, words in (("min", "least"), ("mean", "mean"), ("median", "median"), ("p95", "95 %")):
            shown[f"RTT, {words}{what}"] = formats.span(stream[f"rtt{ending}_{name}_s"])
        shown[f"RTT, largest{what}"] = formats.span(stream[f"rtt{ending}_max_s"])
    return shown


def _resent(stream: dict[str, Any]) -> dict[str, int]:
    return {cause.replace("_", " "): stream[f"retransmitted_{cause}"] for cause in CAUSES}


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
    if row["vantage"] == "receiver":
        handshake = row["handshake_rtt_s"]
        known = "" if handshake is None else f" but the handshake's, {formats.span(handshake)}"
        yield f"at the receiver no RTT can be measured{known}"
    if row["opening"] != "whole":
        yield {"half": "not answered", "missing": "began before the capture"}[row["opening"]]
    if not row["closing"].endswith("-fin"):
        yield row["closing"].replace("-", " ")
