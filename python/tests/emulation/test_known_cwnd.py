"""Known differences from the kernel in cwnd: pauses, and applications that send little."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from against_kernel.compare import Difference
from against_kernel.known import reason
from against_kernel.packets import ACK, Segment, Sent
from against_kernel.scripts import MS
from played_scripts import data, run

LITTLE = "cwnd of an application that sends little"
PAUSE = "a pause is as long as the timeout"


@pytest.mark.parametrize(
    ("pause", "kind", "expected"),
    [
        (230, "info: snd_cwnd", PAUSE),
        (230, "time of data", PAUSE),
        (465, "time of data", PAUSE),
        (250, "info: snd_cwnd", None),
        (230, "seq of ACK", None),
    ],
    ids=["cwnd", "what cwnd permits", "two timeouts", "a longer pause", "another field"],
)
def test_only_a_pause_of_about_a_timeout_depends_on_ticks(
    pause: int, kind: str, expected: str | None
) -> None:
    made = run([], [Sent(10 * MS, data(1)), Sent((10 + pause) * MS, data(101))])
    made.played.info = struct.pack("8xI276x", 228_000)
    assert reason(made, Difference(kind, 1, "", (10 + pause) * MS, 20, 10)) == expected


def test_a_pause_is_compared_with_the_timeout_at_its_end() -> None:
    made = run([], [Sent(10 * MS, data(1)), Sent(240 * MS, data(101))])
    made.played.info = struct.pack("8xI276x", 300_000)
    at_end = Difference("info: snd_cwnd", 1, "", 240 * MS, 20, 10, ((240 * MS, 228 * MS),))
    assert reason(made, at_end) == PAUSE
    assert reason(made, Difference("info: snd_cwnd", 1, "", 240 * MS, 20, 10)) is None


@pytest.mark.parametrize(("last", "expected"), [(1, LITTLE), (101, None)], ids=["sent again", "new"])
def test_a_lower_cwnd_of_the_kernel_is_the_threshold_of_a_timeout(last: int, expected: str | None) -> None:
    arrivals = [(10 * MS, data(1)), (290 * MS, Segment(ACK, 101, 1, 1000))]
    played = run(arrivals, [Sent(310 * MS, data(1)), Sent(600 * MS, data(last))])
    assert reason(played, Difference("info: snd_ssthresh", -1, "", 1000 * MS, 7, 10)) == expected


@pytest.mark.parametrize(
    ("later", "kernel", "acknowledged", "expected"),
    [(300, 8, 1, LITTLE), (100, 8, 1, None), (300, 12, 1, None), (300, 8, 2, None)],
    ids=["after a pause", "without a pause", "a larger window", "an ACK in between"],
)
def test_a_lower_cwnd_of_the_kernel_follows_a_pause_of_a_timeout(
    later: int, kernel: int, acknowledged: int, expected: str | None
) -> None:
    arrivals = [(10 * MS, data(1)), ((later - 10) * MS, Segment(ACK, 101, acknowledged, 1000))]
    played = run(arrivals, [Sent((10 + later) * MS, data(1))])
    assert reason(played, Difference("info: snd_cwnd", -1, "", 1000 * MS, kernel, 10)) == expected


def test_an_ack_before_the_window_does_not_show_that_cwnd_was_used() -> None:
    sent = [Sent(10 * MS, data(1)), Sent(20 * MS, Segment(ACK, 101, 11, 1000)), Sent(310 * MS, data(101))]
    acks = [(15 * MS, Segment(ACK, 1, 51, 1000)), (200 * MS, Segment(ACK, 1, 101, 1000))]
    difference = Difference("info: snd_cwnd", -1, "", 1000 * MS, 5, 10)
    assert reason(run(acks, sent), difference) == LITTLE
    acks[1] = (200 * MS, Segment(ACK, 11, 101, 1000))
    assert reason(run(acks, sent), difference) is None


@pytest.mark.parametrize(
    ("kind", "later", "between", "expected"),
    [
        ("time of data", 30, 101, LITTLE),
        ("time of data", 0, 101, None),
        ("seq of data", 30, 101, None),
        ("time of data", 30, 1, None),
    ],
    ids=["the kernel sends later", "ours sends later", "another difference", "after a recovery"],
)
def test_a_lower_cwnd_of_the_kernel_shows_in_data_that_it_sends_later(
    kind: str, later: int, between: int, expected: str | None
) -> None:
    arrivals = [
        (10 * MS, data(1)),
        (20 * MS, Segment(ACK, 101, 1, 1000)),
        (330 * MS, Segment(ACK, 101, 51, 1000)),
    ]
    sent = [Sent(310 * MS, data(1)), Sent(340 * MS, data(between)), Sent((350 + later) * MS, data(201))]
    assert reason(run(arrivals, sent), Difference(kind, 2, "", 350 * MS)) == expected
