"""Scripts that were played, for tests of what explains a difference from the kernel."""

from __future__ import annotations

from against_kernel.kernel import Run
from against_kernel.ours import Played
from against_kernel.packets import ACK, Numbers, Segment, Sent
from against_kernel.scripts import MS, Arrival, Script


def run(arrivals: list[tuple[int, Segment]], sent: list[Sent]) -> Run:
    """A run in which these segments have arrived and left."""
    script = Script(1, "reno", True, 0, (), 1000 * MS)
    made = Run(script, Numbers(b"", 0, 0, 0), 0, played=Played(sent=sent))
    made.happened = [(at, Arrival(at, segment)) for at, segment in arrivals]
    return made


def data(seq: int, length: int = 100, flags: int = ACK) -> Segment:
    """A segment of the peer."""
    return Segment(flags, seq, 1, 1000, length)
