"""What limited a transfer, told without packets: from the kernel's clocks, the programs and the emulator's counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernel_causes.causes import MSS, Case

MOST = 0.5
"""From this share of the time on a cause is the largest."""

LITTLE = 0.2
"""Up to this share the others do not matter."""

FULL = 0.85
"""The share of a rate, headers included, from which on a transfer uses it up. The rest is slow start."""

FREE = 0.6
"""The share of a rate up to which a link is not full."""

HEADERS = 1500 / 1448
"""Bytes of packets for each byte of data."""

MOST_ROUNDS = 9.5
"""Round trips of a transfer in slow start, with those of handshake and request."""

DELAYED_ACK_S = 0.04
"""How long Linux delays an ACK at least."""

NEVER_LEFT = 0x7FFF_FFFF
"""ssthresh of a sender that is still in its first slow start."""


@dataclass(frozen=True)
class Measured:
    """What was measured of a case.

    Attributes:
        seconds: from the SYN to the last byte at the client.
        connecting_s, longest_wait_s: of the client: until the connection was open; the longest time without data.
        busy_s, window_s, buffer_s: the kernel's clocks of the server: with data outstanding, held by the receive
            window, and by the send buffer.
        congestion_window, threshold, retransmitted: cwnd in segments and ssthresh at the end, and retransmissions.
        link_share: the used share of the bottleneck's rate while the transfer lasted, with other traffic.
        drops: at the bottleneck, by cause.
    """

    seconds: float
    connecting_s: float
    longest_wait_s: float
    busy_s: float
    window_s: float
    buffer_s: float
    congestion_window: int
    threshold: int
    retransmitted: int
    link_share: float
    drops: Mapping[str, int]


def is_true(case: Case, found: Measured) -> bool:
    """Whether the cause of the case limited most of the transfer, by what was measured."""
    busy, window, buffer = (
        seconds / found.seconds for seconds in (found.busy_s, found.window_s, found.buffer_s)
    )
    octets = case.cause.octets * case.cause.client.get("exchanges", 1)
    rate = octets * 8 * HEADERS / found.seconds
    is_busy = busy >= 1 - LITTLE
    is_free = max(window, buffer) <= LITTLE and is_busy
    facts = case.cause.facts
    match case.limit:
        case "bottleneck":
            return found.link_share >= FULL and is_free
        case "cross-traffic":
            return found.link_share >= FULL and rate <= MOST * facts["link_rate"] and is_free
        case "receive-window" | "slow-receiver":
            return window >= MOST
        case "send-buffer":
            # The kernel's clock of the send buffer stands while it takes cwnd for the limit, as in slow start.
            flight = octets / found.seconds * facts["rtt"]
            return (
                found.retransmitted == 0
                and found.congestion_window * MSS >= 1.5 * flight
                and found.link_share <= FREE
                and window <= LITTLE
                and is_busy
            )
        case "application":
            return busy <= MOST
        case "policer":
            # A sender recovers from drops for a part of the time, so it uses less than the whole rate.
            return (
                found.drops.get("policer", 0) >= 3
                and rate <= 1.3 * facts["rate"]
                and found.link_share <= FREE
            )
        case "shaper":
            return rate >= FULL * facts["rate"] and found.link_share <= FULL and is_free
        case "congestion-window":
            return found.retransmitted >= 3 and found.link_share <= FREE and is_free
        case "outage" | "path-mtu":
            return found.longest_wait_s >= MOST * found.seconds
        case "handshake":
            return found.connecting_s >= MOST * found.seconds
        case "slow-start":
            rounds = found.seconds / facts["rtt"]
            return found.threshold == NEVER_LEFT and found.retransmitted == 0 and rounds <= MOST_ROUNDS
        case "nagle-delayed-ack":
            waits = case.cause.client["exchanges"] * DELAYED_ACK_S
            return waits >= MOST * found.seconds and is_busy
        case _:
            raise ValueError(case.limit)
