"""Packets that were lost before the place of capture, from the holes that they left.

Lives here: captures at the receiver. Must not live here: losses that a capture shows (``facts``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Sent = tuple[Floats, Counts, Counts]

NOTICED = 3
"""Packets above a hole after whose ACKs a sender sends again."""


def filled(
    sent: Sent, lost: npt.NDArray[np.bool_], events: pl.DataFrame
) -> tuple[Sent, npt.NDArray[np.bool_], tuple[Floats, Floats, Counts]]:
    """Puts packets that were never seen where they are missing.

    Returns the packets, which of them were lost, and the round trips from the ACK that reported a gap to the packet
    that filled it: these show the queue soon after it overflowed.
    """
    time, seq, length = sent
    holes = _holes(sent, events)
    first = {offset: index for index, offset, _, _ in reversed(holes)}
    # Several packets that are missing at one place were sent in the order of their offsets.
    ordered = sorted(holes, key=lambda hole: (hole[0], hole[1]))
    places = [index for index, _, _, _ in ordered]
    times = np.insert(time, places, [time[index] for index in places]) if places else time
    offsets = np.insert(seq, places, [offset for _, offset, _, _ in ordered]) if places else seq
    lengths = np.insert(length, places, [size for _, _, size, _ in ordered]) if places else length
    missing = np.insert(lost, places, True) if places else lost
    trips: list[tuple[float, float, int]] = []
    for index, offset, size, again in holes:
        above = np.flatnonzero((length[index:] > 0) & (seq[index:] > offset))[:NOTICED]
        told = float(time[index + above[-1]])
        # Of the packets retransmitted in one recovery, only the first waits for nothing else.
        if again > told and first[offset] == index and (not trips or told > trips[-1][1]):
            trips.append((told, again, size))
    return (
        (times, offsets, lengths),
        missing,
        (
            np.array([told for told, _, _ in trips], dtype=np.float64),
            np.array([again - told for told, again, _ in trips], dtype=np.float64),
            np.array([size for _, _, size in trips], dtype=np.int64),
        ),
    )


def _holes(sent: Sent, events: pl.DataFrame) -> list[tuple[int, int, int, float]]:
    """Index of the first packet above a hole, its offset and length, and the time at which it was filled."""
    time, seq, length = sent
    seen: dict[int, float] = {}
    for index in range(len(time)):
        if length[index]:
            seen.setdefault(int(seq[index]), float(time[index]))
    top = np.maximum.accumulate(np.where(length > 0, seq, -1)) if len(seq) else seq
    found = []
    rows = events.select("event", "seq", "length", "time_s").to_dicts()
    for row in rows:
        if row["event"] != "retransmitted" or seen.get(row["seq"]) != row["time_s"]:
            continue
        index = int(np.searchsorted(top, row["seq"], side="right"))
        if index < len(time) and time[index] <= row["time_s"]:
            found.append((index, row["seq"], row["length"], row["time_s"]))
    return found
