"""Where two transfers first differ, and the cause that this has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netspurt.emulation.divergence import CAUSES, first_divergence
from netspurt.emulation.paths import Path, lanes, scenario
from netspurt.emulation.transfers import Seen, Transfer, simulated

pytest.importorskip("netspurt._core")

DELAY_S = 0.02
WHOLE = Transfer(
    data=[Seen(0, 10, 0.0), Seen(10, 10, 0.1), Seen(20, 10, 0.2)],
    arrived=[Seen(0, 10, 0.02), Seen(10, 10, 0.12), Seen(20, 10, 0.22)],
    answers=[Seen(10, 0, 0.03), Seen(20, 0, 0.13), Seen(30, 0, 0.23)],
    returned=[Seen(10, 0, 0.05), Seen(20, 0, 0.15), Seen(30, 0, 0.25)],
    seconds=0.25,
)


def test_equal_segments_at_other_times_are_no_difference() -> None:
    later = [replace_time(segment, 0.01) for segment in WHOLE.data]
    assert first_divergence(WHOLE, WHOLE) is None
    assert first_divergence(WHOLE, replace(WHOLE, data=later)) is None


def replace_time(segment: Seen, by_s: float) -> Seen:
    """The segment, later."""
    return segment._replace(at_s=segment.at_s + by_s)


def test_a_segment_that_the_network_drops_is_the_cause_of_all_that_follows() -> None:
    gap = [WHOLE.answers[0], Seen(10, 0, 0.23, (20, 30)), Seen(30, 0, 0.45)]
    other = Transfer(
        data=[*WHOLE.data, Seen(10, 10, 0.4)],
        arrived=[WHOLE.arrived[0], WHOLE.arrived[2], Seen(10, 10, 0.42)],
        answers=gap,
        returned=[replace_time(segment, DELAY_S) for segment in gap],
        seconds=0.47,
    )
    found = first_divergence(WHOLE, other)
    assert found is not None
    assert (found.stream, found.number, found.at_s) == ("arrived", 1, 0.12)
    assert (found.one, found.other) == (WHOLE.arrived[1], WHOLE.arrived[2])
    assert "network drops" in found.cause
    assert other.resent == 1


def test_an_end_that_answers_the_same_segments_in_another_way_is_the_cause() -> None:
    late = replace_time(WHOLE.data[1], 0.004)
    other = replace(
        WHOLE, data=[WHOLE.data[0], late, Seen(20, 5, 0.2)], arrived=[*WHOLE.arrived[:2], Seen(20, 5, 0.22)]
    )
    found = first_divergence(WHOLE, other)
    assert found is not None
    assert (found.stream, found.number, found.other) == ("data", 2, Seen(20, 5, 0.2))
    assert found.apart_s == pytest.approx(0.004)
    fewer = replace(WHOLE, answers=WHOLE.answers[1:], returned=WHOLE.returned[1:])
    found = first_divergence(WHOLE, fewer)
    assert found is not None
    assert (found.stream, found.number) == ("answers", 0)


def test_sack_blocks_count_and_an_ack_that_is_lost_is_the_networks() -> None:
    other = replace(WHOLE, returned=WHOLE.returned[:2])
    found = first_divergence(WHOLE, other)
    assert found is not None
    assert (found.stream, found.one, found.other) == ("returned", WHOLE.returned[2], None)
    blocks = [WHOLE.answers[0]._replace(block=(20, 30)), *WHOLE.answers[1:]]
    found = first_divergence(WHOLE, replace(WHOLE, answers=blocks))
    assert found is not None
    assert found.stream == "answers"


def test_a_queue_that_holds_one_packet_less_shows_as_the_first_difference() -> None:
    path = Path(rate_mbps=1, rtt_ms=30, queue=12, loss=0, octets=200_000, repeats=1)
    batch = lanes([path], "reno")
    (whole,) = simulated(scenario(batch), batch, 1)
    assert all(getattr(whole, stream) for stream in CAUSES)
    (less,) = simulated(scenario(lanes([replace(path, queue=11)], "reno")), batch, 1)
    found = first_divergence(whole, less)
    assert found is not None
    assert found.stream == "arrived"
    assert found.apart_s == 0.0
