"""Our side: the program `netspurt-replay`, which plays a script against the profile on a virtual clock."""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from .packets import Numbers, Segment, Sent
from .scripts import Arrival, Call, Event, Script, remote_of

REMOTE_PORT, LOCAL_PORT = 5000, 8080
RECEIVE_BUFFER = 6 << 20
"""The largest receive buffer of both sides (`tcp_rmem[2]`). Its windows count 128 bytes, those of 32 MiB 1024."""
PROFILES = {"cubic": ("linux", "-"), "reno": ("linux", "reno"), "bbr": ("bbr", "-")}


TICKS = (5, 2)
"""By how many ticks a timer of the kernel may be late: two for rounding up, two for TCP_TIMEOUT_MIN_US, and one for the
machine; or the first two only. Nothing shows when a timer that sends nothing has expired."""


@dataclass(frozen=True)
class Clock:
    """What our clocks and timers have of the kernel's."""

    isn: int | None
    """Our initial sequence number, from which BBR draws the phase of its cycle."""
    stamp: int
    """The nanoseconds after which the timestamp advances."""
    ticks: int
    """By how many ticks a timer is late that sends nothing."""


@dataclass
class Played:
    """What a script has made the tested host do."""

    sent: list[Sent] = field(default_factory=list)
    results: list[tuple[str, int]] = field(default_factory=list)
    info: bytes = b""
    infos: list[tuple[int, bytes]] = field(default_factory=list)
    """TCP_INFO at other times, for `states.py`."""


def repeats(sent: list[Sent], number: int) -> bool:
    """Whether the segment of this number, from 1 on, carries data that one before it has carried."""
    if not 0 < number <= len(sent):
        return False
    before, segment = sent[: number - 1], sent[number - 1].segment
    top = max((one.segment.seq + one.segment.length for one in before), default=0)
    return segment.length > 0 and segment.seq + segment.length <= top


def _carries(sent: list[Sent], number: int) -> str:
    """What the segment of this number carries, in the word of an emission."""
    if repeats(sent, number):
        return "again"
    is_bare = 0 < number <= len(sent) and sent[number - 1].segment.is_bare_ack
    return "ack" if is_bare else "new"


class Ours:
    """A running `netspurt-replay`."""

    def __init__(self, program: Path, jiffy_ns: int) -> None:
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1 << 16
        )
        self.jiffy_ns = jiffy_ns
        self.numbers = Numbers(b"", 0, 0, 0)
        self.played = Played()

    def __enter__(self) -> Ours:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)

    def begin(
        self, algorithm: str, peer_first: int, timing: str, isn: int | None = None, stamp: int = 0
    ) -> None:
        """A new stack.

        BBR draws the phase of its cycle from `isn`, our initial sequence number. The timestamp clock, which counts
        milliseconds, advances `stamp` nanoseconds after the beginning.
        """
        self.numbers = Numbers(remote_of(0), REMOTE_PORT, LOCAL_PORT, peer_first)
        self.played = Played()
        profile, reno = PROFILES[algorithm]
        first = "-" if isn is None else isn
        self.exchange(f"new {profile} {reno} {self.jiffy_ns} {timing} {first} {stamp} {RECEIVE_BUFFER}")

    def exchange(self, line: str) -> list[Sent]:
        """Writes a line, and returns what has left since."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\nflush\n")
        self.process.stdin.flush()
        before = len(self.played.sent)
        for answer in self.process.stdout:
            if answer == ".\n":
                return self.played.sent[before:]
            kind, _, rest = answer.rstrip("\n").partition(" ")
            if kind == "sent":
                at, _, data = rest.partition(" ")
                self.played.sent.append(self.numbers.decode(int(at), bytes.fromhex(data)))
            elif kind == "result":
                _, name, value = rest.split()
                self.played.results.append((name, int(value)))
            elif kind == "info":
                self.played.info = bytes.fromhex(rest)
        raise RuntimeError("netspurt-replay ended early")

    def event(self, event: Event) -> list[Sent]:
        """Plays an event, and returns what leaves until then."""
        if isinstance(event, Arrival):
            return self.arrival(event.at, event.segment)
        return self.call(event)

    def arrival(self, at: int, segment: Segment) -> list[Sent]:
        """The peer's segment arrives."""
        return self.exchange(f"packet {at} {self.numbers.encode(segment).hex()}")

    def call(self, call: Call) -> list[Sent]:
        """The application makes a call."""
        words: list[object] = [*call.arguments]
        if call.name == "listen":
            words = [LOCAL_PORT]
        elif call.name == "connect":
            remote = ".".join(str(byte) for byte in self.numbers.remote)
            words = [LOCAL_PORT, remote, REMOTE_PORT]
        return self.exchange(" ".join(["call", str(call.at), call.name, *map(str, words)]))

    def to(self, at: int) -> list[Sent]:
        """Advances the clock."""
        return self.exchange(f"to {at}")

    def replay(
        self,
        script: Script,
        happened: list[tuple[int, Event | int]],
        kernel: list[Sent],
        end: int,
        clock: Clock,
        samples: Iterable[int] = (),
    ) -> Played:
        """Plays events at the times at which the kernel saw them. A number is an emission that a timer caused.

        `kernel` are the segments that the kernel has sent. At `samples`, in order of time, TCP_INFO is recorded.
        """
        due = deque(samples)
        timing = f"steered-{clock.ticks}"
        self.begin(script.algorithm, script.peer_first, timing, clock.isn, clock.stamp)
        for at, event in happened:
            while due and due[0] < at:
                self._sample(due.popleft())
            if isinstance(event, int):
                self.exchange(f"emission {at} {event} {_carries(kernel, event)}")
            elif isinstance(event, Arrival):
                self.arrival(at, event.segment)
            else:
                self.call(Call(at, event.name, event.arguments))
        while due and due[0] <= end:
            self._sample(due.popleft())
        self.exchange(f"to {end}")
        self.exchange("info")
        return self.played

    def _sample(self, at: int) -> None:
        self.exchange(f"to {at}")
        self.exchange("info")
        self.played.infos.append((at, self.played.info))
