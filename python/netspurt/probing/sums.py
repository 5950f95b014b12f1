"""Running sums over the prober's rows, in constant memory.

Lives here: counts, means and percentiles. Must not live here: probing, or display.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netspurt.probing.prober import EXTRAS, FATES, Host

if TYPE_CHECKING:
    import polars as pl

BINS_PER_OCTAVE = 128
"""Bins of RTTs: percentiles are within 0.3 %."""

OCTAVES = 28
"""From 1 us to 268 s."""


@dataclass
class HostSums:
    """The statistics of one host so far, in constant memory."""

    host: Host
    events: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*FATES, *EXTRAS), 0))
    bins: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(OCTAVES * BINS_PER_OCTAVE, dtype=np.int64)
    )
    min_ms: float = float("inf")
    max_ms: float = float("-inf")
    mean_ms: float = 0.0
    squares: float = 0.0

    def add(self, rows: pl.DataFrame) -> None:
        """Adds rows of this host."""
        for event, count in rows["event"].value_counts().iter_rows():
            self.events[event] += count
        rtts = rows.filter(event="reply")["rtt_ms"].to_numpy()
        if rtts.size == 0:
            return
        before, after = self.events["reply"] - rtts.size, self.events["reply"]
        # Chan, Golub and LeVeque 1983: combines mean and squares of two parts.
        gap = float(rtts.mean()) - self.mean_ms
        self.squares += float(((rtts - rtts.mean()) ** 2).sum()) + gap**2 * before * rtts.size / after
        self.mean_ms += gap * rtts.size / after
        self.min_ms, self.max_ms = min(self.min_ms, float(rtts.min())), max(self.max_ms, float(rtts.max()))
        places = np.log2(np.maximum(1e3 * rtts, 1.0)) * BINS_PER_OCTAVE
        self.bins += np.bincount(
            np.minimum(places.astype(np.int64), self.bins.size - 1), minlength=self.bins.size
        )

    def quantile_ms(self, share: float) -> float | None:
        """The quantile of the RTTs at this share, within 0.3 %."""
        count = int(self.bins.sum())
        if count == 0:
            return None
        place = int(np.searchsorted(np.cumsum(self.bins), round(share * (count - 1)), side="right"))
        return float(np.clip(2.0 ** ((place + 0.5) / BINS_PER_OCTAVE) / 1e3, self.min_ms, self.max_ms))

    @property
    def over(self) -> int:
        """The number of packets whose fate is known."""
        return sum(self.events[fate] for fate in FATES)

    def summary(self) -> dict[str, Any]:
        """Counts by event (``unanswered``: all fates except "reply"), and RTTs in milliseconds (or None)."""
        replies = self.events["reply"]
        known = replies > 0
        deviation = float(np.sqrt(self.squares / replies)) if known else 0.0
        return {
            "host": self.host.name,
            "address": self.host.address,
            "packets": self.over,
            "replies": replies,
            "unanswered": self.over - replies,
            **{event.replace("-", "_"): self.events[event] for event in (*FATES[1:], *EXTRAS)},
            "min_ms": self.min_ms if known else None,
            "mean_ms": self.mean_ms if known else None,
            "cov": deviation / self.mean_ms if known and self.mean_ms > 0 else None,
            "p50_ms": self.quantile_ms(0.5),
            "p95_ms": self.quantile_ms(0.95),
            "p99_ms": self.quantile_ms(0.99),
            "max_ms": self.max_ms if known else None,
        }


class Sums:
    """Running sums over all hosts, in the order in which they were named."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts = [HostSums(host) for host in hosts]

    def add(self, rows: pl.DataFrame) -> None:
        """Adds new rows."""
        for each in self.hosts:
            part = rows.filter(host=each.host.name, address=each.host.address)
            if part.height:
                each.add(part)
