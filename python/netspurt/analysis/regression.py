"""Delay against length: one or two straight lines, as in RFC 889, section 2.

Lives here: regression of plain columns. Must not live here: files, plots, or the definition of a path.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Method = Literal["least squares", "theil-sen"]

CONFIDENCE = 0.95

FEWEST = 4
"""The least number of points of a line."""

MOST_PAIRS_OF = 2000
"""Theil–Sen uses every pair of points; above this number it uses a fixed sample of them."""

CLIPPED = 0.95
"""The search for a split treats residuals beyond this quantile as glitches, and limits them to it."""


@dataclass(frozen=True)
class Line:
    """A straight line, delay = intercept + slope · length, in seconds and bytes, over lengths ``low`` … ``high``.

    ``slope_interval`` is the 95 % interval of the slope. ``mean_octets``, ``error`` and ``spread`` give the interval of
    the line itself for least squares; for Theil–Sen they are NaN.
    """

    method: Method
    low: float
    high: float
    intercept: float
    slope: float
    slope_interval: tuple[float, float]
    count: int
    mean_octets: float = float("nan")
    error: float = float("nan")
    spread: float = float("nan")

    def at(self, octets: float) -> float:
        """The line's delay in seconds."""
        return self.intercept + self.slope * octets

    def interval_at(self, octets: float) -> tuple[float, float]:
        """The 95 % interval of the line at a length; NaN if the method gives none."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.count - 2, 0.5 + CONFIDENCE / 2)) * self.error
        reach *= float(np.sqrt(1.0 / self.count + (octets - self.mean_octets) ** 2 / self.spread))
        return self.at(octets) - reach, self.at(octets) + reach

    @property
    def rate_bps(self) -> float:
        """RFC 889's rate: 8 · ΔL / ΔD. Infinite for a flat or falling line."""
        return 8.0 / self.slope if self.slope > 0 else float("inf")

    @property
    def rate_interval_bps(self) -> tuple[float, float]:
        """Its 95 % interval."""
        low, high = self.slope_interval
        return (8.0 / high if high > 0 else float("inf"), 8.0 / low if low > 0 else float("inf"))


@dataclass(frozen=True)
class Characteristic:
    """One line or two; the second for lengths from ``split`` on. ``found`` is true if the split was searched for."""

    lines: tuple[Line, ...]
    split: int | None
    found: bool = False


def line(octets: Floats, delay_s: Floats, method: Method = "least squares") -> Line | None:
    """Fits one line; None for fewer than four points, or if all lengths are equal.

    Args:
        octets: shape (n,).
        delay_s: shape (n,), without NaN.
        method: least squares, or the median slope of all pairs (Theil 1950, Sen 1968), which is robust to glitches.
    """
    if octets.size < FEWEST or np.ptp(octets) == 0:
        return None
    low, high = float(octets.min()), float(octets.max())
    if method == "theil-sen":
        return _theil_sen(octets, delay_s, low, high)
    from scipy.special import stdtrit

    mean = float(octets.mean())
    spread = float(((octets - mean) ** 2).sum())
    slope = float(((octets - mean) * (delay_s - delay_s.mean())).sum()) / spread
    intercept = float(delay_s.mean()) - slope * mean
    residuals = delay_s - intercept - slope * octets
    error = float(np.sqrt((residuals**2).sum() / (octets.size - 2)))
    reach = float(stdtrit(octets.size - 2, 0.5 + CONFIDENCE / 2)) * error / float(np.sqrt(spread))
    interval = (slope - reach, slope + reach)
    return Line("least squares", low, high, intercept, slope, interval, int(octets.size), mean, error, spread)


def _theil_sen(octets: Floats, delay_s: Floats, low: float, high: float) -> Line:
    from scipy.stats import theilslopes

    if octets.size > MOST_PAIRS_OF:
        chosen = np.random.default_rng(1).choice(octets.size, MOST_PAIRS_OF, replace=False)
        octets, delay_s = octets[chosen], delay_s[chosen]
    fit = theilslopes(delay_s, octets, CONFIDENCE, method="joint")
    interval = (float(fit.low_slope), float(fit.high_slope))
    return Line("theil-sen", low, high, float(fit.intercept), float(fit.slope), interval, int(octets.size))


