"""A transfer as both of its hosts see it: each segment at its departure and at its arrival.

Lives here: segments of a simulated and of an emulated transfer in one form. Must not live here: running many transfers,
comparing them (``divergence``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netspurt.emulation.emulating import Emulated
from netspurt.emulation.packets import Segment, conversations, count_resent, first_ns
from netspurt.emulation.paths import Lane

Block = tuple[int, int]


class Seen(NamedTuple):
    """A data segment: its first byte and its length; or an ACK: the acknowledged byte and its first SACK block.

    ``at_s`` is the time at which a host sends or receives it.
    """

    seq: int
    length: int
    at_s: float
    block: Block | None = None

    def is_like(self, other: Seen) -> bool:
        """Whether both are the same segment, whenever they were seen."""
        return (self.seq, self.length, self.block) == (other.seq, other.length, other.block)


@dataclass(frozen=True)
class Transfer:
    """The segments that each host sends and receives, in this order, and how long the transfer takes.

    ``seconds`` is the time from the first SYN to the ACK of the last byte.
    """

    data: Sequence[Seen]
    """Data segments as the sender sends them."""
    arrived: Sequence[Seen]
    """Data segments as the receiver gets them."""
    answers: Sequence[Seen]
    """ACKs as the receiver sends them."""
    returned: Sequence[Seen]
    """ACKs as the sender gets them."""
    seconds: float

    @property
    def resent(self) -> int:
        """Segments that start below the highest byte sent before them."""
        return count_resent((segment.seq, segment.length) for segment in self.data)


def simulated(text: str, batch: Sequence[Lane], seed: int) -> list[Transfer]:
    """The transfer of each lane in a simulation of the scenario ``text``."""
    from netspurt.scenario import parse

    run = parse(text).native.run(seed, ["segments", "arrivals"], None)
    flows, segments = run.flows(), run.segments()
    index = np.asarray(segments["index"])
    names = ("from_client", "seq", "length", "ack", "sack_from", "sack_until", "time_s", "arrives_s")
    columns = [np.asarray(segments[name]).tolist() for name in names]
    found = []
    for place in range(len(batch)):
        sent: tuple[list[Seen], list[Seen]] = ([], [])
        arrived: tuple[list[Seen], list[Seen]] = ([], [])
        for at in np.flatnonzero(index == place):
            from_client, seq, length, ack, first, last, at_s, arrives_s = (column[at] for column in columns)
            if from_client and length:
                segment = Seen(seq, length, at_s)
            elif not from_client and ack > 0:
                segment = Seen(ack, 0, at_s, (first, last) if last > first else None)
            else:
                continue
            way = 0 if from_client else 1
            sent[way].append(segment)
            if arrives_s == arrives_s:
                arrived[way].append(segment._replace(at_s=arrives_s))
        for segments_of_way in arrived:
            segments_of_way.sort(key=lambda segment: segment.at_s)
        found.append(Transfer(sent[0], arrived[0], sent[1], arrived[1], float(flows["end_s"][place])))
    return found


def emulated_transfer(done: Emulated, lane: Lane) -> Transfer:
    """The segments of each host, captured at that host: those that it sends include the lost ones."""
    (here,) = conversations(done.captures[lane.sender]).values()
    began = first_ns(done.captures[lane.sender])
    (there,) = conversations(done.captures[lane.receiver], began).values()
    start_s = here.sent[0].at_s
    return Transfer(
        _data(here.sent, start_s),
        _data(there.sent, start_s),
        _answers(there.answered, start_s),
        _answers(here.answered, start_s),
        here.seconds,
    )


def _data(segments: Sequence[Segment], start_s: float) -> list[Seen]:
    # The SYN has the first sequence number.
    return [
        Seen(segment.seq - 1, segment.length, segment.at_s - start_s)
        for segment in segments
        if segment.length
    ]


def _answers(segments: Sequence[Segment], start_s: float) -> list[Seen]:
    def block(segment: Segment) -> Block | None:
        return (segment.sacks[0][0] - 1, segment.sacks[0][1] - 1) if segment.sacks else None

    return [
        Seen(segment.ack - 1, 0, segment.at_s - start_s, block(segment))
        for segment in segments
        if segment.ack > 1
    ]
