"""A script: what a peer sends and what an application does, at explicit times."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from .packets import Segment

MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """The peer's segment arrives at `at` nanoseconds."""

    at: int
    segment: Segment


@dataclass(frozen=True, slots=True)
class Call:
    """The application makes a socket call at `at` nanoseconds."""

    at: int
    name: str
    arguments: tuple[int, ...] = ()


Event = Arrival | Call


@dataclass(frozen=True, slots=True)
class Script:
    """The events in the order of their times; TCP_INFO is read at `end`."""

    seed: int
    algorithm: str
    tidy: bool
    peer_first: int
    events: tuple[Event, ...]
    end: int

    def without(self, indices: set[int]) -> Script:
        """The script without the events at `indices`."""
        return replace(self, events=tuple(e for n, e in enumerate(self.events) if n not in indices))

    def text(self) -> str:
        """The script for people."""
        lines = [f"seed {self.seed}, {self.algorithm}{', tidy' if self.tidy else ''}"]
        for event in self.events:
            what = str(event.segment) if isinstance(event, Arrival) else f"{event.name}{event.arguments}"
            lines.append(f"{event.at / MS:10.3f} ms  {'<' if isinstance(event, Arrival) else '@'} {what}")
        return "\n".join([*lines, f"{self.end / MS:10.3f} ms  end"])

    def dumps(self) -> str:
        """The script as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Script:
        """The script from JSON."""
        return _script(json.loads(text))


def _script(data: dict[str, Any]) -> Script:
    events: list[Event] = []
    for event in data.pop("events"):
        if "segment" in event:
            fields = event["segment"]
            fields["sack"] = tuple((left, right) for left, right in fields["sack"])
            events.append(Arrival(event["at"], Segment(**fields)))
        else:
            events.append(Call(event["at"], event["name"], tuple(event["arguments"])))
    return Script(events=tuple(events), **data)


def remote_of(number: int) -> bytes:
    """An address of its own for the peer of each script: the kernel remembers what it learns of a destination."""
    number %= 0xE00000
    return bytes((10, 16 + (number >> 16), number >> 8 & 255, number & 255))
