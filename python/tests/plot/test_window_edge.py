"""The time–sequence graph where the window is far larger than the data in flight."""

from __future__ import annotations

import pytest
from scenarios import SCENARIO

import netspurt as ns

SMALL = SCENARIO.replace("1 MiB", "64 KiB")
LARGE = SMALL.replace('receive_window = "64 KiB"', 'receive_window = "6 MiB"')


def test_the_graph_ends_above_the_data_where_the_edge_of_the_window_is_far() -> None:
    scenario = ns.parse(LARGE).set({"tcp.initial_receive_window": "6 MiB"})
    chart = ns.plot.time_sequence_chart(scenario)
    assert chart.y.top == pytest.approx(1.1 * 64, rel=1e-3)
    assert "The edge lies far above" in chart.caption
    assert chart.draw().axes[0].get_ylim()[1] == pytest.approx(1.1 * 64, rel=1e-3)


def test_the_edge_of_a_window_that_may_limit_is_inside() -> None:
    chart = ns.plot.time_sequence_chart(ns.parse(SMALL))
    assert chart.y.top is None
    assert "far above" not in chart.caption


def test_a_part_of_the_graph_has_its_own_upper_end() -> None:
    scenario = ns.parse(LARGE).set({"tcp.initial_receive_window": "6 MiB"})
    part = ns.plot.time_sequence_chart(scenario, end_s=0.05)
    assert part.y.top is not None
    assert part.y.top < 40
