"""Where two plays of a script differ first, and in which way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from .kernel import Run
from .ours import Played
from .packets import FIN, RST, SYN, Sent
from .tcp_info import PLACES, field_of

TOLERANCE_NS = 3_000_000


@dataclass(frozen=True)
class Difference:
    """The first difference: its class, both sides as text, and the earlier time of the two in nanoseconds.

    `kernel` and `ours` are the values of the last field of TCP_INFO that differs, or the windows. `timeouts` are our
    retransmission timeouts at the ends of pauses of the sender, with the times of these, in nanoseconds.
    """

    kind: str
    index: int
    text: str
    at: int
    kernel: int = 0
    ours: int = 0
    timeouts: tuple[tuple[int, int], ...] = ()


def nature(one: Sent, before: list[Sent]) -> str:
    """What a segment is, in a word."""
    segment = one.segment
    if segment.flags & RST:
        return "RST"
    if segment.flags & SYN:
        return "SYN"
    if segment.length or segment.flags & FIN:
        end = segment.seq + segment.length + bool(segment.flags & FIN)
        top = max((b.segment.seq + b.segment.length + bool(b.segment.flags & FIN) for b in before), default=0)
        again = end <= top
        return ("FIN" if not segment.length else "data") + (" again" if again else "")
    return "ACK"


def difference(run: Run, ours: Played, jiffy_ns: int) -> Difference | None:
    """The first difference between the kernel's play and ours."""
    theirs = run.played
    for index, (kernel, mine) in enumerate(zip_longest(theirs.sent, ours.sent)):
        kind = _kind(kernel, mine, theirs.sent[:index])
        if kind:
            at = min(one.at for one in (kernel, mine) if one is not None)
            return Difference(kind, index, f"kernel: {_text(kernel)}\nours:   {_text(mine)}", at)
    for index, ((name, value), (_, mine_value)) in enumerate(zip(theirs.results, ours.results, strict=True)):
        if value != mine_value:
            return Difference(f"result of {name}", index, f"kernel: {value}, ours: {mine_value}", run.end)
    return _info(theirs.info, ours.info, jiffy_ns, run.end) or _windows(theirs.sent, ours.sent)


def _windows(theirs: list[Sent], mine: list[Sent]) -> Difference | None:
    """The first window that differs where nothing else does, not even later."""
    for index, (kernel, own) in enumerate(zip(theirs, mine, strict=True)):
        if kernel.segment.window != own.segment.window:
            kind = f"window of {nature(kernel, theirs[:index])}"
            at, windows = min(kernel.at, own.at), (kernel.segment.window, own.segment.window)
            return Difference(kind, index, f"kernel: {_text(kernel)}\nours:   {_text(own)}", at, *windows)
    return None


def _text(one: Sent | None) -> str:
    return "–" if one is None else f"{one.at / 1e6:.3f} ms {one.segment}"


def _kind(kernel: Sent | None, mine: Sent | None, before: list[Sent]) -> str | None:
    if kernel is None:
        assert mine is not None
        return f"only ours sends: {nature(mine, before)}"
    if mine is None:
        return f"only the kernel sends: {nature(kernel, before)}"
    theirs, own = nature(kernel, before), nature(mine, before)
    if theirs != own:
        return f"kernel sends {theirs}, ours {own}"
    for name in ("seq", "length", "flags", "ack", "sack", "mss", "shift", "sack_permitted", "echo", "ecn"):
        a, b = getattr(kernel.segment, name), getattr(mine.segment, name)
        if a != b:
            more = f" {a ^ b:02x}" if name == "flags" else ""
            return f"{name}{more} of {theirs}"
    a, b = kernel.segment.stamp, mine.segment.stamp
    if (a is None) != (b is None) or (a is not None and b is not None and abs(a - b) > 5):
        return f"stamp of {theirs}"
    if abs(kernel.at - mine.at) > TOLERANCE_NS:
        return f"time of {theirs}"
    return None


TIMES = ("rto", "rtt")
"""Fields that may differ by ticks and by a part of them."""
LEFT_OUT = frozenset({*TIMES, "rttvar", "notsent_bytes", "min_rtt"})
FIELDS = tuple(name for name in PLACES if name not in LEFT_OUT)
"""Fields that must be equal."""
CLOSED = 7
"""`tcpi_state` of a closed connection: what remains of its recovery has no effect any more."""


def _info(theirs: bytes, mine: bytes, jiffy_ns: int, end: int) -> Difference | None:
    if not theirs or not mine:
        return None
    found = []
    for name in FIELDS:
        a, b = field_of(theirs, name), field_of(mine, name)
        if a != b and not (name == "ca_state" and field_of(theirs, "state") == CLOSED):
            found.append((name, a, b))
    for name in TIMES:
        a, b = field_of(theirs, name), field_of(mine, name)
        if abs(a - b) > 2 * jiffy_ns // 1000 + max(a, b) // 50:
            found.append((name, a, b))
    if not found:
        return None
    names = " ".join(name for name, _, _ in found)
    text = ", ".join(f"{n}: kernel {a}, ours {b}" for n, a, b in found)
    return Difference(f"info: {names}", -1, text, end, found[-1][1], found[-1][2])
