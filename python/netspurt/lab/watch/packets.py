"""Rates of traffic in bins of time, from the packets of a capture."""

from __future__ import annotations

BIN_S = 0.25
"""The length of a bin of traffic in seconds."""


class Rates:
    """Sums of traffic in bins of ``BIN_S``: a bin is reported when the next one has begun, or at the end."""

    def __init__(self) -> None:
        self._begun: int | None = None
        self._sums: dict[int, list[int]] = {}
        self._sent = -1

    def add(self, at_ns: int, octets: int, inbound: bool) -> None:
        """Adds a packet."""
        self._begun = at_ns if self._begun is None else self._begun
        # A packet out of order in a bin that was reported is ignored.
        span = int((at_ns - self._begun) / 1e9 / BIN_S)
        self._sums.setdefault(span, [0, 0])[0 if inbound else 1] += octets

    def take(self, *, over: bool) -> dict[str, list[float]] | None:
        """``time_s`` since the first packet, ``in_bps`` and ``out_bps``, of the bins that are complete.

        Args:
            over: whether to report the last bin although it may be incomplete.
        """
        last = max(self._sums, default=-1) - (not over)
        if last <= self._sent:
            return None
        spans = range(self._sent + 1, last + 1)
        sums = [self._sums.pop(span, [0, 0]) for span in spans]
        self._sent = last
        return {
            "time_s": [BIN_S * (span + 0.5) for span in spans],
            "in_bps": [8 * each[0] / BIN_S for each in sums],
            "out_bps": [8 * each[1] / BIN_S for each in sums],
        }
