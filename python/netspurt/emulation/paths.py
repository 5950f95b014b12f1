"""Paths for comparisons of TCPs: many in one scenario, which is both simulated and emulated.

Lives here: paths, and the scenario that contains them. Must not live here: the transfers' programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST_S = 600

OUR_NAMES = {"reno": "reno-linux", "cubic": "cubic-linux"}
"""Kernel congestion controls that have another name in scenarios."""


def our_tcp(control: str) -> dict[str, str | bool]:
    """The keys of a scenario for the kernel's congestion control of this name, in the profile ``linux``."""
    keys: dict[str, str | bool] = {"congestion": OUR_NAMES.get(control, control)}
    return {**keys, "pacing": True} if control == "bbr" else keys


@dataclass(frozen=True)
class Path:
    """A bottleneck with RTT, queue and loss rate, and the size and number of its transfers."""

    rate_mbps: float
    rtt_ms: float
    queue: int
    loss: float
    octets: int
    repeats: int

    @property
    def name(self) -> str:
        """The parameters of the path as text."""
        loss = f", {self.loss * 100:g} % lost" if self.loss else ""
        return f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.queue} packets{loss}"


@dataclass(frozen=True)
class Lane:
    """One transfer: a path with a host at either end. The link's name, and so its losses, are specific to this lane."""

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


def scenario(all_lanes: Sequence[Lane], *, offload: bool = False) -> str:
    """The scenario with all these paths.

    Args:
        all_lanes: the paths.
        offload: the interfaces of the senders split segments (TSO), as those of the kernel's hosts do.
    """
    return "\n".join(_lines(all_lanes, offload))


def _lines(all_lanes: Sequence[Lane], offload: bool) -> Iterator[str]:
    yield f'duration = "{LONGEST_S} s"'
    yield '[tcp]\nprofile = "linux"'
    if offload:
        yield "segmentation_offload = true"
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
        keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in our_tcp(lane.tcp).items())
        yield f"tcp = {{ {keys} }}"
