"""Reordering: packets that others overtook, and how late they were.

A receiver acknowledges each packet above a hole at once. If the hole closes without a retransmission, the packet in it
was late, by the time from the first such acknowledgment to the one that closes the hole.

Lives here: the share of late packets, and their delay. Must not live here: losses, or text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netspurt.fitting.facts import Facts

LEAST_LATE = 5
"""Fewer late packets show no share of them."""


@dataclass(frozen=True)
class Reordering:
    """Packets that are held back, independently of each other.

    Attributes:
        late: packets that others overtook.
        packets: data packets sent.
        extra_s: the median time by which they were held back, in seconds.
    """

    late: int
    packets: int
    extra_s: float

    @property
    def share(self) -> float:
        """The share of the packets."""
        return self.late / self.packets


def reordering(all_facts: Sequence[Facts], rate_bps: float) -> Reordering | None:
    """The reordering that these connections show, captured at the sender; None if they show none."""
    found = [lateness for facts in all_facts for lateness in _late(facts)]
    if len(found) < LEAST_LATE:
        return None
    first = all_facts[0]
    # The packet behind a late one arrives by the time later that the bottleneck needs for a packet.
    behind = 8 * (first.segment + first.header) / rate_bps
    packets = sum(int((facts.sent[2] > 0).sum()) for facts in all_facts)
    return Reordering(len(found), packets, float(np.median(found)) + behind)


def _late(facts: Facts) -> list[float]:
    """Seconds from the first report above each hole to the acknowledgment that closes it, without lost packets."""
    if facts.vantage != "sender":
        return []
    missing = set(facts.sent[1][facts.lost].tolist())
    found = []
    since: float | None = None
    highest = 0
    for time, ack, sack_from in zip(facts.acks[0], facts.acks[1], facts.acks[3], strict=True):
        if ack > highest:
            if since is not None and highest not in missing:
                found.append(float(time) - since)
            since, highest = None, int(ack)
        if since is None and ack == highest and sack_from > ack:
            since = float(time)
    return found
