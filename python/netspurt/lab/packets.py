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
