"""The capacity of the path over time, where others share it or its rate changes.

While packets of these connections wait, the rate at which they are delivered is what the path has for them. While
none waits, the capacity is not visible: it is taken to stay, and is at least what was delivered.

Lives here: deliveries over time, and where the path changed. Must not live here: a constant rate (``path``), or text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netspurt.fitting.facts import Facts, Floats

MOST = 300
"""Intervals of a recording."""

PACKETS = 12
"""Packets of the shortest interval, at the mean rate."""

WAITING = 2.0
"""Packets that must have waited for a delivery to show the capacity."""

SAME = 0.08
"""Relative width within which rates of neighbouring intervals are one."""

MOVED = 1.3
"""A least RTT or a rate that changes by this factor for good is a change of the path."""

LEAST_SAMPLES = 40

SPLITS = 71
"""Places at which a change is looked for."""

SHARP = 0.5
"""Before and after a change, four of five delays are within this part of it."""

LONG = 0.15
"""The share of the time that a new least RTT must last at least."""


@dataclass(frozen=True)
class Recording:
    """Rates over time, each from its time on. Times are seconds since the first packet, rates bit/s."""

    times: tuple[float, ...]
    rates: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean rate of the intervals."""
        return float(np.mean(self.rates))


def recorded(
    all_facts: Sequence[Facts], delivered: tuple[Floats, Floats], rate_bps: float, delay_s: float
) -> Recording | None:
    """The capacity over time; None if packets waited too seldom to show it.

    Args:
        all_facts: connections, captured at the sender.
        delivered: times of ACKs, and bytes with headers that each of them reports, of all connections in order.
        rate_bps: a constant rate that explains most.
        delay_s: the least round trip without the time to send a packet.
    """
    times, octets = delivered
    if len(times) < 2:
        return None
    packet = all_facts[0].segment + all_facts[0].header
    origin, end = min(facts.start_s for facts in all_facts), float(times[-1])
    mean = 8 * float(octets.sum()) / max(end - float(times[0]), 1e-9)
    width = max(delay_s, 8 * PACKETS * packet / mean, (end - origin) / MOST)
    count = max(int((end - origin) / width), 1)
    edges = origin + width * np.arange(count + 1)
    edges[-1] = end
    total = np.histogram(times, edges, weights=octets)[0]
    rates = 8 * total / np.diff(edges)
    ends = np.concatenate([facts.samples[0] + facts.samples[1] for facts in all_facts])
    rtts = np.concatenate([facts.samples[1] for facts in all_facts])
    waits = rtts - delay_s > WAITING * 8 * packet / rate_bps
    samples = np.histogram(ends, edges)[0]
    waited = np.histogram(ends, edges, weights=waits.astype(float))[0]
    shown = waited > 0.9 * samples
    shown &= samples > 0
    if shown.sum() < max(3, 0.05 * count):
        return None
    known = np.flatnonzero(shown)
    filled = rates[known[np.clip(np.searchsorted(known, np.arange(count), side="right") - 1, 0, None)]]
    filled = np.where(shown, rates, np.maximum(filled, rates))
    return _joined(np.maximum(edges[:-1] - origin - delay_s / 2, 0.0), np.maximum(filled, 8 * packet))


def _joined(times: Floats, rates: Floats) -> Recording:
    """The recording with equal neighbours as one."""
    starts: list[float] = []
    levels: list[list[float]] = []
    for time, rate in zip(times.tolist(), rates.tolist(), strict=True):
        if levels and abs(rate / float(np.mean(levels[-1])) - 1) <= SAME:
            levels[-1].append(rate)
        elif starts and time <= starts[-1]:
            levels[-1] = [rate]
        else:
            starts.append(time)
            levels.append([rate])
    starts[0] = 0.0
    return Recording(tuple(starts), tuple(float(np.mean(level)) for level in levels))


def moved(sent: Floats, base: Floats) -> tuple[float, float, float] | None:
    """When the base delay changed for good, and from what to what; None if it did not.

    Args:
        sent: times of sending, in order.
        base: round trips without the time in the queue.
    """
    if len(sent) < LEAST_SAMPLES:
        return None
    found = None
    least = np.log(MOVED)
    for part in np.linspace(LONG, 1 - LONG, SPLITS):
        at = int(np.searchsorted(sent, sent[0] + part * (sent[-1] - sent[0])))
        if min(at, len(sent) - at) < LEAST_SAMPLES // 4:
            continue
        before, after = float(np.median(base[:at])), float(np.median(base[at:]))
        if min(before, after) <= 0:
            continue
        step = abs(float(np.log(after / before)))
        spread = max(_spread(base[:at]), _spread(base[at:]))
        if step > least and spread < SHARP * abs(after - before):
            least, found = step, (float(sent[at]), before, after)
    return found


def _spread(values: Floats) -> float:
    low, high = np.quantile(values, (0.1, 0.9))
    return float(high - low)
