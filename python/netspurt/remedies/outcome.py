"""The outcome of a remedy: gain, interval, cost for others, proof; and the document of them all.

Lives here: plain results and their JSON form. Must not live here: simulation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netspurt.remedies.others import Others
from netspurt.settings import Value

GREEDY = "parallel-connections"

HANDICAP = 0.03
"""Parallel connections must save this much more, as a share of the original's time, to come before another remedy."""

CLEAR = 0.01
"""A smaller relative gain is no gain."""


@dataclass
class Proven:
    """Seconds with the kernel's TCP on the emulated path, over repeats.

    Attributes:
        original: of each repeat without the remedy.
        remedy: of each repeat with it.
        difference: the interval of the paired difference; None for fewer than two repeats.
        late_s: the largest lateness of a packet or a program.
    """

    original: Sequence[float]
    remedy: Sequence[float]
    difference: tuple[float, float] | None
    late_s: float

    @property
    def seconds(self) -> float:
        """The mean with the remedy."""
        return sum(self.remedy) / len(self.remedy)

    @property
    def original_seconds(self) -> float:
        """The mean without it."""
        return sum(self.original) / len(self.original)


@dataclass
class Outcome:
    """A remedy that was simulated.

    Attributes:
        name: of the remedy.
        limit: the limit that it relaxes; "" for one of the user's own.
        words: what is changed and why.
        settings: dotted path and value.
        how: the commands, settings or calls that make the change.
        original_seconds: the mean without it, over the same seeds.
        seconds: the mean with it; infinite if nothing was delivered.
        interval: 95 % interval of ``seconds`` from the paired differences; None for a single seed.
        distinct: whether the difference cannot be chance.
        queueing_s: mean queueing delay of the transfer's packets, without and with the remedy.
        others: what others get, without and with it; None if that is not known.
        whole: whether the transfer ended within the duration of the scenario in every run.
        short_queue_s: the seconds if the queue holds only as many packets as waited in the capture; None where a loss
            shows its limit, or it was not tried.
        long_queue_s: the same with a long queue, of 1000 packets.
        proven: of ``prove``.
    """

    name: str
    limit: str
    words: str
    settings: Mapping[str, Value]
    how: Sequence[str]
    original_seconds: float
    seconds: float
    interval: tuple[float, float] | None
    distinct: bool
    queueing_s: tuple[float, float]
    others: tuple[Others, Others] | None = None
    whole: bool = True
    short_queue_s: float | None = None
    long_queue_s: float | None = None
    proven: Proven | None = None

    @property
    def gain(self) -> float:
        """The time saved as a share of the original's; negative if it takes longer."""
        if not math.isfinite(self.seconds):
            return -math.inf
        return 1 - self.seconds / self.original_seconds if self.original_seconds else 0.0

    @property
    def helps(self) -> bool:
        """Whether it saves at least 1 % of the time, beyond chance."""
        return self.distinct and self.gain >= CLEAR

    @property
    def shortens(self) -> bool:
        """Whether it halves a queueing delay of at least a millisecond, and costs at most 15 % of the time."""
        before, after = self.delays
        return before >= 1e-3 and after <= before / 2 and self.gain > -0.15

    @property
    def delays(self) -> tuple[float, float]:
        """The delay of others' messages if it is known, else the queueing delay of the transfer."""
        if self.others is None:
            return self.queueing_s
        return self.others[0].delay_s, self.others[1].delay_s

    @property
    def rank(self) -> tuple[float, float]:
        """Shortest time first, and among equal ones the one with the shortest delay of others.

        What may be chance counts as no change. Parallel connections come first only if they save clearly more: they
        take a part of their gain from others.
        """
        seconds = self.seconds if self.distinct or not math.isfinite(self.seconds) else self.original_seconds
        if self.name == GREEDY:
            seconds += HANDICAP * self.original_seconds
        return seconds, _finite(self.delays[1]) or 0.0

    def document(self) -> dict[str, Any]:
        """Its object in ``what-if --json``."""
        found: dict[str, Any] = {
            "remedy": self.name,
            "limit": self.limit or None,
            "sentence": self.words,
            "set": dict(self.settings),
            "seconds": _finite(self.seconds),
            "interval": None if self.interval is None else list(self.interval),
            "gain": _finite(self.gain),
            "distinguishable": self.distinct,
            "completed": self.whole,
            "short_queue_seconds": None if self.short_queue_s is None else _finite(self.short_queue_s),
            "long_queue_seconds": None if self.long_queue_s is None else _finite(self.long_queue_s),
            "queueing_s": {"now": _finite(self.queueing_s[0]), "then": _finite(self.queueing_s[1])},
            "others": None,
            "how": list(self.how),
            "proven_seconds": None,
        }
        if self.others is not None:
            now, then = self.others
            found["others"] = {
                "delay_s": {"now": now.delay_s, "then": then.delay_s},
                "goodput_bps": {"now": now.goodput_bps, "then": then.goodput_bps},
            }
        if self.proven is not None:
            found["proven_seconds"] = self.proven.seconds
            found["proven"] = {
                "original_seconds": self.proven.original_seconds,
                "repeats": len(self.proven.remedy),
                "difference_interval": None
                if self.proven.difference is None
                else list(self.proven.difference),
                "late_s": self.proven.late_s,
            }
        return found


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
