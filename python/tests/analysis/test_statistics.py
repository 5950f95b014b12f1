"""Intervals against values worked out elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netspurt.analysis.statistics import bootstrap_interval, mean_interval, percentile_band, quantile_interval


def test_t_interval_of_a_textbook_sample() -> None:
    # n = 5, mean 3, s = sqrt(2.5), t(4; 0.975) = 2.776445: 3 ± 1.963243.
    estimate = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert estimate.mean == 3.0
    assert estimate.low == pytest.approx(1.036757, abs=1e-6)
    assert estimate.high == pytest.approx(4.963243, abs=1e-6)


def test_one_value_has_a_mean_and_no_interval() -> None:
    assert mean_interval([7.0]).interval is None
    assert mean_interval([7.0]).mean == 7.0


def test_no_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval([])
    with pytest.raises(ValueError, match="at least one value"):
        percentile_band([])


def test_a_confidence_must_be_a_probability() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        mean_interval([1.0, 2.0], confidence=95)


def test_percentiles_interpolate_between_order_statistics() -> None:
    assert percentile_band([float(n) for n in range(101)]) == (5.0, 95.0)
    assert percentile_band([0.0, 10.0], 25, 75) == (2.5, 7.5)


def test_bootstrap_repeats_itself_and_covers_the_mean() -> None:
    values = [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    low, high = bootstrap_interval(values)
    assert low < 0.8 < high
    assert (low, high) == bootstrap_interval(values)


def test_bootstrap_of_equal_values_is_a_point() -> None:
    assert bootstrap_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("count", "percent", "ranks"),
    [
        # Tables of distribution-free intervals for the median, 95 %.
        (6, 50, (1, 6)),
        (10, 50, (2, 9)),
        (20, 50, (6, 15)),
        (50, 50, (18, 33)),
        (5, 50, None),
        # P(B <= 89) = 0.0115 and P(B <= 90) = 0.0282; P(B >= 99) = 0.0371 and P(B >= 100) = 0.0059.
        (100, 95, (90, 100)),
    ],
)
def test_a_percentile_lies_between_two_order_statistics(
    count: int, percent: float, ranks: tuple[int, int] | None
) -> None:
    found = quantile_interval([float(rank) for rank in range(count, 0, -1)], percent)
    assert found.interval == (None if ranks is None else tuple(map(float, ranks)))


def test_the_interval_of_a_percentile_covers_as_often_as_it_says() -> None:
    chance = np.random.default_rng(3)
    true = -math.log(0.1)
    covered = 0
    for _ in range(1000):
        found = quantile_interval(chance.exponential(1.0, 60), 90).interval
        covered += found is not None and found[0] <= true <= found[1]
    assert covered >= 950 - 3 * math.sqrt(1000 * 0.95 * 0.05)
