"""A connection of a capture as one line, and as JSON.

Lives here: the content and wording of that line. Must not live here: reading, printing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netspurt.analysis.capture import Capture

COLUMNS = (
    *("client", "server", "from", "bytes", "start_s", "duration_s", "goodput_bps"),
    *("rtt_min_ms", "rtt_median_ms", "rtt_p95_ms", "retransmitted", "reordered", "limit", "notes"),
)

CAUSES = ("timeout", "fast", "tail_probe", "nak", "unexplained")


def document(capture: Capture) -> dict[str, Any]:
    """The JSON document of a capture."""
    streams = capture.streams.to_dicts()
    connections = [
        {**row, "from_client": _stream(streams[2 * n]), "from_server": _stream(streams[2 * n + 1])}
        for n, row in enumerate(capture.connections.to_dicts())
    ]
    return {"file": str(capture.path), **capture.tally, "connections": connections}


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
