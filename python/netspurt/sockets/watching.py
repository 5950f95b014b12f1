"""Polls of the kernel's TCP sockets, as tables and as documents.

Lives here: the Python interface of the native ``Sockets``. Must not live here: the rules of the budget (Rust has them),
options, or display.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from netspurt.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

LIMITS = (
    "handshake",
    "application",
    "nagle-delayed-ack",
    "send-buffer",
    "receive-window",
    "slow-receiver",
    "slow-start",
    "bottleneck",
    "congestion-window",
    "pacing",
    "fast-recovery",
    "timeout",
    "round-trip",
    "teardown",
    "unknown",
)
"""The limits that may occur, in the order of the columns."""

AT_REST = ("application", "teardown")
"""The limits during which nothing waits to be sent or acknowledged."""

SHARES = {limit: f"{limit.replace('-', '_')}_s" for limit in LIMITS}
"""The column with the seconds of each limit."""

SCHEMA: dict[str, type] = {
    **{"socket": int, "local": str, "remote": str, "state": str, "congestion": str, "uid": int},
    **{"from_s": float, "duration_s": float, "limit": str},
    **dict.fromkeys(SHARES.values(), float),
    **{"bytes_acked": int, "bytes_received": int, "bytes_retransmitted": int},
    **{"rtt_s": float, "min_rtt_s": float, "mss_bytes": int, "cwnd": int, "ssthresh": int, "in_flight": int},
    **{"reordering": int, "unsent_bytes": int, "unread_bytes": int},
    **{"receive_buffer_bytes": int, "send_buffer_bytes": int, "peer_window_bytes": float},
    **{"delivery_rate_bps": float, "pacing_rate_bps": float},
    **{"kernel_busy_s": float, "kernel_rwnd_limited_s": float, "kernel_sndbuf_limited_s": float},
}
"""The columns of every table.

``socket`` (a number, from 0), its ends, ``state``, ``congestion`` (control), ``uid``. ``from_s`` (since the watch
began) and ``duration_s``: the time that the row is about. ``limit`` (the one with most of it), and the seconds of each
limit. Bytes of that time. Then, at its end, what the kernel knows: RTT, ``cwnd``, ``ssthresh`` and ``in_flight`` in
segments, bytes that wait here (``unsent_bytes``, ``unread_bytes``), buffers, windows and rates, and the kernel's own
clocks since the connection was opened.
"""

OWNER: dict[str, type] = {"pid": int, "process": str}
"""The process that has the socket; null if it is not known."""

INTERVALS = {**SCHEMA, **OWNER}
"""The columns of a table of intervals."""

RECENT: dict[str, type] = {
    **{"recent_s": float, "recent_bytes_acked": int, "recent_bytes_received": int},
    **{"recent_limit": str, "recent_held_s": float, "largest_window_bytes": int},
}
"""About the last one or two seconds. ``recent_held_s`` is the part in which data waited to be sent or acknowledged."""

TABLE = {**SCHEMA, **RECENT, **OWNER}
"""The columns of a table of sockets."""


class Watching:
    """The TCP sockets of a network namespace. Call ``poll`` regularly.

    Args:
        namespace: a path such as ``/proc/PID/ns/net``, or a name of ``ip netns``; None is this one.
        keep: "intervals" for a row for each interval in which a socket was active, "sums" for none.

    Raises:
        RequestError: the sockets cannot be watched.
    """

    def __init__(self, namespace: str | None = None, keep: Literal["sums", "intervals"] = "sums") -> None:
        from netspurt import _core

        try:
            self._native = _core.Sockets.open(namespace, keep)
            self._native.poll()
        except (ValueError, PermissionError) as error:
            raise RequestError(str(error)) from error
        self._owners: dict[int, tuple[int | None, str | None]] = {}

    def poll(self) -> None:
        """Adds the time since the last poll to the budgets.

        Raises:
            RequestError: the kernel gives no answer.
        """
        try:
            self._native.poll()
        except ValueError as error:
            raise RequestError(str(error)) from error

    def table(self) -> pl.DataFrame:
        """The sockets that exist, with the columns of ``TABLE``; times are since each was first seen."""
        table = _frame(self._native.table(), TABLE)
        self._owners = dict(
            zip(table["socket"], zip(table["pid"], table["process"], strict=True), strict=True)
        )
        return table

    def take_ended(self) -> pl.DataFrame:
        """The sockets that have ended since the last call, with the columns of ``TABLE``."""
        return _frame(self._native.take_ended(), TABLE)

    def take_intervals(self) -> pl.DataFrame:
        """The intervals since the last call, with the columns of ``INTERVALS``; owners are as in the last ``table``."""
        import polars as pl

        rows = _frame(self._native.take_intervals(), SCHEMA)
        owners = [self._owners.get(number, (None, None)) for number in rows["socket"]]
        return rows.with_columns(
            pl.Series("pid", [pid for pid, _ in owners], dtype=pl.Int64),
            pl.Series("process", [name for _, name in owners], dtype=pl.String),
        )

    def find_owners(self) -> None:
        """Looks for the processes of new sockets now; ``poll`` does so at times."""
        self._native.find_owners()

    @property
    def counts(self) -> dict[str, int | None]:
        """Polls, sockets seen, and sockets missed between two polls (None if the kernel does not count them)."""
        return self._native.counts()


def _frame(columns: Mapping[str, Any], schema: Mapping[str, type]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        {name: columns[name] for name in schema}, schema=dict(schema), nan_to_null=True, strict=False
    )


def budget(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The limits of a row with their seconds and shares, largest first."""
    duration = row["duration_s"] or 1.0
    lines = [
        {"limit": limit, "seconds": row[column], "share": row[column] / duration}
        for limit, column in SHARES.items()
        if row[column] > 0
    ]
    return sorted(lines, key=lambda line: -line["seconds"])


def held_s(row: Mapping[str, Any]) -> float:
    """The seconds of a row in which data waited to be sent or acknowledged."""
    return float(row["duration_s"] - sum(row[SHARES[limit]] for limit in AT_REST))


def worst_first(table: pl.DataFrame, by: Sequence[str] = ("held_s", "bytes_acked")) -> pl.DataFrame:
    """A table of sockets with ``held_s``, the largest first."""
    import polars as pl

    at_rest = pl.sum_horizontal([SHARES[limit] for limit in AT_REST])
    return table.with_columns(held_s=pl.col("duration_s") - at_rest).sort(by, descending=True)


NOT_IN_DOCUMENTS = {*SHARES.values(), *RECENT, "limit"}


def document(row: Mapping[str, Any], event: str) -> dict[str, Any]:
    """A row as a line of ``--json``."""
    known = {name: value for name, value in row.items() if name not in NOT_IN_DOCUMENTS and name != "held_s"}
    return {"event": event, **known, "limit": row["limit"], "budget": budget(row)}
