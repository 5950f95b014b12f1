"""Our TCP on real devices against our TCP simulated, and the kernel's against what we take for it; else skipped.

A few transfers here; ``make agreement`` has twenty paths. Only a try that the machine has spoiled is repeated: a packet
or a program was late in it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netspurt.emulation.agreement import (
    Ends,
    Outcome,
    Row,
    compare,
    rows,
)
from netspurt.emulation.divergence import first_divergence
from netspurt.emulation.emulating import NotPossible
from netspurt.emulation.paths import Path, lanes, scenario
from netspurt.emulation.transfers import simulated

pytest.importorskip("netspurt._core")

TRIES = 3

SLOW = Path(rate_mbps=1, rtt_ms=30, queue=12, loss=0, octets=200_000, repeats=1)
"""A packet takes twelve milliseconds, and slow start overruns the queue. No timer expires just before or after an
arrival, where the order would be that of the machine. Losses by number would hit other segments: our host acknowledges
the SYN-ACK with its first data, the simulated one by itself.
"""

FULL = Path(rate_mbps=2, rtt_ms=20, queue=60, loss=0, octets=1_000_000, repeats=1)


def outcome(path: Path, tcp: str, ends: Ends, agrees: Callable[[Outcome], bool]) -> Outcome:
    """A try that agrees, or the first one that does not and cannot blame the machine."""
    for _ in range(TRIES):
        try:
            (found,) = compare([path], tcp, [ends])
        except NotPossible as reason:
            pytest.skip(str(reason))
        if agrees(found) or not found.spoiled(ends):
            return found
    pytest.skip(f"the machine was {found.latest_s[ends] * 1e3:.1f} ms late in the last of {TRIES} tries")


@pytest.mark.parametrize("tcp", ["reno", "cubic"])
def test_our_tcp_sends_the_same_segments_on_real_devices_as_in_a_simulation(tcp: str) -> None:
    found = outcome(SLOW, tcp, "ours", lambda found: found.divergence("ours") is None)
    assert found.divergence("ours") is None, found.latest_s
    assert found.worlds["ours"].resent > 0, "something was lost, and is compared"


@pytest.mark.parametrize("tcp", ["reno", "cubic"])
def test_a_millisecond_more_or_less_does_not_change_the_segments_of_this_path(tcp: str) -> None:
    batch = lanes([SLOW], tcp)
    text = scenario(batch)
    delay = f'delay = "{SLOW.rtt_ms / 2:g} ms"'
    late = delay.replace('"15 ms"', '{ kind = "uniform", min = "15 ms", max = "16 ms" }')
    assert delay in text
    assert late != delay
    (usual,) = simulated(text, batch, 1)
    for seed in range(20):
        (other,) = simulated(text.replace(delay, late), batch, seed)
        assert first_divergence(usual, other) is None, seed


@pytest.mark.parametrize("ends", ["kernel", "kernel to ours", "ours to kernel"])
def test_a_transfer_with_the_kernel_at_an_end_or_both_is_as_fast_as_the_profile_linux(ends: Ends) -> None:
    def row(found: Outcome) -> Row:
        (only,) = rows([found], ends)
        return only

    found = outcome(FULL, "cubic", ends, lambda found: row(found).agrees(0.05))
    assert row(found).agrees(0.05), (row(found), found.latest_s)
