"""Estimates of the path: rate, base delay, queue.

Lives here: arithmetic on the facts of a capture. Must not live here: reading, simulation, or text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from netspurt.fitting.buckets import Policer, policer
from netspurt.fitting.capacity import Recording, moved, recorded
from netspurt.fitting.facts import Counts, Facts, Floats
from netspurt.fitting.reordering import Reordering, reordering
from netspurt.fitting.replay import replay, unexplained, unqueued
from netspurt.fitting.shapers import Shaper, shaper

TRAINS = (8, 2, 4)
"""Packets of a train whose dispersion is one estimate of the rate: where the path is full, where it seldom is, and a
further candidate."""

SELDOM = 0.1
"""The share of the time with a full path below which long trains show the pace of the sender."""

FULL_LIMITS = ("bottleneck", "cross-traffic", "shaper", "policer")
"""Limits that show a full path."""

WIDTH = 0.01
"""Relative width within which estimates of the rate agree."""

FULL = 0.8
"""The share of the largest queueing delay from which on a loss is one of a full queue."""

LEAST_QUEUE = 3
"""Packets of the shortest queue whose overflow differs visibly from random loss."""

MORE = 4.0
"""So much more often than elsewhere packets are lost at a full queue."""

MOSTLY = 0.9
"""If at least this share of the losses happens at a full queue, all losses count as its own."""

LEAST_OVERFLOWS = 3

OWN = 0.6
"""If a queue explains a smaller share of the losses, a policer is looked for."""

LOWER, HIGHER = 0.8, 3.0
"""Rates are searched from the lowest candidate to the highest one, times these."""

STEP, FINE = 0.02, 41
"""The relative distance of the rates, and the number of rates in the second search."""

BETTER = 0.9
"""A rate found by search leaves at most this part of what the best candidate leaves unexplained."""

UNDISTURBED = 0.25
"""If at least this share of the trains agrees with a candidate, another rate must be much better: late ACKs disturb
RTTs."""

MUCH = 0.2
"""It leaves at most this part unexplained. Trains agree with a sender that paces below the capacity, too."""

LESS = 0.99
"""It leaves at most this part unexplained where hardly anything waited: then the few packets that did show the rate."""

AGAIN = 3
"""So many searches reach upward if the best rate is the highest one tried."""

AGREE, WAITED = 0.3, 2
"""If at least this share of the trains agrees with a rate, and so many packets waited, it is sure."""

BESIDE = 1.25
"""A rate is sure, too, if rates that differ by this factor leave clearly more of the round trips unexplained, by
``SHARPLY``."""

SHARPLY = 1.5

PART = 0.05
"""Round trips that are unexplained by less than this part of the time of a full packet need no other rate."""

NOISE_S = 1e-6
"""Less than this is noise."""

LEAST_NOISE_S = 1e-7
"""The same for a mean in which only a few packets differ."""

CLEARLY = 1.05
"""A rate that leaves more of the round trips unexplained, by this factor, is wrong."""

SHORTEST = 10
"""Packets of the shortest queue that is assumed where no loss shows its limit."""

ALIKE = 5
"""Number of round trips that must agree for an estimate of a packet's transmission time."""

ACK_SIZE = 52

SYN_SIZE = 60


@dataclass(frozen=True)
class Path:
    """What was estimated.

    Attributes:
        rate_bps: of the bottleneck, with IP headers.
        rate_share: share of the trains that agree with it within 2 %.
        trains: estimates of the rate.
        delay_s: base round trip without the time that the bottleneck needs to send a packet.
        queue_s: the largest queueing delay.
        overflows: lost packets that found the queue full.
        stray: other lost packets.
        packets: data packets sent.
        queue_packets: full packets of the longest queue, without the one being sent.
    """

    rate_bps: float
    rate_share: float
    trains: int
    delay_s: float
    queue_s: float
    overflows: int
    stray: int
    packets: int
    queue_packets: int
    rate_sure: bool = True
    """Whether packets waited often enough to show the rate. If not, the path may be faster."""
    full: tuple[npt.NDArray[np.bool_], ...] = field(default=(), repr=False, compare=False)
    """For each connection, which of its packets a full queue dropped."""
    lost: tuple[npt.NDArray[np.bool_], ...] = field(default=(), repr=False, compare=False)
    """For each connection, which of its packets were lost: see `replay.Replayed`."""
    replayed: bool = False
    """Whether the limit of the queue follows from a replay, and is known to a packet."""
    policer: Policer | None = field(default=None, repr=False)
    """A token bucket that explains the losses better than a queue."""
    shaper: Shaper | None = field(default=None, repr=False)
    """A token bucket in front of which packets wait; then ``rate_bps`` is the rate of the link behind it."""
    moved: tuple[float, float, float] | None = None
    """When the base delay changed for good, and from what to what, in seconds."""
    reordering: Reordering | None = None
    """Packets that others overtook."""


