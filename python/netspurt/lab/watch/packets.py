"""Sizes of packets in a pcapng stream, as it grows.

No reader of captures: it knows what ``netspurt emulate`` writes, and looks at nothing but times, lengths and
directions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

SECTION = b"\x0a\x0d\x0d\x0a"
"""The type of the block in front; what stands in its third word says which end numbers begin with."""

LITTLE = b"\x4d\x3c\x2b\x1a"

ENHANCED = 6
"""The type of a block that holds a packet."""

FLAGS = 2
"""The option that says whether it came in (1) or went out (2)."""

BIN_S = 0.25
"""Traffic is told in sums over so long."""


class Packets:
    """Feed it bytes; it gives (nanoseconds since 1970, octets, inbound) for each packet that is whole."""

    def __init__(self) -> None:
        self._left = b""
        self._order = ">"

    def feed(self, octets: bytes) -> Iterator[tuple[int, int, bool]]:
        """Takes in what has come and yields what is new."""
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
    """Sums of what passes, in spans of ``BIN_S``: each is told when the next one has begun, or at the end."""

    def __init__(self) -> None:
        self._begun: int | None = None
        self._sums: dict[int, list[int]] = {}
        self._told = -1

    def add(self, at_ns: int, octets: int, inbound: bool) -> None:
        """A packet."""
        self._begun = at_ns if self._begun is None else self._begun
        # One that comes out of order into a span that was told is left out.
        span = int((at_ns - self._begun) / 1e9 / BIN_S)
        self._sums.setdefault(span, [0, 0])[0 if inbound else 1] += octets

    def take(self, *, over: bool) -> dict[str, list[float]] | None:
        """``time_s`` since the first packet, ``in_bps`` and ``out_bps``, of what can be told now.

        Args:
            over: whether the last span is told although more may come.
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
