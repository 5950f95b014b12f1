"""Token buckets: a shaper that delays what exceeds its rate.

A bucket that is full at first lets a burst pass at the rate of the link, and then passes data at its own rate. So
deliveries stay below a line: the burst, plus the rate of the bucket times the time since the first delivery.

Lives here: rate and burst of the bucket, and the rate of the link. Must not live here: policers (``buckets``), or text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netspurt.fitting.facts import Floats

STEADY = 0.5
"""The last part of the deliveries, by bytes, shows the rate of the bucket."""

SPANS = 16
"""Parts of it whose median rate is taken: a pause to repair losses shortens none of the others."""

TRAIN = 8
"""Packets of a train that shows the rate of the link."""

LEAST_BURST = 16
"""Packets that must pass beyond the rate of the bucket."""

FASTER = 1.15
"""The link must be faster than the bucket by this factor."""


NEAR, EVEN = 0.02, 0.6
"""Trains within this relative distance agree with the bucket's rate, and the least share of those behind the burst."""


@dataclass(frozen=True)
class Shaper:
    """A token bucket in front of which packets wait.

    Attributes:
        rate_bps: at which it fills, with IP headers.
        burst: bytes that it holds.
        link_bps: the rate of the link behind it.
    """

    rate_bps: float
    burst: int
    link_bps: float


def shaper(time: Floats, octets: Floats, packet: int) -> Shaper | None:
    """The shaper that deliveries show; None if they show none.

    Args:
        time: of each delivery, in order.
        octets: of each delivery, with headers.
        packet: bytes of a full packet.
    """
    if len(time) < 4 * SPANS:
        return None
    total = np.cumsum(octets)
    rate = _steady(time, total)
    if rate <= 0:
        return None
    ahead = total - rate * (time - time[0])
    burst = float(ahead.max())
    # Once the bucket is empty, deliveries stay on the line.
    top = int(np.argmax(ahead >= burst - packet))
    link = _link(time[: top + 1], total[: top + 1], packet)
    if _even(time[top:], total[top:], packet, rate) < EVEN:
        return None
    if burst < LEAST_BURST * packet or link < FASTER * rate:
        return None
    return Shaper(8 * rate, round(burst), 8 * link)


def _steady(time: Floats, total: Floats) -> float:
    """Bytes per second in the last part."""
    marks = np.linspace(total[-1] * (1 - STEADY), total[-1], SPANS + 1)
    at = np.minimum(np.searchsorted(total, marks), len(total) - 1)
    took = np.diff(time[at])
    passed = np.diff(total[at])
    good = took > 0
    return float(np.median(passed[good] / took[good])) if good.any() else 0.0


def _even(time: Floats, total: Floats, packet: int, rate: float) -> float:
    """The share of the trains that pass at a rate: those of a bucket do, those that share a link with others do not."""
    rates = _trains(time, total, packet)
    return float(np.mean(np.abs(rates / rate - 1) <= NEAR)) if len(rates) else 0.0


def _trains(time: Floats, total: Floats, packet: int) -> Floats:
    """Bytes per second of trains of packets."""
    ends = np.searchsorted(total, total + TRAIN * packet * 0.999)
    begins = np.flatnonzero(ends < len(total))
    took = time[ends[begins]] - time[begins]
    passed = total[ends[begins]] - total[begins]
    good = took > 0
    found: Floats = passed[good] / took[good]
    return found


def _link(time: Floats, total: Floats, packet: int) -> float:
    """Bytes per second of trains in the burst: the rate that most of the fastest quarter reach."""
    rates = _trains(time, total, packet)
    if len(rates) < LEAST_BURST - TRAIN:
        return 0.0
    return float(np.median(rates[rates >= np.quantile(rates, 0.75)]))
