"""A socket's budget in a sentence.

Lives here: wording. Must not live here: layout, or the budget itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netspurt.analysis import formats
from netspurt.sockets.watching import SHARES

MEANINGS = {
    "handshake": "the connection was not open yet",
    "application": "the application had nothing to send",
    "nagle-delayed-ack": "a short segment waited for an ACK (Nagle's rule); TCP_NODELAY avoids this",
    "send-buffer": "the send buffer was empty and too small for the path",
    "receive-window": "the peer's window was too small for the path",
    "slow-receiver": "the peer's application read slowly and its window was closed",
    "slow-start": "cwnd was still in slow start",
    "bottleneck": "the path was full",
    "congestion-window": "cwnd limited the data in flight",
    "pacing": "the application has set a maximum pacing rate",
    "fast-recovery": "lost segments were retransmitted",
    "timeout": "the sender waited for its retransmission timer, or recovered after it",
    "round-trip": "everything was sent, and the data or its ACK was on its way",
    "teardown": "all data was acknowledged, and the connection closed",
    "unknown": "the kernel's counts do not show what limited the sender",
}
"""What each limit means for a socket of this host."""

MOSTLY = 10
"""A socket that receives this many times more than it sends is a receiver."""


def sentence(row: Mapping[str, Any]) -> str:
    """What limited a socket for most of the time, with the numbers that show it."""
    limit = row["limit"]
    duration = row["duration_s"]
    seconds = row[SHARES[limit]]
    share = seconds / duration if duration else 1.0
    said = f"{formats.span(seconds)} of {formats.span(duration)} ({formats.share(share)}): {MEANINGS[limit]}"
    said += _numbers(row, limit)
    if limit == "application" and row["bytes_received"] > MOSTLY * row["bytes_acked"]:
        said = f"this end receives ({formats.size(row['bytes_received'])}); the sender's host shows what limits it"
        if 4 * row["unread_bytes"] > row["receive_buffer_bytes"] > 0:
            said += (
                f"; {formats.size(row['unread_bytes'])} wait to be read: the application here reads slowly"
            )
    return said


def _numbers(row: Mapping[str, Any], limit: str) -> str:
    rtt, least = formats.span(row["rtt_s"]), formats.span(row["min_rtt_s"])
    if limit in ("receive-window", "slow-receiver") and row.get("largest_window_bytes"):
        return f" (at most {formats.size(row['largest_window_bytes'])}, RTT {rtt})"
    if limit == "send-buffer":
        return f" ({formats.size(row['send_buffer_bytes'])}, RTT {rtt})"
    if limit == "bottleneck":
        return f" (RTT {rtt}, least {least}, delivery rate {formats.rate(row['delivery_rate_bps'])})"
    if limit in ("congestion-window", "slow-start"):
        return f" (cwnd {row['cwnd']} segments, RTT {rtt})"
    if limit in ("fast-recovery", "timeout"):
        return f" ({formats.size(row['bytes_retransmitted'])} retransmitted)"
    return ""