def characteristic(
    octets: Floats,
    delay_s: Floats,
    split: int | Literal["auto"] | None = None,
    method: Method = "least squares",
) -> Characteristic | None:
    """Fits one line, or two if a split is given or found; None without enough points.

    Args:
        octets: lengths in bytes, shape (n,), NaN where unknown.
        delay_s: shape (n,), NaN where lost.
        split: the first length of the second line; ``"auto"`` searches for one and accepts it only if two lines explain
            the delays better than one by Schwarz's criterion.
        method: as for ``line``.
    """
    known = ~(np.isnan(octets) | np.isnan(delay_s))
    octets, delay_s = octets[known], delay_s[known]
    at = find_split(octets, delay_s) if split == "auto" else split
    if at is not None:
        parts = [line(octets[side], delay_s[side], method) for side in (octets < at, octets >= at)]
        short, long = parts
        if short is not None and long is not None:
            return Characteristic((short, long), at, split == "auto")
        if split != "auto":
            return None
    whole = line(octets, delay_s, method)
    return None if whole is None else Characteristic((whole,), None, split == "auto")


def find_split(octets: Floats, delay_s: Floats) -> int | None:
    """The first length of a second line, or None if one line is as good (Schwarz's criterion, BIC).

    Glitches are limited first; otherwise a few of them would decide.
    """
    whole = line(octets, delay_s)
    if whole is None:
        return None
    residuals = delay_s - whole.intercept - whole.slope * octets
    limit = np.quantile(residuals, CLIPPED)
    order = np.argsort(octets, kind="stable")
    x = octets[order]
    y = (delay_s - np.maximum(residuals - limit, 0.0))[order]
    left, right = _squares_before(x, y), _squares_before(x[::-1], y[::-1])[::-1]
    # A split precedes the first of equal lengths, and leaves each line enough points.
    edges = np.flatnonzero(np.diff(x) > 0) + 1
    edges = edges[(edges >= FEWEST) & (edges <= x.size - FEWEST)]
    if edges.size == 0:
        return None
    both = left[edges - 1] + right[edges]
    best = int(edges[int(both.argmin())])
    one, two, n = float(left[-1]), float(both.min()), x.size
    tiny = 1e-12 * float((y**2).sum())
    gain = n * np.log((one + tiny) / (two + tiny))
    # Three additional parameters: slope, intercept, and the split.
    return int(x[best]) if gain > 3 * np.log(n) else None


def _squares_before(x: Floats, y: Floats) -> Floats:
    """The sum of squared residuals of the line through the first 1, 2, … n points; shape (n,)."""
    x, y = x - x.mean(), y - y.mean()
    n = np.arange(1, x.size + 1)
    sx, sy = np.cumsum(x), np.cumsum(y)
    xx, xy, yy = np.cumsum(x * x) - sx**2 / n, np.cumsum(x * y) - sx * sy / n, np.cumsum(y * y) - sy**2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(xx > 1e-9, xy**2 / np.maximum(xx, 1e-9), 0.0)
    return np.asarray(np.maximum(yy - explained, 0.0))


@dataclass(frozen=True)
class LossBin:
    """Packets and losses in a range of lengths, with the 95 % interval of the loss rate (Wilson 1927)."""

    low: int
    high: int
    packets: int
    lost: int
    interval: tuple[float, float]


def loss_by_length(octets: Floats, lost: npt.NDArray[np.bool_], bins: int = 4) -> list[LossBin]:
    """Loss in ranges of length with about equally many packets.

    Args:
        octets: lengths in bytes, shape (n,); NaN (unknown) is ignored.
        lost: shape (n,).
        bins: maximal number of ranges.
    """
    known = ~np.isnan(octets)
    octets, lost = octets[known], lost[known]
    if octets.size == 0:
        return []
    edges = np.unique(np.quantile(octets, np.linspace(0, 1, bins + 1)).round())
    if edges.size == 1:
        edges = np.array([edges[0], edges[0] + 1])
    found = []
    for place, (low, high) in enumerate(itertools.pairwise(edges)):
        last = place == edges.size - 2
        inside = (octets >= low) & ((octets <= high) if last else (octets < high))
        packets, gone = int(inside.sum()), int((inside & lost).sum())
        if packets:
            end = int(octets[inside].max())
            found.append(LossBin(int(low), end, packets, gone, _wilson(gone, packets)))
    return found


def _wilson(hits: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (1927)."""
    from scipy.stats import binomtest

    interval = binomtest(hits, count).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)
