"""The limits of a transfer: their names and what they mean.

Lives here: the table of limits. Must not live here: the rules that recognise them, advice, or colours.
"""

from __future__ import annotations

LIMITS = {
    "handshake": "the connection is not open yet",
    "application": "the sending application has nothing to send",
    "application-window": "the application's own protocol permits no more data in flight",
    "nagle-delayed-ack": "a short segment waits for an ACK that the receiver delays",
    "send-buffer": "the send buffer is smaller than the bandwidth-delay product",
    "receive-window": "the receive window is smaller than the bandwidth-delay product",
    "slow-receiver": "the receiving application reads slowly",
    "slow-start": "cwnd is still in slow start",
    "bottleneck": "the path is full",
    "cross-traffic": "the path is full, mostly of other traffic",
    "congestion-window": "cwnd limits the data in flight after losses or ECN marks",
    "pacing": "the sender paces below the capacity of the path",
    "policer": "a token bucket drops packets",
    "shaper": "a token bucket delays packets",
    "fast-recovery": "lost segments are retransmitted after duplicate ACKs or SACK",
    "timeout": "the sender waits for its retransmission timer, or recovers after it",
    "tail-loss": "the last segments of a transfer were lost",
    "reordering": "the sender takes reordering for loss",
    "spurious": "the sender retransmits segments that were not lost",
    "idle-restart": "cwnd grows again after a pause",
    "path-mtu": "segments of full size do not pass",
    "outage": "nothing passes in either direction",
    "ack-path": "ACKs are lost or late",
    "round-trip": "everything is sent; the data or its ACK is on its way",
    "teardown": "all data is acknowledged, and the connection closes",
    "unknown": "the capture does not show what limits the sender",
}
"""Every limit with its meaning, in the order of the Rust type ``Limit``."""

NOT_LOST = ("bottleneck", "application")
"""The limits whose time is not lost: the path is full, or there is nothing to send."""
