"""The state of both sides while a script is played: the cause of a difference is near the first field that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .kernel import Run
from .ours import Played
from .scripts import Arrival, Event
from .tcp_info import PLACES, field_of

MEASURED = frozenset({"rto", "rtt", "rttvar", "min_rtt"})
"""Fields of times, which differ by the microseconds that the kernel takes: a difference of them alone is none."""


def timeline(run: Run, ours: Played, around: int, lines: int) -> str:
    """Segments, events and states in order of time, from `lines` before the states differ up to the time `around`.

    A state stands where it changes, as ``field=value``, or ``field=kernel/ours`` where the two differ.
    """
    events = [(at, _text(event)) for at, event in run.happened if event is not None]
    events += [(sent.at, f"kernel  {sent.segment}") for sent in run.played.sent]
    events += [(sent.at, f"ours    {sent.segment}") for sent in ours.sent]
    states = list(_states(run.played.infos, ours.infos))
    events += [(at, f"        # {text}") for at, text, _ in states]
    events.sort(key=lambda one: one[0])
    first = min([at for at, _, differs in states if differs] + [around])
    begin = max(sum(at < first for at, _ in events) - lines, 0)
    shown = [f"{at / 1e6:10.3f} {text}" for at, text in events[begin:] if at <= around]
    return "\n".join([f"the state first differs at {first / 1e6:.3f} ms", *shown])


def _text(event: Event) -> str:
    if isinstance(event, Arrival):
        return f"peer    {event.segment}"
    return f"call    {event.name}{event.arguments}"


def _states(
    kernel: Sequence[tuple[int, bytes]], ours: Sequence[tuple[int, bytes]]
) -> Iterator[tuple[int, str, bool]]:
    """Each state that is another one than before: when, as text, and whether the two sides differ."""
    before = ""
    for (at, theirs), (_, own) in zip(kernel, ours, strict=False):
        if not own:
            continue
        pairs = {name: (field_of(theirs, name), field_of(own, name)) for name in PLACES}
        text = " ".join(f"{name}={a}" if a == b else f"{name}={a}/{b}" for name, (a, b) in pairs.items())
        if text != before:
            yield at, text, any(a != b for name, (a, b) in pairs.items() if name not in MEASURED)
        before = text
