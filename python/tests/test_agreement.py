"""Our TCP on real devices against our TCP simulated, and the kernel's against what we take for it; else skipped.

A few transfers here; ``make agreement`` has twenty paths. A busy machine may spoil a try, not eight.
"""

from __future__ import annotations

import pytest

from netspurt.live.agreement import SIMULATED, Outcome, Sent, Transfer, compare, parting, rows
from netspurt.live.emulating import NotPossible
from netspurt.live.paths import Path

pytest.importorskip("netspurt._core")

TRIES = 8

SLOW = Path(rate_mbps=1, rtt_ms=2, queue=20, loss=0, octets=200_000, repeats=1)
"""A packet takes twelve milliseconds, and slow start overruns the queue. Losses by number would hit other segments: our
host acknowledges the SYN-ACK with its first data, the simulated one by itself.
"""

FULL = Path(rate_mbps=2, rtt_ms=20, queue=60, loss=0, octets=1_000_000, repeats=1)


def outcomes(path: Path, tcp: str, ends: str) -> list[Outcome]:
    """One try."""
    try:
        return compare([path], tcp, [ends])  # type: ignore[list-item]
    except NotPossible as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("tcp", ["newreno", "cubic"])
def test_our_tcp_sends_the_same_segments_on_real_devices_as_in_a_simulation(tcp: str) -> None:
    for _ in range(TRIES):
        found = outcomes(SLOW, tcp, "ours")
        partings = [parting(each.worlds[SIMULATED], each.worlds["ours"]) for each in found]
        if not any(partings):
            break
    assert partings == [None] * SLOW.repeats
    assert all(each.worlds["ours"].resent > 0 for each in found), "something was lost, and is compared"


def test_the_kernel_s_tcp_is_as_fast_as_the_profile_linux() -> None:
    for _ in range(TRIES):
        (row,) = rows(outcomes(FULL, "cubic", "kernel"), "kernel")
        if row.agrees(0.05):
            break
    assert row.agrees(0.05), row


def test_the_first_segment_that_differs_is_named() -> None:
    one = Transfer([Sent(0, 10, 0.0), Sent(10, 10, 0.1)], [Sent(20, 0, 0.2)], 0.2)
    assert parting(one, one) is None
    longer = Transfer([*one.data, Sent(10, 10, 0.5)], one.answers, 0.6)
    found = parting(one, longer)
    assert found is not None
    assert (found.way, found.number, found.at_s, found.one) == ("data", 2, 0.5, None)
    assert longer.resent == 1
    other = Transfer(one.data, [Sent(10, 0, 0.2)], 0.2)
    found = parting(one, other)
    assert found is not None
    assert (found.way, found.number) == ("answers", 0)
