"""The queue of the bottleneck, replayed from the packets that a capture at the sender shows.

With the times at which packets were sent and the rate of the bottleneck, the number of packets that wait there follows
for every instant. Packets that a full queue dropped found more waiting than any packet that passed.

Lives here: that replay, and what follows from it. Must not live here: estimates from round trips (``path``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netspurt.fitting.facts import Facts, Floats

LEAST_LIMIT = 2
"""Packets of the shortest queue that is recognised."""

FEW = 3
"""With fewer losses at a full queue, no packet may have passed that found as many waiting."""

PURE = 0.6
"""The least share of losses among the packets that found the queue full."""

SLACK = 0.1
"""Times of departure are known to this part of the time that a packet takes."""

PARTS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1.0)
"""Quantiles of what lost packets found that are tried as the limit."""

SPACED = 24
"""Limits that are tried between the least and the largest candidate where it is doubtful what was lost."""

KEPT = 0.95
"""The share of the RTT samples that are compared."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Replayed:
    """What the replay shows.

    Attributes:
        limit: packets that wait in a full queue; None if the losses do not come from a full queue.
        full: for each connection, which of its packets a full queue dropped.
        lost: for each connection, which of its packets were lost: without doubtful ones that found room in the queue.
        most: the largest number of packets that waited.
    """

    limit: int | None
    full: tuple[Mask, ...]
    lost: tuple[Mask, ...]
    most: int


def replay(all_facts: Sequence[Facts], rate_bps: float, near: int) -> Replayed:
    """Replays the bottleneck's queue for all packets of these connections; ``near`` is an estimate of its limit."""
    time = np.concatenate([facts.sent[0] for facts in all_facts])
    size = np.concatenate([facts.sent[2] + facts.header for facts in all_facts]).astype(float)
    count = np.concatenate([np.maximum(np.ceil(facts.sent[2] / facts.segment), 1) for facts in all_facts])
    lost = np.concatenate([facts.lost for facts in all_facts])
    doubtful = np.concatenate([facts.doubtful for facts in all_facts])
    data = np.concatenate([facts.sent[2] > 0 for facts in all_facts])
    order = np.argsort(time, kind="stable")
    service = size * 8 / rate_bps
    packets = Packets(
        time[order].tolist(),
        service[order].tolist(),
        count[order].tolist(),
        (lost & ~doubtful & data)[order].tolist(),
        doubtful[order].tolist(),
        data[order].tolist(),
        SLACK * float(service.max(initial=0.0)),
    )
    free = packets.waiting(math.inf, False)
    limits = _limits(np.array(free.found)[(lost & ~doubtful & data)[order]], near)
    if doubtful.any() and limits:
        # Doubtful packets that were lost made the queue of the free replay longer than it was.
        limits = sorted({*limits, *map(float, np.geomspace(LEAST_LIMIT, limits[-1], SPACED).round())})
    best = _best(packets, limits) or free
    if doubtful.any() and best is not free:
        beside = [best.limit + step for step in (-2, -1, 0, 1, 2) if best.limit + step >= LEAST_LIMIT]
        best = _best(packets, beside) or free
    if best.hits < PURE * (best.hits + best.false) or (best.hits < FEW and best.false):
        best = free
    full = np.zeros(len(time), dtype=bool)
    full[order] = best.full
    ends = np.cumsum([len(facts.lost) for facts in all_facts])[:-1]
    believed = lost if best is free else lost & (full | ~doubtful)
    most = int(max(best.found, default=0))
    limit = None if best is free else int(best.limit)
    return Replayed(limit, tuple(np.split(full, ends)), tuple(np.split(believed, ends)), most)


def _best(packets: Packets, limits: Sequence[float]) -> Waiting | None:
    """The replay that separates lost packets from the others best; None without limits."""
    return max(
        (packets.waiting(limit, strays) for limit in limits for strays in (False, True)),
        key=lambda each: (each.hits - each.false, -each.limit),
        default=None,
    )


