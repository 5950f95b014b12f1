"""Differences of windows and of TCP_INFO from the kernel: when they are compared."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from against_kernel.compare import difference as compared
from against_kernel.kernel import Run
from against_kernel.packets import ACK, Segment, Sent
from against_kernel.scripts import MS
from against_kernel.tcp_info import LENGTH, PLACES
from played_scripts import data, run


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


def test_the_recovery_of_a_closed_connection_is_not_compared() -> None:
    def played(state: int, recovery: int) -> Run:
        made = run([], [])
        info = bytearray(LENGTH)
        for name, value in (("state", state), ("ca_state", recovery)):
            struct.pack_into(PLACES[name][0], info, PLACES[name][1], value)
        made.played.info = bytes(info)
        return made

    for state, kind in ((1, "info: ca_state"), (7, None)):
        one = compared(played(state, 4), played(state, 0).played, 4 * MS)
        assert (one and one.kind) == kind
