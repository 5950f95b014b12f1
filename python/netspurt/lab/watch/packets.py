"""Sizes of packets in a growing pcapng stream.

It is not a general capture reader: it handles the output of ``netspurt emulate``, and reads only times, lengths and
directions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

SECTION = b"\x0a\x0d\x0d\x0a"
"""The type of the first block; its third word determines the byte order."""

LITTLE = b"\x4d\x3c\x2b\x1a"

ENHANCED = 6
"""The type of a packet block."""

FLAGS = 2
"""The option with the direction: inbound (1) or outbound (2)."""

BIN_S = 0.25
"""The length of a bin of traffic in seconds."""


class Packets:
    """Parses the bytes it receives; yields (nanoseconds since 1970, bytes, inbound) for each complete packet."""

    def __init__(self) -> None:
        self._left = b""
        self._order = ">"

    def feed(self, octets: bytes) -> Iterator[tuple[int, int, bool]]:
        """Appends received bytes and yields the new packets."""
        self._left += octets
        place = 0
        while len(self._left) >= place + 12:
            if self._left.startswith(SECTION, place):
                self._order = "<" if self._left.startswith(LITTLE, place + 8) else ">"
            kind, length = struct.unpack_from(self._order + "II", self._left, place)
            if len(self._left) < place + length:
                break
            if kind == ENHANCED:
                yield self._packet(self._left[place : place + length])
            place += length
        self._left = self._left[place:]

    def _packet(self, block: bytes) -> tuple[int, int, bool]:
        high, low, kept, octets = struct.unpack_from(self._order + "IIII", block, 12)
        place = 28 + -(-kept // 4) * 4
        inbound = False
        while place + 4 <= len(block) - 4:
            option, length = struct.unpack_from(self._order + "HH", block, place)
            if option == FLAGS:
                (flags,) = struct.unpack_from(self._order + "I", block, place + 4)
                inbound = flags & 3 == 1
            place += 4 + -(-length // 4) * 4
        return high << 32 | low, octets, inbound


class Rates:
    """Sums of traffic in bins of ``BIN_S``: a bin is reported when the next one has begun, or at the end."""

    def __init__(self) -> None:
        self._begun: int | None = None
        self._sums: dict[int, list[int]] = {}
        self._told = -1

    def add(self, at_ns: int, octets: int, inbound: bool) -> None:
        """Adds a packet."""
        self._begun = at_ns if self._begun is None else self._begun
        # A packet out of order in a bin that was reported is ignored.
        span = int((at_ns - self._begun) / 1e9 / BIN_S)
        self._sums.setdefault(span, [0, 0])[0 if inbound else 1] += octets

    def take(self, *, over: bool) -> dict[str, list[float]] | None:
        """``time_s`` since the first packet, ``in_bps`` and ``out_bps``, of the bins that are complete.

        Args:
            over: whether to report the last bin although it may be incomplete.
        """
        last = max(self._sums, default=-1) - (not over)
        if last <= self._told:
            return None
        spans = range(self._told + 1, last + 1)
        sums = [self._sums.pop(span, [0, 0]) for span in spans]
        self._told = last
        return {
            "time_s": [BIN_S * (span + 0.5) for span in spans],
            "in_bps": [8 * each[0] / BIN_S for each in sums],
            "out_bps": [8 * each[1] / BIN_S for each in sums],
        }
