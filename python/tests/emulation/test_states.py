"""The states of the kernel and of ours are shown side by side, up to the difference of a script."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from against_kernel.kernel import Run
from against_kernel.ours import Played
from against_kernel.packets import ACK, Numbers, Segment, Sent
from against_kernel.scripts import MS, Arrival, Script
from against_kernel.states import timeline
from against_kernel.tcp_info import LENGTH, PLACES


def info(**values: int) -> bytes:
    """TCP_INFO with these fields."""
    made = bytearray(LENGTH)
    for name, value in values.items():
        form, offset = PLACES[name]
        struct.pack_into(form, made, offset, value)
    return bytes(made)


def shown(kernel: list[bytes], ours: list[bytes], lines: int = 100) -> list[str]:
    """The timeline of a run with a state and an arrival every 10 ms, whose segments differ at 35 ms."""
    segment = Segment(ACK, 1, 1, 1000, 100)
    script = Script(1, "reno", True, 0, (), 1000 * MS)
    run = Run(script, Numbers(b"", 0, 0, 0), 0, played=Played(sent=[Sent(35 * MS, segment)]))
    run.happened = [(10 * n * MS - 1, Arrival(10 * n * MS, segment)) for n in range(1, 6)]
    run.played.infos = [(10 * n * MS, one) for n, one in enumerate(kernel, 1)]
    own = Played(infos=[(10 * n * MS, one) for n, one in enumerate(ours, 1)])
    return timeline(run, own, 35 * MS, lines).splitlines()


def test_the_first_state_that_differs_is_named_with_both_values() -> None:
    told = shown([info(snd_cwnd=10), info(snd_cwnd=11)], [info(snd_cwnd=10), info(snd_cwnd=12)])
    assert told[0] == "the state first differs at 20.000 ms"
    states = [line for line in told if "#" in line]
    assert "snd_cwnd=10 " in states[0]
    assert "snd_cwnd=11/12 " in states[1]


def test_a_difference_of_measured_times_alone_is_none() -> None:
    told = shown([info(rtt=20_000)], [info(rtt=20_004)])
    assert told[0] == "the state first differs at 35.000 ms"
    assert "rtt=20000/20004 " in "".join(told)


def test_a_state_stands_only_where_it_changes() -> None:
    told = shown([info(snd_cwnd=10)] * 3, [info(snd_cwnd=10)] * 3)
    assert sum("#" in line for line in told) == 1


def test_nothing_behind_the_difference_and_only_so_many_lines_before_the_state_are_shown() -> None:
    same = [info(snd_cwnd=10), info(snd_cwnd=11)]
    told = shown([*same, info(snd_cwnd=12)], [*same, info(snd_cwnd=13)], lines=1)
    assert len(told) == 4, "one line before, the state, and the segment that differs"
    assert "peer" in told[1]
    assert "kernel" in told[-1]
