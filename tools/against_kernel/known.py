"""Classes of differences whose cause is known and that stay: docs/engineering/kernel-scripts.md explains each.

A rule looks at what differs and at what must have happened in the script for its cause to apply.
"""

from __future__ import annotations

from collections.abc import Callable

from .compare import Difference
from .kernel import Run
from .packets import ACK, PSH, SYN
from .scripts import Arrival


def reason(run: Run, difference: Difference) -> str | None:
    """The name of the class that explains a difference."""
    return next((name for name, applies in RULES.items() if applies(run, difference)), None)


def _full(run: Run) -> int:
    """Payload of the longest segment that the host has sent."""
    return max((sent.segment.length for sent in run.played.sent), default=0)


def _sent_short(run: Run) -> bool:
    """Whether the host has sent a segment with data that is shorter than others."""
    full = _full(run)
    return any(0 < sent.segment.length < full for sent in run.played.sent)


def _counts_bytes(run: Run, difference: Difference) -> bool:
    names = difference.kind.removeprefix("info: ").split()
    only = difference.kind.startswith("info: ") and set(names) <= {"snd_cwnd", "snd_ssthresh"}
    return only and run.script.algorithm != "bbr" and _sent_short(run)


def _half_window(run: Run, difference: Difference) -> bool:
    syn = next(
        (e.segment for e in run.script.events if isinstance(e, Arrival) and e.segment.flags & SYN), None
    )
    if syn is None or not difference.kind.startswith(("length of data", "info: snd_mss")):
        return False
    shift = syn.shift or 0
    arrivals = [e.segment for e in run.script.events if isinstance(e, Arrival) and not e.segment.flags & SYN]
    largest = max((segment.window << shift for segment in arrivals if segment.flags & ACK), default=0)
    return largest < 2 * ((syn.mss or 536) + 12)


def _joined_writes(run: Run, difference: Difference) -> bool:
    writes = sum(1 for name, _ in run.played.results if name == "write")
    return difference.kind == f"flags {PSH:02x} of data" and writes > 1 and _sent_short(run)


RULES: dict[str, Callable[[Run, Difference], bool]] = {
    "cwnd counts bytes, the kernel's counts packets": _counts_bytes,
    "segments of at most half of a small window": _half_window,
    "PSH where writes are joined": _joined_writes,
}