def estimate(all_facts: Sequence[Facts]) -> Path:
    """Estimates the path that these connections share."""
    shares = all_facts[0].shares
    full_share = sum(shares.get(name, 0.0) for name in FULL_LIMITS)
    # Losses of a full queue are repaired while the path is full; random losses are repaired without it.
    full_share += min(shares.get("fast-recovery", 0.0), full_share)
    seldom = full_share < SELDOM
    rate, share, count = _rate(all_facts, seldom)
    # Away from the sender only handshakes show the whole path: repairs that had begun earlier look shorter.
    opened = [facts for facts in all_facts if facts.vantage == "sender" or facts.handshake_s]
    delay = min(base(facts, rate) for facts in opened or all_facts)
    queue = _queue(all_facts, rate, delay)
    packet_s = _packet_s(all_facts, rate)
    # The packet being sent is in part behind its first bit when another one enters.
    held = math.ceil(queue / packet_s - 0.05) if queue > 0 else 0
    full = tuple(overflows(facts, rate, delay, queue) for facts in all_facts)
    lost = tuple(facts.lost for facts in all_facts)
    sure, bucket, step = False, None, None
    if rate > 0 and all(facts.vantage == "sender" for facts in all_facts):
        replayed = replay(all_facts, rate, held)
        if replayed.limit is not None:
            held, full, lost, sure = replayed.limit, replayed.full, replayed.lost, True
            all_facts = [replace(facts, lost=mine) for facts, mine in zip(all_facts, lost, strict=True)]
            queue = held * packet_s
        if _count(full) < OWN * _count(lost) or not sure:
            bucket = policer(all_facts, rate)
        if bucket is not None:
            held, full, sure = replayed.most, bucket.full, True
            queue = held * packet_s
        step = moved(*unqueued(all_facts, rate))
    overflowed = _count(full)
    sharp = rate > 0 and _sharp(all_facts, rate)
    return Path(
        rate,
        share,
        count,
        delay,
        queue,
        overflowed,
        _count([mine & ~dropped for mine, dropped in zip(lost, full, strict=True)]),
        sum(int((facts.sent[2] > 0).sum()) for facts in all_facts),
        held,
        rate_sure=not seldom or sharp or (share > AGREE and queue >= WAITED * packet_s),
        full=full,
        lost=lost,
        replayed=sure,
        policer=bucket,
        moved=step,
        reordering=reordering(all_facts, rate) if rate > 0 else None,
    )


def _count(packets: Sequence[npt.NDArray[np.bool_]]) -> int:
    return sum(int(each.sum()) for each in packets)


def shaped(all_facts: Sequence[Facts], path: Path) -> Path | None:
    """The path with a shaper; None if the deliveries show none."""
    if len(all_facts) > 1 or all_facts[0].vantage != "sender" or path.policer is not None:
        return None
    if path.moved is not None:
        # Longer round trips slow a sender down too.
        return None
    facts = all_facts[0]
    size = facts.segment + facts.header
    found = shaper(*_delivered(facts), size)
    if found is None:
        return None
    rate = found.link_bps
    delay = base(facts, rate)
    queue = _queue(all_facts, rate, delay)
    full = overflows(facts, rate, delay, queue)
    overflowed = int(full.sum())
    return replace(
        path,
        rate_bps=rate,
        delay_s=delay,
        queue_s=queue,
        # Packets wait for the bucket, each for its own tokens too, so its rate turns their delay into a length.
        queue_packets=max(math.floor(queue * found.rate_bps / 8 / size + 0.05), 0),
        overflows=overflowed,
        stray=int((facts.lost & ~full).sum()),
        full=(full,),
        replayed=False,
        shaper=found,
        moved=None,
    )