def unexplained(all_facts: Sequence[Facts], rate_bps: float) -> float:
    """How far the RTT samples are from those that a bottleneck of this rate gives to the packets sent, in seconds.

    The mean without the largest ones, which delayed ACKs cause; the unknown base delay is the median difference.
    """
    _, base = unqueued(all_facts, rate_bps)
    if not len(base):
        return math.inf
    away = np.sort(np.abs(base - np.median(base)))
    return float(away[: max(int(KEPT * len(away)), 1)].mean())


def unqueued(all_facts: Sequence[Facts], rate_bps: float) -> tuple[Floats, Floats]:
    """Times of sending, in order, and the RTT samples without the time in the queue of a bottleneck of this rate."""
    time = np.concatenate([facts.sent[0] for facts in all_facts])
    size = np.concatenate([facts.sent[2] + facts.header for facts in all_facts])
    enter = ~np.concatenate([facts.lost for facts in all_facts])
    order = np.argsort(time[enter], kind="stable")
    time, service = time[enter][order], size[enter][order] * 8 / rate_bps
    before = np.cumsum(service) - service
    left = before + service + np.maximum.accumulate(time - before)
    sent = np.concatenate([facts.samples[0] for facts in all_facts])
    rtt = np.concatenate([facts.samples[1] for facts in all_facts])
    order = np.argsort(sent, kind="stable")
    sent, rtt = sent[order], rtt[order]
    at = np.searchsorted(time, sent, side="right") - 1
    sent, rtt, at = sent[at >= 0], rtt[at >= 0], at[at >= 0]
    return sent, rtt - (left[at] - sent)


@dataclass(frozen=True)
class Waiting:
    """A replay with a limit.

    Attributes:
        limit: packets that may wait.
        found: packets that waited when each packet arrived.
        full: which of the lost packets found the queue full, the doubtful ones among them.
        hits: how many these are, without the doubtful ones.
        false: packets that found the queue full and were not lost.
    """

    limit: float
    found: list[float]
    full: list[bool]
    hits: int
    false: int


@dataclass(frozen=True)
class Packets:
    """Packets in the order in which they arrive at the bottleneck, and the time that it needs for each.

    An arrival often coincides with the departure of another packet, which is known to ``slack_s`` only: a lost packet
    is taken to come before such a departure, any other packet after it.
    """

    time: list[float]
    service: list[float]
    count: list[float]
    lost: list[bool]
    doubtful: list[bool]
    data: list[bool]
    slack_s: float

    def waiting(self, limit: float, strays: bool) -> Waiting:
        """Replays the queue; packets that were lost elsewhere wait in it if ``strays``."""
        found, full = [], []
        begins: list[float] = []
        sizes: list[float] = []
        free, head, inside, hits, false = -math.inf, 0, 0.0, 0, 0
        for now, service, count, lost, doubtful, data in zip(
            self.time, self.service, self.count, self.lost, self.doubtful, self.data, strict=True
        ):
            until = now - self.slack_s if lost else now + self.slack_s
            while head < len(begins) and begins[head] <= now - self.slack_s:
                inside -= sizes[head]
                head += 1
            here, place = inside, head
            while place < len(begins) and begins[place] <= until:
                here -= sizes[place]
                place += 1
            found.append(here)
            over = here >= limit
            full.append(over and (lost or doubtful))
            hits += over and lost
            false += over and data and not lost and not doubtful
            if over or (lost and not strays):
                continue
            start = max(free, now)
            free = start + service
            if start > now:
                begins.append(start)
                sizes.append(count)
                inside += count
        return Waiting(limit, found, full, hits, false)


def _limits(lost: Floats, near: int) -> list[float]:
    """Limits worth a replay: what lost packets found, and an estimate by other means with its neighbours."""
    if not len(lost):
        return []
    parts = np.quantile(lost, PARTS, method="nearest")
    # Above the right limit few packets were lost, below it many more were not.
    limits = {*parts.tolist(), *(parts + 1).tolist(), *map(float, range(near - 2, near + 3))}
    return sorted(each for each in limits if each >= LEAST_LIMIT)
