"""Sizes of packets in a pcapng stream, as it grows.

No reader of captures: it knows what ``netspurt emulate`` writes, and looks at nothing but times, lengths and
directions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

ENHANCED = 6
"""The type of a block that holds a packet."""

FLAGS = 2
"""The option that says whether it came in (1) or went out (2)."""


class Packets:
    """Feed it bytes; it gives (nanoseconds since 1970, octets, inbound) for each packet that is whole."""

    def __init__(self) -> None:
        self._left = b""

    def feed(self, octets: bytes) -> Iterator[tuple[int, int, bool]]:
        """Takes in what has come and yields what is new."""
        self._left += octets
        place = 0
        while len(self._left) >= place + 12:
            kind, length = struct.unpack_from("<II", self._left, place)
            if len(self._left) < place + length:
                break
            if kind == ENHANCED:
                yield _packet(self._left[place : place + length])
            place += length
        self._left = self._left[place:]


def _packet(block: bytes) -> tuple[int, int, bool]:
    high, low, kept, octets = struct.unpack_from("<IIII", block, 12)
    place = 28 + -(-kept // 4) * 4
    inbound = False
    while place + 4 <= len(block) - 4:
        option, length = struct.unpack_from("<HH", block, place)
        if option == FLAGS:
            (flags,) = struct.unpack_from("<I", block, place + 4)
            inbound = flags & 3 == 1
        place += 4 + -(-length // 4) * 4
    return high << 32 | low, octets, inbound