def _rate(all_facts: Sequence[Facts], seldom: bool) -> tuple[float, float, int]:
    """The rate, the share of the trains that agree with it, and their number."""
    # ACKs of several connections bunch: each may be ahead by a segment.
    several = 1 if len(all_facts) == 1 else 3 * len(all_facts)
    found = {length: trains(all_facts, length * several) for length in TRAINS}
    peaks = {length: plateau(found[length]) for length in TRAINS}
    rate, share = peaks[TRAINS[seldom]]
    sized = [each for each in map(by_size, all_facts) if each]
    if not all(facts.vantage == "sender" for facts in all_facts):
        return max([rate, *(sized if seldom else ())]), share, len(found[TRAINS[seldom]])
    # Round trips that the packets sent explain tell the rate from the pace of the sender and from bunched ACKs.
    # Where nothing waited, trains show the pace of the sender, and any faster path explains them as well.
    order = [*sized, rate] if rate > 0 and _idle(all_facts, rate) else [rate, *sized]
    rates = [each for each in [*order, *(peak for peak, _ in peaks.values())] if each > 0]
    away = {each: unexplained(all_facts, each) for each in dict.fromkeys(rates)}
    if away:
        least = min(away.values())
        rate = next(each for each in away if away[each] <= CLEARLY * least)
        # A change of the delay would be taken for a queue.
        steady = moved(*unqueued(all_facts, rate)) is None
        # Where few trains passed undisturbed, or the sender paced them, only the round trips show the rate.
        agree = _agreeing(found, rate, 0.0)
        better, noise = (BETTER if agree < UNDISTURBED else MUCH), NOISE_S
        if seldom and agree <= AGREE and not _sharp(all_facts, rate):
            better, noise = LESS, LEAST_NOISE_S
        if steady and (better != MUCH or away[rate] > PART * _packet_s(all_facts, rate)):
            searched, left = _searched(all_facts, min(away) * LOWER, max(away) * HIGHER)
            if left < better * away[rate] and away[rate] - left > noise:
                rate = searched
    return rate, _agreeing(found, rate, share), len(found[TRAINS[seldom]])


def _packet_s(all_facts: Sequence[Facts], rate: float) -> float:
    """The time that a bottleneck of this rate needs to send a full packet."""
    return 8 * (all_facts[0].segment + all_facts[0].header) / rate if rate > 0 else math.inf


def _idle(all_facts: Sequence[Facts], rate: float) -> bool:
    """Whether hardly a packet waited at a bottleneck of this rate."""
    delay = min(base(facts, rate) for facts in all_facts)
    return _queue(all_facts, rate, delay) < WAITED * _packet_s(all_facts, rate)


def _sharp(all_facts: Sequence[Facts], rate: float) -> bool:
    """Whether the round trips tell this rate from others."""
    if not all(facts.vantage == "sender" for facts in all_facts):
        return False
    here = max(unexplained(all_facts, rate), NOISE_S)
    return all(unexplained(all_facts, rate * by) > SHARPLY * here for by in (BESIDE, 1 / BESIDE))


def _agreeing(found: Mapping[int, Floats], rate: float, none: float) -> float:
    """The largest share of trains of a kind that agree with a rate; `none` if there is no train."""
    agree = [float(np.mean(np.abs(np.log(each / rate)) <= 2 * WIDTH)) for each in found.values() if len(each)]
    return max(agree, default=none)


def _searched(all_facts: Sequence[Facts], lowest: float, highest: float) -> tuple[float, float]:
    """The rate that leaves least of the round trips unexplained, and how much.

    Trains that the sender paced may all be much slower than the path, so the search goes on above its highest rate.
    """
    best = min((unexplained(all_facts, each), each) for each in _between(lowest, highest))
    for _ in range(AGAIN):
        if best[1] < highest * (1 - STEP):
            break
        lowest, highest = highest, highest * HIGHER
        best = min(best, *((unexplained(all_facts, each), each) for each in _between(lowest, highest)))
    fine = best[1] * np.linspace(1 - STEP, 1 + STEP, FINE)
    left, rate = min(best, *((unexplained(all_facts, float(each)), float(each)) for each in fine))
    return rate, left


