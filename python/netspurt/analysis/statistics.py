"""Means, intervals and bands over seeds.

Lives here: statistics of plain columns of numbers. Must not live here: knowledge of a study.
The functions import scipy themselves, because most commands never need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Column = Sequence[float] | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval, in the unit of the values.

    ``low`` and ``high`` are ``None`` for fewer than two values.
    """

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """``(low, high)``, or ``None`` if there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low, self.high


def mean_interval(values: Column, confidence: float = 0.95) -> Estimate:
    """The mean of independent values with Student's t interval.

    Args:
        values: one number for each seed, shape (n,), n >= 1.
        confidence: probability that the interval covers the mean, between 0 and 1.

    Raises:
        ValueError: no values, or a confidence outside (0, 1).
    """
    from scipy.special import stdtrit

    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0:
        raise ValueError("an interval needs at least one value")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"the confidence must lie between 0 and 1, not at {confidence}")
    mean = float(numbers.mean())
    if numbers.size == 1:
        return Estimate(mean, None, None, 1)
    error = float(numbers.std(ddof=1)) / float(np.sqrt(numbers.size))
    reach = float(stdtrit(numbers.size - 1, 0.5 + confidence / 2.0)) * error
    return Estimate(mean, mean - reach, mean + reach, int(numbers.size))


def percentile_band(values: Column, low: float = 5.0, high: float = 95.0) -> tuple[float, float]:
    """The range of the middle values, by linear interpolation between order statistics.

    Args:
        values: shape (n,), n >= 1.
        low: lower percentile, 0 to 100.
        high: upper percentile, 0 to 100.

    Raises:
        ValueError: no values.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0:
        raise ValueError("a band needs at least one value")
    lower, upper = np.percentile(numbers, [low, high])
    return float(lower), float(upper)


def bootstrap_interval(
    values: Column,
    statistic: Callable[..., float] = np.mean,
    confidence: float = 0.95,
    seed: int = 1,
    resamples: int = 2000,
) -> tuple[float, float]:
    """The BCa bootstrap interval of a statistic (Efron 1987), which assumes no normality.

    Args:
        values: shape (n,), n >= 2 and not all equal.
        statistic: a function of an array and an ``axis``.
        confidence: between 0 and 1.
        seed: seed of the resampling, so that the result is reproducible.
        resamples: number of resamples.

    Raises:
        ValueError: fewer than two values.
    """
    from scipy.stats import bootstrap

    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size < 2:
        raise ValueError("a bootstrap needs at least two values")
    if np.all(numbers == numbers[0]):
        return float(numbers[0]), float(numbers[0])
    result = bootstrap(
        (numbers,),
        statistic,
        confidence_level=confidence,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
        method="BCa",
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


@dataclass(frozen=True)
class Quantile:
    """A quantile with a distribution-free confidence interval.

    ``low`` and ``high`` are ``None`` if there are too few values for the confidence.
    """

    value: float
    low: float | None
    high: float | None
    count: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """``(low, high)``, or ``None`` if there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def quantile_interval(values: Column, percent: float, confidence: float = 0.95) -> Quantile:
    """A percentile, and the two order statistics that enclose the true one.

    The number of values below the true quantile is binomial. The interval is the narrowest pair of ranks that
    leaves at most half of the error probability on either side (David and Nagaraja, Order Statistics, 7.1). So its
    coverage is at least ``confidence``.

    Args:
        values: independent, shape (n,), n >= 1.
        percent: above 0 and below 100; 50 is the median.
        confidence: between 0 and 1.

    Raises:
        ValueError: no values, or a percentage or a confidence out of range.
    """
    from scipy.stats import binom

    numbers = np.sort(np.asarray(values, dtype=np.float64))
    count = int(numbers.size)
    if count == 0:
        raise ValueError("an interval needs at least one value")
    if not 0.0 < percent < 100.0:
        raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"the confidence must lie between 0 and 1, not at {confidence}")
    value = float(np.percentile(numbers, percent))
    tail = (1.0 - confidence) / 2.0
    below = binom.cdf(np.arange(count + 1), count, percent / 100.0)
    # Rank r, from 1, is above the quantile with probability P(B <= r - 1), and below it with P(B >= r).
    lower = int(np.searchsorted(below, tail, side="right"))
    upper = int(np.searchsorted(below, 1.0 - tail, side="left")) + 1
    if lower < 1 or upper > count:
        return Quantile(value, None, None, count)
    return Quantile(value, float(numbers[lower - 1]), float(numbers[upper - 1]), count)
