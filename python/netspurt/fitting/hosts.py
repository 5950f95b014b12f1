"""Estimates of the hosts: options, windows, acknowledgments, and what the application does.

Lives here: arithmetic on the facts of a connection. Must not live here: the path, simulation, or text.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netspurt.fitting.facts import Facts, Floats, flights

WINDOW_LIMITS = ("receive-window", "slow-receiver")
"""Limits that show the size of the receive window."""

USUAL = 0.9
"""The share of the ACKs that announce no more than the usual window."""

SLOW = 0.1
"""The share of the time with a slow receiver from which on its reading is part of the fit."""

FILLING = 0.3
"""The first part of the data, which may pass before the receive buffer is full."""

HELD = 0.05
"""A limit with a smaller share of the time did not shape the transfer."""

PAUSES = 0.1
"""The share of the time without data to send from which on the application's writes are part of the fit."""

PAUSE_LIMITS = ("application", "application-window", "send-buffer", "round-trip", "nagle-delayed-ack")
"""Limits that a capture shows where an application may have had nothing to send."""

TRIGGERED = 0.0003
"""Seconds within which a packet follows the ACK that let it leave."""

LEAST_WRITES = 4

LONGER, SHORTER = 4.0, 0.4
"""Pauses longer by this factor than this quantile of all lie between writes; the others may be those of a sender that
paces."""

MAIN = 0.5
"""The share of the time of all pauses that the longer ones must have: writes at equal intervals have none of them."""

LEAST_PART = 0.5
"""A flight below this part of the window is not held by the window."""

LEAST_TRIPS = 6
"""The least number of intervals of two RTTs that shows a limit of the flight rather than chance."""

FLAT = 0.1
"""The relative width of a ceiling."""

REACHED = 0.5
"""The share of the intervals that reach it."""


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
    """The window of the receiver, if it limited the transfer.

    A window that a program limits after the handshake is larger at first: nine ACKs of ten announce no more than the
    result. A slow receiver announces its whole window seldom: there it is the largest one.
    """
    held, slow = (facts.shares.get(name, 0.0) for name in WINDOW_LIMITS)
    window = facts.acks[2][facts.acks[1] > 0]
    if held + slow < HELD or not len(window):
        return None
    if slow > held:
        return int(window.max())
    usual = int(np.quantile(window, USUAL, method="lower"))
    # Linux often announces a little less than that: the flight shows what counts.
    reached = _ceiling(facts)
    lower = reached is not None and LEAST_PART * usual < reached < usual - facts.segment
    return reached if lower and reached is not None else usual


def reader(facts: Facts) -> float | None:
    """Bits per second that the receiver's program reads, if it read slowly: the data that passed its full buffer."""
    if facts.shares.get("slow-receiver", 0.0) < SLOW or not len(facts.acks[0]):
        return None
    acked = np.maximum.accumulate(facts.acks[1])
    begin = int(np.searchsorted(acked, FILLING * facts.size))
    end = int(np.searchsorted(acked, facts.size))
    end = min(end, len(acked) - 1)
    took = float(facts.acks[0][end] - facts.acks[0][min(begin, end)])
    return 8 * float(acked[end] - acked[begin]) / took if took > 0 else None


def send_buffer(facts: Facts) -> int | None:
    """The largest flight, if the send buffer limited it."""
    if facts.shares.get("send-buffer", 0.0) < HELD:
        return None
    return int(facts.options[0]["flight_max"])


def ceiling(facts: Facts) -> int | None:
    """The flight that is not exceeded, if it is reached in most round trips; None if there is no such ceiling.

    A receive window that limits, or a send buffer that shows, explains a ceiling already.
    """
    if receive_window(facts) is not None or send_buffer(facts) is not None:
        return None
    return _ceiling(facts)


def _ceiling(facts: Facts) -> int | None:
    if facts.vantage != "sender" or not len(facts.acks[0]):
        return None
    time, _, flight = flights(facts.sent, facts.acks)
    trip = _trip(facts)
    if trip <= 0:
        return None
    trips = ((time - time[0]) / (2 * trip)).astype(int)
    peaks = np.zeros(int(trips[-1]) + 1)
    np.maximum.at(peaks, trips, flight.astype(float))
    peaks = peaks[peaks > 0]
    most = float(np.quantile(peaks, USUAL))
    return (
        int(most)
        if len(peaks) >= LEAST_TRIPS and np.mean(np.abs(peaks / most - 1) <= FLAT) >= REACHED
        else None
    )


def _trip(facts: Facts) -> float:
    """A round trip in seconds; 0 if none is known."""
    return facts.handshake_s or (float(np.median(facts.samples[1])) if len(facts.samples[1]) else 0.0)


def acknowledged_every(facts: Facts) -> float:
    """Full segments for each ACK that moved, while nothing was lost."""
    ack = np.maximum.accumulate(facts.acks[1])
    steps = np.diff(ack)
    steps = steps[steps > 0]
    return float(np.median(steps) / facts.segment) if len(steps) else 2.0


def writes(facts: Facts) -> tuple[int, float] | None:
    """Size and interval of the application's writes, if it paused for much of the time.

    A write begins with a packet that follows a pause and that no ACK triggered. The size is the median; the interval
    keeps the mean rate between the first and the last write.
    """
    if sum(facts.shares.get(name, 0.0) for name in PAUSE_LIMITS) < PAUSES:
        return None
    time, seq, length = facts.sent
    data = np.flatnonzero(length > 0)
    highest = np.maximum.accumulate((seq + length)[data])
    new = data[seq[data] >= np.concatenate([[0], highest[:-1]])]
    if len(new) < 2 or not len(facts.acks[0]):
        return None
    gaps = np.diff(time[new])
    last = np.searchsorted(facts.acks[0], time[new][1:], side="right") - 1
    since = time[new][1:] - facts.acks[0][np.maximum(last, 0)]
    acked = np.maximum.accumulate(facts.acks[1])[np.maximum(last, 0)]
    begins = between_writes(gaps, (gaps > TRIGGERED) & ((since > TRIGGERED) | (acked >= seq[new][1:])))
    starts = np.concatenate([[0], np.flatnonzero(begins) + 1])
    if len(starts) < LEAST_WRITES:
        return None
    times, offsets = time[new][starts], seq[new][starts]
    size = float(np.median(np.diff(offsets)))
    interval = size * float(times[-1] - times[0]) / float(offsets[-1] - offsets[0])
    return (max(int(size), 1), interval) if interval > 0 else None


def between_writes(gaps: Floats, pauses: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The pauses between writes: without those of a sender that paces, which are shorter and many."""
    if not pauses.any():
        return pauses
    longer = pauses & (gaps > LONGER * np.quantile(gaps[pauses], SHORTER))
    return (
        longer if longer.sum() >= LEAST_WRITES and gaps[longer].sum() >= MAIN * gaps[pauses].sum() else pauses
    )
