"""Estimates of the hosts: options, windows, acknowledgments, and what the application does.

Lives here: arithmetic on the facts of a connection. Must not live here: the path, simulation, or text.
"""

from __future__ import annotations

import numpy as np

from netspurt.fitting.facts import Facts

WINDOW_LIMITS = ("receive-window", "slow-receiver")
"""Limits that show the size of the receive window."""

HELD = 0.05
"""A limit with a smaller share of the time did not shape the transfer."""

PAUSES = 0.1
"""The share of the time without data to send from which on the application's writes are part of the fit."""


def initial_window(facts: Facts) -> int | None:
    """Segments sent before the first acknowledgment of data; None if the application sent fewer than it might have."""
    time, seq, length = facts.sent
    data = np.flatnonzero(length > 0)
    if len(data) < 2 or facts.options[0]["segments"] < 2:
        return None
    first = time[data[0]]
    if facts.vantage == "receiver":
        # A flight is followed by a pause of most of a round trip.
        gaps = np.diff(time[data])
        trip = facts.handshake_s or (float(facts.samples[1].min()) if len(facts.samples[1]) else 0.0)
        ends = np.flatnonzero(gaps > 0.4 * trip)
        until = time[data[ends[0]]] if len(ends) else first
        flight = data[time[data] <= until]
    else:
        acked = facts.acks[0][(facts.acks[1] > 0) & (facts.acks[0] > first)]
        flight = data[time[data] < acked[0]] if len(acked) else data
    segments = int(np.ceil(length[flight] / facts.segment).sum())
    return segments if 1 <= segments <= 100 and int(seq[flight[-1]]) < facts.size - facts.segment else None


def receive_window(facts: Facts) -> int | None:
    """The largest window of the receiver, if it limited the transfer."""
    if sum(facts.shares.get(name, 0.0) for name in WINDOW_LIMITS) < HELD:
        return None
    window = facts.acks[2][facts.acks[1] > 0]
    return int(window.max()) if len(window) else None


def send_buffer(facts: Facts) -> int | None:
    """The largest flight, if the send buffer limited it."""
    if facts.shares.get("send-buffer", 0.0) < HELD:
        return None
    return int(facts.options[0]["flight_max"])


def acknowledged_every(facts: Facts) -> float:
    """Full segments for each ACK that moved, while nothing was lost."""
    ack = np.maximum.accumulate(facts.acks[1])
    steps = np.diff(ack)
    steps = steps[steps > 0]
    return float(np.median(steps) / facts.segment) if len(steps) else 2.0


def writes(facts: Facts) -> tuple[int, float] | None:
    """Size and interval of the application's writes, if it paused for much of the time.

    A write is all data between two pauses; the median of both is what an even writer does.
    """
    if facts.shares.get("application", 0.0) < PAUSES:
        return None
    time, seq, length = facts.sent
    data = np.flatnonzero(length > 0)
    new = data[seq[data] >= np.maximum.accumulate(np.concatenate([[0], (seq + length)[data][:-1]]))]
    gaps = np.diff(time[new])
    trip = facts.handshake_s or float(np.min(facts.samples[1], initial=0.1))
    # Pauses in which everything was acknowledged, or that no ACK ended.
    acked = (
        np.interp(time[new], facts.acks[0], np.maximum.accumulate(facts.acks[1]))
        if len(facts.acks[0])
        else None
    )
    long = gaps > max(0.25 * trip, 2 * float(np.median(gaps)) if len(gaps) else 0.0)
    if acked is not None:
        idle = seq[new][1:] <= acked[1:] + facts.segment
        long |= idle & (gaps > 0.002)
    begins = np.concatenate([[0], np.flatnonzero(long) + 1])
    if len(begins) < 4:
        return None
    starts, offsets = time[new][begins], seq[new][begins]
    size, interval = float(np.median(np.diff(offsets))), float(np.median(np.diff(starts)))
    return (max(int(size), 1), interval) if interval > 0 else None
