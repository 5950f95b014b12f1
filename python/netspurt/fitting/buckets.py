"""Token buckets: a policer that drops what exceeds its rate.

A bucket that fills at a rate and drops what finds too few tokens behaves as a queue that is emptied at that rate and
delays nothing: a packet is dropped if the bytes in that virtual queue, its own included, exceed the burst.

Lives here: the rate and burst that best tell lost packets from those that passed. Must not live here: real queues
(``replay``), or text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netspurt.fitting.facts import Facts, Floats

LEAST_LOST = 15
"""Losses from which on a policer is looked for (Flach et al., SIGCOMM 2016, section 3.1)."""

LOWEST = 0.02
"""The lowest rate that is tried, as a share of the rate of the bottleneck."""

HIGHEST = 0.9
"""The same for the highest: a policer near the rate of the link is not told from its queue."""

PARTS = (0.5, 0.75, 0.9, 0.97, 1.0)
"""Quantiles of the rates between two losses that are candidates."""

LEAST_BYTES = 100_000
"""Bytes that must have passed between two losses to tell the rate."""

FINE, NEAR = 61, 0.015
"""Rates that are tried near a candidate, and the relative width."""

FOUND = 0.6
"""The least share of the losses that the bucket must explain."""

FALSE = 0.1
"""At most this share of the packets that should have been dropped may have passed."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Policer:
    """A token bucket.

    Attributes:
        rate_bps: at which it fills, with IP headers.
        burst: bytes that it holds.
        explained: the share of all losses that it explains.
        full: for each connection, which of its packets it dropped.
    """

    rate_bps: float
    burst: int
    explained: float
    full: tuple[Mask, ...]


def policer(all_facts: Sequence[Facts], link_bps: float) -> Policer | None:
    """The policer that explains the losses of these connections; None if none does."""
    time = np.concatenate([facts.sent[0] for facts in all_facts])
    size = np.concatenate([facts.sent[2] + facts.header for facts in all_facts]).astype(float)
    lost = np.concatenate([facts.lost for facts in all_facts])
    if lost.sum() < LEAST_LOST:
        return None
    order = np.argsort(time, kind="stable")
    time, size, lost = time[order], size[order], lost[order]
    rates = [
        each for each in _between(time, size, lost) if LOWEST * link_bps / 8 <= each <= HIGHEST * link_bps / 8
    ]
    near = np.unique(np.outer(rates, np.linspace(1 - NEAR, 1 + NEAR, FINE)))
    best = max((_separated(time, size, lost, float(rate)) for rate in near), key=_score, default=None)
    if best is None:
        return None
    _, rate, burst, hits, false = best
    if hits < FOUND * lost.sum() or false > FALSE * (hits + false) or rate > HIGHEST * link_bps / 8:
        return None
    full = np.zeros(len(time), dtype=bool)
    full[order] = lost & (_held(time, size, lost, rate) + size > burst)
    parts = np.split(full, np.cumsum([len(facts.lost) for facts in all_facts])[:-1])
    return Policer(8 * rate, round(burst), float(hits / lost.sum()), tuple(parts))


def _score(separated: tuple[float, float, float, int, int]) -> float:
    return separated[0]


def _between(time: Floats, size: Floats, lost: Mask) -> list[float]:
    """Candidates of the rate: what passed between two losses, over the time between them.

    The bucket is empty at a loss, so this is its rate, unless it was full in between: then it is less.
    """
    passed = np.cumsum(np.where(lost, 0.0, size))
    at = np.flatnonzero(lost)
    took = np.subtract.outer(time[at], time[at])
    octets = np.subtract.outer(passed[at], passed[at])
    long = (octets > LEAST_BYTES) & (took > 0)
    if not long.any():
        return []
    rates = octets[long] / took[long]
    whole = (passed[at[-1]] - passed[at[0]]) / (time[at[-1]] - time[at[0]])
    return [float(whole), *np.quantile(rates, PARTS).tolist()]


def _held(time: Floats, size: Floats, lost: Mask, rate: float) -> Floats:
    """Bytes in the virtual queue at each arrival; lost packets do not enter."""
    service = np.where(lost, 0.0, size) / rate
    before = np.cumsum(service) - service
    left = before + service + np.maximum.accumulate(time - before)
    earlier = np.concatenate([[time[0]], left[:-1]])
    found: Floats = np.maximum(earlier - time, 0.0) * rate
    return found


def _separated(time: Floats, size: Floats, lost: Mask, rate: float) -> tuple[float, float, float, int, int]:
    """How well a rate tells losses from passages: a score, the rate, the burst, losses right, passages wrong."""
    needed = _held(time, size, lost, rate) + size
    dropped, passed = np.sort(needed[lost]), np.sort(needed[~lost])
    hits = len(dropped) - np.arange(len(dropped))
    false = len(passed) - np.searchsorted(passed, dropped)
    place = int(np.argmax(hits - false))
    # Between the largest passage below and the smallest drop above.
    below = passed[passed < dropped[place]]
    burst = (dropped[place] + below[-1]) / 2 if len(below) else dropped[place]
    return float(hits[place] - false[place]), rate, float(burst), int(hits[place]), int(false[place])
