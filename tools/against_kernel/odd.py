"""Segments that an ordinary peer would not send."""

from __future__ import annotations

import random
from dataclasses import replace

from .packets import ACK, FIN, PSH, RST, SYN, Segment


def odd_segment(rng: random.Random, usual: Segment) -> Segment:
    """A variant of the peer's usual ACK."""
    kind = rng.randrange(14)
    window = max(usual.window, 1)
    match kind:
        case 0:
            return usual
        case 1:
            return replace(usual, ack=max(usual.ack - rng.choice((1, 1000)), 0), sack=())
        case 2:
            return replace(usual, ack=usual.ack + rng.choice((1, 10_000, 1 << 20)))
        case 3:
            return replace(
                usual, flags=ACK | PSH, seq=usual.seq + rng.choice((200_000, -200_000)), length=100
            )
        case 4:
            return replace(usual, flags=RST | ACK, seq=usual.seq + rng.choice((1, 1000, 500_000, -1)))
        case 5:
            return replace(usual, flags=RST, seq=usual.seq + rng.choice((0, 1, 1000)), ack=0, sack=())
        case 6:
            return replace(
                usual, flags=rng.choice((SYN, SYN | ACK)), seq=usual.seq + rng.choice((0, 100, -100))
            )
        case 7:
            return replace(usual, flags=PSH, length=10, ack=0)
        case 8:
            return replace(usual, seq=usual.seq - 1, length=rng.choice((0, 1)))
        case 9:
            overlap = rng.choice((1, 50, 500))
            return replace(usual, flags=ACK | PSH, seq=usual.seq - overlap, length=rng.randrange(1, 60))
        case 10 if usual.stamp is not None:
            return replace(usual, stamp=usual.stamp - rng.choice((1, 10_000)), length=rng.choice((0, 20)))
        case 11 if usual.stamp is not None:
            return replace(usual, stamp=None, length=rng.choice((0, 20)))
        case 12:
            start = usual.ack + rng.randrange(-3000, 3000)
            return replace(usual, sack=((start, start + rng.randrange(1, 2000)),))
        case 13:
            return replace(usual, flags=ACK | FIN, seq=usual.seq + rng.choice((0, 10)))
    return replace(usual, window=rng.randrange(window))
