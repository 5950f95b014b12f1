"""Makes a script that differs smaller: events are left out while the class of the difference stays the same."""

from __future__ import annotations

from collections.abc import Callable

from .scripts import Script


def shrink(script: Script, kind: str, kind_of: Callable[[Script], str | None]) -> Script:
    """The smallest script found whose first difference is of class `kind`: ddmin by halves, then by single events."""
    size = len(script.events) // 2
    while size >= 1:
        start = 0
        while start < len(script.events):
            smaller = script.without(set(range(start, start + size)))
            if smaller.events and kind_of(smaller) == kind:
                script = smaller
            else:
                start += size
        size //= 2
    return script
