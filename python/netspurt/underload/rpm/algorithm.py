"""The algorithm: from intervals of goodput and probes to round trips per minute, and how far to trust them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

MINUTE_MS = 60_000.0

FOREIGN_BYTES, SELF_BYTES = 5000, 1000
"""What a probe costs, by the draft's estimate: with handshakes, and on a connection that exists."""


@dataclass(frozen=True)
class Parameters:
    """The draft's parameters, with its defaults.

    Attributes:
        distance: intervals of a moving average (MAD).
        interval_s: seconds of an interval (ID).
        kept: the share of samples that the trimmed mean keeps (TMP).
        tolerance: standard deviation of a stable value, as a share of it (SDT).
        first: load-generating connections in each direction at the beginning (INP).
        more: connections that each interval adds (INC).
        most: the largest number of connections in each direction (MNP).
        probes: pairs of probes per second (MPS).
        capacity: the share of the capacity that probes may take (PTC).
    """

    distance: int = 4
    interval_s: float = 5.0
    kept: float = 0.95
    tolerance: float = 0.05
    first: int = 1
    more: int = 1
    most: int = 16
    probes: float = 100.0
    capacity: float = 0.05

    def probes_per_second(self, goodput_bps: float) -> float:
        """Pairs of probes per second that a path with this goodput permits; one in ten seconds at least."""
        cost = 8 * (FOREIGN_BYTES + SELF_BYTES)
        return max(0.1, min(self.probes, self.capacity * goodput_bps / cost))

    def connections(self, interval: int) -> int:
        """Load-generating connections in each direction during this interval, from 0."""
        return min(self.most, self.first + self.more * interval)


class Confidence(StrEnum):
    """How far a stage of the test came."""

    LOW = "low"
    """Fewer intervals than a moving average needs."""
    MEDIUM = "medium"
    """Enough intervals, but the value was not stable."""
    HIGH = "high"
    """The value was stable."""


@dataclass
class Interval:
    """What was seen in one interval; times in milliseconds.

    Attributes:
        goodput_bps: data that arrived, of all load-generating connections.
        tcp_ms: TCP handshakes of foreign probes.
        tls_ms: their TLS handshakes, divided by the round trips of the TLS version; empty without TLS.
        http_ms: from their requests to the responses.
        self_ms: round trips on load-generating connections.
    """

    goodput_bps: float = 0.0
    tcp_ms: list[float] = field(default_factory=list)
    tls_ms: list[float] = field(default_factory=list)
    http_ms: list[float] = field(default_factory=list)
    self_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Responsiveness:
    """The result. What no probe measured is None.

    Attributes:
        rpm: round trips per minute: the mean of the two following.
        foreign_rpm: on connections of their own.
        loaded_rpm: on the connections of the load.
        tcp_ms: trimmed mean of TCP handshakes.
        tls_ms: that of TLS round trips; None without TLS.
        http_ms: that of requests on new connections.
        self_ms: that of round trips on the connections of the load.
        goodput_bps: moving average of the goodput at the end.
        intervals: how many the test took.
        capacity: confidence in the goodput.
        confidence: confidence in the round trips per minute.
    """

    rpm: float | None
    foreign_rpm: float | None
    loaded_rpm: float | None
    tcp_ms: float | None
    tls_ms: float | None
    http_ms: float | None
    self_ms: float | None
    goodput_bps: float
    intervals: int
    capacity: Confidence
    confidence: Confidence


def trimmed_mean(values: Iterable[float], kept: float) -> float | None:
    """The mean of the smallest values, of which this share is kept; None of no values."""
    ordered = sorted(values)
    count = max(1, int(kept * len(ordered) + 0.5))
    return statistics.fmean(ordered[:count]) if ordered else None


class Judge:
    """Processes one interval after the other, and decides when the test ends."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.intervals: list[Interval] = []
        self._goodputs: list[float] = []
        self._scores: list[float] = []
        self._saturated = False
        self._stable = False

    @property
    def is_over(self) -> bool:
        """Goodput and responsiveness are both stable."""
        return self._stable

    @property
    def goodput_bps(self) -> float:
        """The moving average of the goodput."""
        return self._goodputs[-1] if self._goodputs else 0.0

    def add(self, interval: Interval) -> None:
        """The interval that has just ended."""
        self.intervals.append(interval)
        self._goodputs.append(statistics.fmean(each.goodput_bps for each in self._recent()))
        if not self._saturated:
            self._saturated = self._is_steady(self._goodputs)
            return
        score = self._score()[0]
        if score is not None:
            self._scores.append(score)
            self._stable = self._is_steady(self._scores)

    def result(self) -> Responsiveness:
        """The result so far."""
        rpm, foreign, loaded, parts = self._score()
        tcp, tls, http, own = parts
        return Responsiveness(
            *(rpm, foreign, loaded, tcp, tls, http, own, self.goodput_bps, len(self.intervals)),
            capacity=self._confidence(self._saturated, self._goodputs),
            confidence=self._confidence(self._stable, self._scores),
        )

    def _recent(self) -> Sequence[Interval]:
        return self.intervals[-self.parameters.distance :]

    def _is_steady(self, averages: Sequence[float]) -> bool:
        distance = self.parameters.distance
        if len(averages) < distance:
            return False
        return statistics.pstdev(averages[-distance:]) < self.parameters.tolerance * averages[-1]

    def _confidence(self, reached: bool, averages: Sequence[float]) -> Confidence:
        if reached:
            return Confidence.HIGH
        return Confidence.MEDIUM if len(averages) >= self.parameters.distance else Confidence.LOW

    def _score(self) -> tuple[float | None, float | None, float | None, tuple[float | None, ...]]:
        """Round trips per minute of the last intervals: all, foreign and loaded; and the parts."""
        names = ("tcp_ms", "tls_ms", "http_ms", "self_ms")
        recent = self._recent()
        parts = tuple(
            trimmed_mean((value for each in recent for value in getattr(each, name)), self.parameters.kept)
            for name in names
        )
        tcp, tls, http, own = parts
        foreign = None
        if tcp is not None and http is not None:
            # Without TLS the two remaining parts have equal weights.
            foreign = MINUTE_MS / statistics.fmean(part for part in (tcp, tls, http) if part is not None)
        loaded = None if own is None else MINUTE_MS / own
        rpm = None if foreign is None or loaded is None else (foreign + loaded) / 2
        return rpm, foreign, loaded, parts


def judge(intervals: Iterable[Interval], parameters: Parameters | None = None) -> Responsiveness:
    """The result of the test over these intervals. It ignores those after its end."""
    judged = Judge(parameters or Parameters())
    for interval in intervals:
        judged.add(interval)
        if judged.is_over:
            break
    return judged.result()
