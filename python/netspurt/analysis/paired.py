"""Is B different from A? Paired comparison of runs with the same seeds.

Lives here: the statistics of pairs, and the sentence that states the result. Must not live here: the source of the
numbers.

With common random numbers, the two runs of a seed share their random events: losses, arrivals, phases of timers. Their
difference contains only the effect of the change. So a difference can be significant although the two samples overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from netspurt.analysis import formats
from netspurt.analysis.statistics import Column, bootstrap_interval, mean_interval

Verdict = Literal["same", "distinguishable", "unclear", "not distinguishable", "too few"]

FEWEST_FOR_BOOTSTRAP = 5
"""With fewer pairs, a bootstrap is not meaningful."""


@dataclass(frozen=True)
class Paired:
    """B minus A over pairs, in the unit of the values.

    Attributes:
        count: number of pairs.
        mean_a: mean of A.
        mean_b: mean of B.
        difference: mean of B minus A.
        low: lower end of its interval by Student's t; None for fewer than two pairs.
        high: upper end.
        bootstrap: its BCa bootstrap interval, which assumes no normality; None for fewer than five pairs.
        effect: Cohen's d for pairs, the mean difference over its standard deviation; None without variation.
        larger: share of pairs in which B is larger, ties counting half.
        p: p-value of the paired t-test; None without variation.
        verdict: "same": no pair differs. "distinguishable": both intervals exclude 0. "unclear": only one of them
            does. "not distinguishable": neither does. "too few": a single pair differs.
    """

    count: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None
    high: float | None
    bootstrap: tuple[float, float] | None
    effect: float | None
    larger: float
    p: float | None
    confidence: float
    verdict: Verdict

    @property
    def relative(self) -> float | None:
        """The difference as a fraction of A's mean; None if that mean is 0."""
        return self.difference / abs(self.mean_a) if self.mean_a else None

    @property
    def is_constant(self) -> bool:
        """Whether all of two or more pairs differ by the same: their interval has no width."""
        return self.effect is None and self.difference != 0 and self.count > 1

    @property
    def size(self) -> str:
        """The effect size in Cohen's terms (1988): negligible, small, medium, large."""
        if self.effect is None:
            return "constant" if self.difference else "none"
        for bound, word in ((0.2, "negligible"), (0.5, "small"), (0.8, "medium")):
            if abs(self.effect) < bound:
                return word
        return "large"


def paired(a: Column, b: Column, confidence: float = 0.95) -> Paired:
    """Compares pairs: ``a[i]`` and ``b[i]`` have the same seed.

    Args:
        a: shape (n,), n >= 1, finite.
        b: the same length as ``a``.
        confidence: confidence of the intervals, between 0 and 1.

    Raises:
        ValueError: no pairs, columns of unequal length, or values that are not finite.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or first.size == 0:
        raise ValueError("a paired comparison needs two columns of the same length, and at least one pair")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a paired comparison needs finite values: leave out pairs without a value")
    less = second - first
    estimate = mean_interval(less, confidence)
    resampled = bootstrap_interval(less, confidence=confidence) if less.size >= FEWEST_FOR_BOOTSTRAP else None
    spread = float(less.std(ddof=1)) if less.size > 1 else 0.0
    varies = spread > 1e-12 * max(float(np.abs(less).max()), float(np.abs(first).max()))
    return Paired(
        count=int(less.size),
        mean_a=float(first.mean()),
        mean_b=float(second.mean()),
        difference=estimate.mean,
        low=estimate.low,
        high=estimate.high,
        bootstrap=resampled,
        effect=estimate.mean / spread if varies else None,
        larger=float(np.mean(less > 0) + np.mean(less == 0) / 2),
        p=_t_test(first, second) if varies else None,
        confidence=confidence,
        verdict=_verdict(bool((less == 0).all()), [estimate.interval, resampled]),
    )


def _t_test(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """The p-value of Student's paired t-test."""
    from scipy.stats import ttest_rel

    return float(ttest_rel(second, first).pvalue)


def _verdict(same: bool, intervals: list[tuple[float, float] | None]) -> Verdict:
    if same:
        return "same"
    known = [interval for interval in intervals if interval is not None]
    if not known:
        return "too few"
    leave_out = [low > 0 or high < 0 for low, high in known]
    if all(leave_out):
        return "distinguishable"
    return "unclear" if any(leave_out) else "not distinguishable"


def sentence(
    pairs: Paired,
    quantity: str,
    first: str = "A",
    second: str = "B",
    form: Callable[[float], str] = formats.plain,
) -> str:
    """The result of a comparison as a sentence without statistical terms.

    Args:
        pairs: the comparison.
        quantity: its name.
        first: the name of A.
        second: the name of B.
        form: a value as text, with its unit.
    """
    runs = f"{pairs.count} pairs of runs" if pairs.count > 1 else "1 pair of runs"
    if pairs.verdict == "same":
        return f"{quantity}: the same in all of {runs}."
    change = _change(pairs, first, form)
    if pairs.verdict == "too few":
        return f"{quantity}: {second} is {change}, in 1 pair of runs; one pair cannot exclude chance."
    if pairs.is_constant:
        return f"{quantity}: {second} is {change}, by {form(abs(pairs.difference))} in each of {runs}."
    low, high = form(float(pairs.low or 0.0)), form(float(pairs.high or 0.0))
    band = f"{100 * pairs.confidence:g} % interval of the difference {low} to {high}, {runs}"
    if pairs.verdict == "distinguishable":
        return f"{quantity}: {second} is {change}, distinguishable from chance ({band}; {_effect(pairs)})."
    if pairs.verdict == "unclear":
        return (
            f"{quantity}: {second} is {change}, perhaps by chance: the two intervals disagree ({band}); "
            "run more seeds."
        )
    return f"{quantity}: no difference distinguishable from chance ({band})."


def _change(pairs: Paired, first: str, form: Callable[[float], str]) -> str:
    way = "larger" if pairs.difference > 0 else "smaller"
    if pairs.relative is None:
        return f"{way} than {first} by {form(abs(pairs.difference))}"
    return f"{way} than {first} by {formats.percent(abs(pairs.relative)).lstrip('+')}"


def _effect(pairs: Paired) -> str:
    cohens_d = "" if pairs.effect is None else f", d = {formats.plain(pairs.effect, 2)}"
    return f"effect {pairs.size}{cohens_d}, larger in {100 * pairs.larger:.0f} % of pairs"
