"""Paths on which TCPs are held against each other: many in one scenario, which is simulated and emulated as it is.

Lives here: paths, and the scenario that holds them. Must not live here: what runs there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST_S = 600

OUR_NAMES = {"reno": "newreno", "cubic": "cubic-linux"}
"""What of the kernel's congestion controls has another name here."""


@dataclass(frozen=True)
class Path:
    """A bottleneck with a round trip, a queue and losses, and what is carried over it how often."""

    rate_mbps: float
    rtt_ms: float
    queue: int
    loss: float
    octets: int
    repeats: int

    @property
    def name(self) -> str:
        """What distinguishes it, for people."""
        loss = f", {self.loss * 100:g} % lost" if self.loss else ""
        return f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.queue} packets{loss}"


@dataclass(frozen=True)
class Lane:
    """One transfer: a path with a host at either end. The link's name, and so its losses, are this lane's."""

    path: Path
    number: int
    tcp: str

    @property
    def sender(self) -> str:
        """The host that sends."""
        return f"a{self.number}"

    @property
    def receiver(self) -> str:
        """The host that receives."""
        return f"b{self.number}"


def lanes(paths: Sequence[Path], tcp: str) -> list[Lane]:
    """All transfers over these paths."""
    repeated = [path for path in paths for _ in range(path.repeats)]
    return [Lane(path, number, tcp) for number, path in enumerate(repeated)]


def scenario(all_lanes: Sequence[Lane]) -> str:
    """The scenario that holds them side by side."""
    return "\n".join(_lines(all_lanes))


def _lines(all_lanes: Sequence[Lane]) -> Iterator[str]:
    yield f'duration = "{LONGEST_S} s"'
    yield '[tcp]\nprofile = "linux"'
    for lane in all_lanes:
        path = lane.path
        yield f"[link.l{lane.number}]"
        yield f'between = ["{lane.sender}", "{lane.receiver}"]'
        yield f'rate = "{path.rate_mbps:g} Mbit/s"'
        yield f'delay = "{path.rtt_ms / 2:g} ms"'
        yield f'queue = {{ kind = "drop-tail", limit = "{path.queue} packets" }}'
        if path.loss:
            yield f'loss = {{ kind = "packet-error", rate = {path.loss:g} }}'
    for lane in all_lanes:
        yield "[[flow]]"
        yield f'from = "{lane.sender}"\nto = "{lane.receiver}"'
        yield f'app = {{ kind = "bulk", bytes = "{lane.path.octets} B" }}'
        yield f'tcp = {{ congestion = "{OUR_NAMES.get(lane.tcp, lane.tcp)}" }}'