def _between(lowest: float, highest: float) -> list[float]:
    """Rates from the lowest to the highest one, a step apart."""
    found: list[float] = np.geomspace(
        lowest, highest, max(int(math.log(highest / lowest) / STEP), 2)
    ).tolist()
    return found


def capacity(all_facts: Sequence[Facts], path: Path) -> Recording | None:
    """The capacity over time; None if the capture does not show it."""
    if not all(facts.vantage == "sender" for facts in all_facts):
        return None
    parts = [_delivered(facts) for facts in all_facts]
    time, octets = (np.concatenate([part[n] for part in parts]) for n in (0, 1))
    order = np.argsort(time, kind="stable")
    return recorded(all_facts, (time[order], octets[order]), path.rate_bps, path.delay_s)


def trains(all_facts: Sequence[Facts], packets: int) -> Floats:
    """Rates of trains of packets in bits per second: bytes that were delivered, over the time that this took."""
    parts = [_delivered(facts) for facts in all_facts]
    time = np.concatenate([part[0] for part in parts])
    octets = np.concatenate([part[1] for part in parts])
    order = np.argsort(time, kind="stable")
    time, total = time[order], np.cumsum(octets[order])
    size = all_facts[0].segment + all_facts[0].header
    ends = np.searchsorted(total, total + packets * size * 0.999)
    begins = np.flatnonzero(ends < len(total))
    ends = ends[begins]
    took = time[ends] - time[begins]
    good = took > 0
    found: Floats = 8.0 * (total[ends] - total[begins])[good] / took[good]
    return found


def _delivered(facts: Facts) -> tuple[Floats, Floats]:
    """Times at which bytes had passed the bottleneck, and how many, with headers."""
    if facts.vantage == "receiver":
        time, _, length = facts.sent
        data = length > 0
        arrived = data & ~facts.lost
        return time[arrived], (length[arrived] + facts.header).astype(float)
    time, ack, _, sack_from, sack_until = facts.acks
    delivered = np.empty(len(time))
    known: list[tuple[int, int]] = []
    highest = 0
    for index in range(len(time)):
        highest = max(highest, int(ack[index]))
        if sack_from[index] >= highest:
            known = _united(known, int(sack_from[index]), int(sack_until[index]))
        known = [(begin, end) for begin, end in known if end > highest]
        delivered[index] = highest + sum(end - max(begin, highest) for begin, end in known)
    delivered = np.minimum(np.maximum.accumulate(delivered), facts.size) if len(delivered) else delivered
    steps = np.diff(delivered, prepend=0.0)
    moved = steps > 0
    whole: Floats = steps[moved] * (facts.segment + facts.header) / facts.segment
    return time[moved], whole


