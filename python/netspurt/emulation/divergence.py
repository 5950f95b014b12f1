"""Where two runs of one transfer first differ, and what makes them differ there.

Both hosts and the two directions of the network are looked at one by one. What differs first in time cannot follow from
anything else, so it names the cause: a host that sends something else after the same segments, or the network, which
drops or delays something else.

Lives here: the comparison of two transfers. Must not live here: running them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from netspurt.emulation.transfers import Seen, Transfer

Stream = Literal["data", "arrived", "answers", "returned"]

CAUSES: dict[Stream, str] = {
    "data": "the sender sends another segment",
    "arrived": "the network drops or delays another data segment",
    "answers": "the receiver sends another ACK",
    "returned": "the network drops or delays another ACK",
}


@dataclass(frozen=True)
class Divergence:
    """The first segment that differs in two transfers."""

    stream: Stream
    number: int
    """How many segments of this stream come before it."""
    at_s: float
    """The earlier one of its times in the two transfers."""
    one: Seen | None
    other: Seen | None
    apart_s: float
    """The largest difference of times among the segments that came before, in all streams."""

    @property
    def cause(self) -> str:
        """What differs, as a sentence without a full stop."""
        return CAUSES[self.stream]


def first_divergence(one: Transfer, other: Transfer) -> Divergence | None:
    """The first segment in which two transfers differ; None if they are identical.

    The comparison uses the first byte and the length of data segments, and the acknowledged byte and the first SACK
    block of ACKs. Times, ports and windows may differ.
    """
    found = [parting for stream in CAUSES if (parting := _parting(stream, one, other)) is not None]
    if not found:
        return None
    stream, number, at_s = min(found, key=lambda parting: parting[2])
    mine, theirs = getattr(one, stream), getattr(other, stream)
    return Divergence(
        stream, number, at_s, _at(mine, number), _at(theirs, number), _apart_s(one, other, at_s)
    )


def _parting(stream: Stream, one: Transfer, other: Transfer) -> tuple[Stream, int, float] | None:
    """The number and the time of the first segment of this stream that differs."""
    for number, (a, b) in enumerate(zip_longest(getattr(one, stream), getattr(other, stream))):
        if a is None or b is None or not a.is_like(b):
            return stream, number, min(each.at_s for each in (a, b) if each is not None)
    return None


def _at(segments: Sequence[Seen], number: int) -> Seen | None:
    return segments[number] if number < len(segments) else None


def _apart_s(one: Transfer, other: Transfer, until_s: float) -> float:
    """The largest difference of the times of a segment in both transfers, before this time."""
    return max(
        (
            abs(a.at_s - b.at_s)
            for stream in CAUSES
            for a, b in zip(getattr(one, stream), getattr(other, stream), strict=False)
            if a.at_s < until_s and b.at_s < until_s
        ),
        default=0.0,
    )
