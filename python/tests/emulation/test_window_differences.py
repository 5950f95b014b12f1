"""Differences of windows from the kernel: when they are compared, and which causes explain them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from against_kernel.compare import Difference
from against_kernel.compare import difference as compared
from against_kernel.kernel import Run
from against_kernel.known import reason
from against_kernel.packets import ACK, FIN, Segment, Sent
from against_kernel.scripts import MS, Call
from played_scripts import data, run

COPIED = "the capture holds a copy of the packet that fills a gap"
FIN_OPENS = "a FIN behind a gap opens the window"
KEPT = "a socket in TIME-WAIT keeps its window"


@pytest.mark.parametrize(
    ("arrivals", "windows", "expected"),
    [
        ([data(101, 50), data(1)], (500, 501), COPIED),
        ([data(101, 53), data(1)], (500, 501), None),
        ([data(1), data(101, 50)], (500, 501), None),
        ([data(102, 50), data(1)], (500, 501), None),
        ([data(101, 50), data(1)], (501, 500), None),
    ],
    ids=["there would be room", "no room", "in order", "the gap remains", "the kernel's is larger"],
)
def test_a_packet_that_the_capture_holds_takes_no_data_of_others(
    arrivals: list[Segment], windows: tuple[int, int], expected: str | None
) -> None:
    # A packet of 100 bytes fills 204 of 256.
    sent = [Sent(30 * MS, Segment(ACK, 1, 151, windows[0]))]
    played = run([((n + 1) * MS, one) for n, one in enumerate(arrivals)], sent)
    assert reason(played, Difference("window of ACK", 0, "", 30 * MS, *windows)) == expected
    assert reason(played, Difference("time of data", 0, "", 30 * MS, *windows)) is None


@pytest.mark.parametrize(
    ("second", "windows", "expected"),
    [
        (data(201, 0, ACK | FIN), (501, 500), FIN_OPENS),
        (data(201, 0, ACK | FIN), (500, 501), None),
        (data(201, 1, ACK | FIN), (501, 500), None),
        (data(201, 0), (501, 500), None),
    ],
    ids=["behind a gap", "the kernel's is smaller", "with data", "no FIN"],
)
def test_a_bare_fin_opens_the_window_only_behind_a_gap(
    second: Segment, windows: tuple[int, int], expected: str | None
) -> None:
    sent = [Sent(30 * MS, Segment(ACK, 1, 1, windows[0]))]
    difference = Difference("window of ACK", 0, "", 30 * MS, *windows)
    assert reason(run([(10 * MS, data(101)), (20 * MS, second)], sent), difference) == expected
    # The same in order.
    played = run([(5 * MS, data(1)), (10 * MS, data(101)), (20 * MS, second)], sent)
    assert reason(played, difference) is None


@pytest.mark.parametrize(
    ("call", "flags", "kernel", "expected"),
    [
        ("close", ACK | FIN, 501, KEPT),
        ("shutdown", ACK | FIN, 501, None),
        ("close", ACK, 501, None),
        ("close", ACK | FIN, 502, None),
    ],
    ids=["closed", "not closed", "no FIN", "by more than a unit"],
)
def test_only_the_ack_of_a_fin_of_a_closed_socket_keeps_the_window(
    call: str, flags: int, kernel: int, expected: str | None
) -> None:
    played = run([(20 * MS, data(1, 0, flags))], [Sent(20 * MS + 1000, Segment(ACK, 2, 2, kernel))])
    played.happened.insert(0, (10 * MS, Call(10 * MS, call, ())))
    difference = Difference("window of ACK", 0, "", 20 * MS, kernel, 500)
    assert reason(played, difference) == expected


def test_windows_are_compared_where_all_else_agrees() -> None:
    def played(windows: list[int], length: int) -> Run:
        sent = [Sent(n * MS, Segment(ACK, 1, 1, window)) for n, window in enumerate(windows)]
        return run([], [*sent, Sent(9 * MS, data(1, length))])

    def found(ours: Run) -> tuple[str, int, int] | None:
        one = compared(played([500, 501], 100), ours.played, 4 * MS)
        return one and (one.kind, one.kernel, one.ours)

    assert found(played([500, 501], 100)) is None
    assert found(played([500, 499], 100)) == ("window of ACK", 501, 499)
    assert found(played([500, 499], 99)) == ("length of data", 0, 0)
