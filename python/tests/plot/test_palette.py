"""Colours by name."""

from __future__ import annotations

from netspurt.plot.palette import LIMITS, mixed


def test_no_two_limits_have_the_same_colour() -> None:
    assert len(set(LIMITS.values())) == len(LIMITS)


def test_a_share_of_white_lightens_a_colour() -> None:
    assert [mixed("#000000", white) for white in (0.0, 0.5, 1.0)] == ["#000000", "#808080", "#ffffff"]