def _united(known: list[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    apart = []
    for left, right in known:
        if right < begin or left > end:
            apart.append((left, right))
        else:
            begin, end = min(begin, left), max(end, right)
    return [*apart, (begin, end)]


def plateau(rates: Floats) -> tuple[float, float]:
    """The highest rate at which many trains agree, and the share of those that do.

    Trains never pass faster than the bottleneck lets them but for ACKs that were bunched, which agree with no others.
    """
    if not len(rates):
        return 0.0, 0.0
    logs = np.sort(np.log(rates))
    near = np.searchsorted(logs, logs + WIDTH, side="right") - np.searchsorted(logs, logs - WIDTH)
    strong = np.flatnonzero(near >= max(3, 0.3 * near.max()))
    peak = logs[strong[-1]] if len(strong) else logs[-1]
    # The densest place near the highest one that is dense enough.
    close = np.flatnonzero((logs > peak - 4 * WIDTH) & (logs <= peak + WIDTH))
    centre = logs[close[np.argmax(near[close])]]
    agree = logs[np.abs(logs - centre) <= WIDTH]
    return float(np.exp(np.median(agree))), float(np.mean(np.abs(logs - centre) <= 2 * WIDTH))


def unseen_limit(path: Path, wire: int) -> int:
    """Packets of ``wire`` bytes that a queue is taken to hold if no loss shows its limit.

    One bandwidth-delay product is usual. It is at least twice as long as the queue that was seen.
    """
    return max(round(path.rate_bps * path.delay_s / 8 / wire), 2 * path.queue_packets, SHORTEST)


def base(facts: Facts, rate: float) -> float:
    """The least round trip, without the time that the bottleneck needs to send the packets."""
    _, rtt, length = facts.samples
    found = []
    # At the receiver, repairs that had begun earlier look shorter than the path.
    if len(rtt) and not (facts.vantage == "receiver" and facts.handshake_s):
        wire = np.minimum(length, facts.segment) + facts.header
        found.append(float(np.min(rtt - 8 * (wire + ACK_SIZE) / rate)))
    if facts.handshake_s:
        # The end that opens sees a SYN and a SYN-ACK pass; the other end a SYN-ACK and an ACK.
        opener = (facts.vantage == "receiver") != (facts.sender == "client")
        found.append(facts.handshake_s - 8 * (2 * SYN_SIZE if opener else SYN_SIZE + ACK_SIZE) / rate)
    return max(min(found, default=0.001), 1e-5)


def queueing(facts: Facts, rate: float, delay: float) -> tuple[Floats, Floats]:
    """Times of sending, and the queueing delays that these packets met."""
    sent, rtt, _ = facts.samples
    return sent, rtt - delay - 8 * (facts.segment + facts.header + ACK_SIZE) / rate


def _queue(all_facts: Sequence[Facts], rate: float, delay: float) -> float:
    """The queueing delay that most losses met; without losses, the largest one."""
    near, largest = [], 0.0
    for facts in all_facts:
        sent, waited = queueing(facts, rate, delay)
        lost = np.flatnonzero(facts.lost)
        if len(waited):
            largest = max(largest, float(waited.max()))
            near.append(_near(facts, sent, waited, lost) if len(lost) else np.empty(0))
    found = np.concatenate(near) if near else np.empty(0)
    # ACKs of several connections wait for each other.
    return (
        max(float(np.quantile(found, 0.9 if len(all_facts) == 1 else 0.75)), 0.0) if len(found) else largest
    )


def _near(facts: Facts, sent: Floats, waited: Floats, lost: Counts) -> Floats:
    """The largest queueing delay that packets around each of these had."""
    at = np.searchsorted(sent, facts.sent[0][lost])
    around = [waited[np.clip(at + step, 0, len(sent) - 1)] for step in (-3, -2, -1, 0)]
    near: Floats = np.max(around, axis=0)
    return near


def overflows(facts: Facts, rate: float, delay: float, queue: float) -> npt.NDArray[np.bool_]:
    """Which packets of ``facts.sent`` were lost at a full queue.

    Random losses hit queues of every length alike; those of a full queue are many where it is nearly full.
    """
    full = np.zeros(len(facts.lost), dtype=bool)
    sent, waited = queueing(facts, rate, delay)
    lost = np.flatnonzero(facts.lost)
    if not len(lost) or not len(sent) or queue * rate / 8 < LEAST_QUEUE * (facts.segment + facts.header):
        return full
    at_full = _near(facts, sent, waited, lost) >= FULL * queue
    exposed = float(np.mean(waited >= FULL * queue))
    much = at_full.mean() > MORE * max(exposed, 1 / len(waited)) * (~at_full).mean()
    if at_full.mean() >= MOSTLY or (much and at_full.sum() >= LEAST_OVERFLOWS):
        full[lost[at_full]] = True
    return full


def by_size(facts: Facts) -> float | None:
    """The rate by which full packets take longer than those of the handshake; None if round trips vary too much."""
    _, rtt, length = facts.samples
    whole = rtt[length == facts.segment]
    if facts.handshake_s is None or facts.vantage != "sender" or len(whole) < ALIKE:
        return None
    small = 2 * SYN_SIZE if facts.sender == "client" else SYN_SIZE + ACK_SIZE
    least = float(whole.min())
    longer = least - facts.handshake_s
    if longer <= 0 or np.sum(whole <= least + 0.03 * longer) < ALIKE:
        return None
    return 8 * (facts.segment + facts.header + ACK_SIZE - small) / longer
