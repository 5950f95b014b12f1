"""What a run shows at a time: what had arrived, what was answered, what was in order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..kernel import RESPONSE_NS, Run
from ..packets import ACK, FIN, Segment
from ..ranges import Ranges
from ..scripts import Arrival

TICK_NS = 4_000_000
"""A tick of the kernel."""

COMPUTING_NS = 50_000
"""The longest time between two segments of a burst, on a machine under load."""


def full_length(run: Run) -> int:
    """Payload of the longest segment that the host has sent."""
    return max((sent.segment.length for sent in run.played.sent), default=0)


def answered_by(run: Run, at: int) -> list[tuple[int, Segment]]:
    """The segments that what was sent at a time may answer, and when they arrived."""
    return [
        (arrived, event.segment)
        for arrived, event in run.happened
        if at - RESPONSE_NS <= arrived <= at and isinstance(event, Arrival)
    ]


def answers_data(run: Run, at: int) -> bool:
    """Whether what was sent at a time answers a segment with data or a FIN."""
    answered = answered_by(run, at)
    return bool(answered) and (answered[-1][1].length > 0 or bool(answered[-1][1].flags & FIN))


def take(got: Ranges, segment: Segment) -> None:
    """The peer's data has arrived. What lies before its stream is none."""
    end = segment.seq + segment.length
    if end > 0:
        got.add(max(segment.seq, 0), end)


def received(run: Run, at: int) -> int:
    """The end of the peer's data that has arrived in order until a time."""
    got = Ranges()
    got.add(0, 1)
    for arrived, event in run.happened:
        if arrived <= at and isinstance(event, Arrival) and event.segment.length:
            take(got, event.segment)
    return got.next


def is_before_window(run: Run, at: int, segment: Segment) -> bool:
    """Whether a segment ends before what the kernel had acknowledged when it arrived (`tcp_sequence()`)."""
    acknowledged = max((one.segment.ack for one in run.played.sent if one.at <= at), default=0)
    return segment.seq + segment.length < acknowledged


def in_order_data(run: Run, until: int) -> list[int]:
    """When data in order has arrived that acknowledges nothing new: header prediction takes it if memory permits."""
    return [at for at, segment, acknowledged in data_in_order(run, until) if segment.ack == acknowledged]


def data_in_order(run: Run, until: int) -> Iterator[tuple[int, Segment, int]]:
    """When data in order has arrived, the segment, and what was acknowledged before it."""
    got, acknowledged = Ranges(), 0
    got.add(0, 1)
    for at, event in run.happened:
        if at > until or not isinstance(event, Arrival):
            continue
        segment = event.segment
        if segment.length and segment.seq == got.next:
            yield at, segment, acknowledged
        acknowledged = max(acknowledged, segment.ack)
        take(got, segment)


def in_order_arrivals(run: Run, until: int) -> list[int]:
    """When the connection was opened, which counts as data (`lrcvtime`), and when data has come in order."""
    opened = (at for at, event in run.happened if isinstance(event, Arrival) and event.segment.flags & ACK)
    got, arrivals = Ranges(), list(itertools.islice(opened, 1))
    got.add(0, 1)
    for at, event in run.happened:
        if at <= until and isinstance(event, Arrival) and event.segment.length:
            before = got.next
            take(got, event.segment)
            if got.next > before:
                arrivals.append(at)
    return arrivals
