"""Remedies on the shortest and on a long queue that a capture permits.

A capture without a loss at a full queue shows how many packets waited at most, not how many can wait. A remedy that
sends larger bursts may overflow a short queue that the original never filled, or fill a long one.

Lives here: runs with these queues, and the sentence about them. Must not live here: estimates of the queue.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from netspurt.analysis.formats import span
from netspurt.remedies.measuring import Measure
from netspurt.remedies.outcome import Outcome
from netspurt.remedies.trying import Tried
from netspurt.threads import for_each

PATH = "path"
"""The name of the link that a fit writes."""

LONG = 1000
"""Packets of a long queue: Linux holds so many by default."""

APART = 0.25
"""Times that differ by more depend on the queue."""


def on_range(
    outcomes: Sequence[Outcome], tried: Sequence[Tried], packets: int, measure: Measure, jobs: int
) -> str:
    """Runs the remedies that help on a short and on a long queue; returns a sentence if the time depends on it.

    Remedies that change the queue are left out.

    Args:
        outcomes: the remedies; each gets its ``short_queue_s`` and ``long_queue_s``.
        tried: the original first, then the remedies.
        packets: that waited in the capture at most.
        measure: how the flow is measured.
        jobs: runs at once.
    """
    helping = {each.name: each for each in outcomes if each.helps}
    chosen = [each for each in tried[1:] if each.remedy.name in helping and _queue(each) == _queue(tried[0])]
    lengths = {"short_queue_s": packets, "long_queue_s": max(LONG, 2 * packets)}

    def seconds(task: tuple[Tried, str]) -> float:
        each, kind = task
        made = each.scenario.set({f"link.{PATH}.queue.limit": f"{lengths[kind]} packets"})
        return measure.of(made.run(seed=1), tomllib.loads(made.merged())).seconds

    for_each(
        [(each, kind) for each in chosen for kind in lengths],
        seconds,
        lambda task, found: setattr(helping[task[0].remedy.name], task[1], found),
        jobs,
    )
    shown = [
        f"{span(getattr(each, kind))} instead of {span(each.seconds)} with {each.name} if it holds {length} packets"
        for each in helping.values()
        for kind, length in lengths.items()
        if is_apart(getattr(each, kind), each.seconds)
    ]
    if not shown:
        return ""
    return (
        f"the capture does not show how many packets the queue holds, since at most {packets} waited in it; "
        f"the transfer takes {', '.join(shown)}"
    )


def is_apart(other_s: float | None, seconds: float) -> bool:
    """Whether the time on another queue is known and differs much from the predicted one."""
    if other_s is None:
        return False
    return max(other_s, seconds) > (1 + APART) * min(other_s, seconds)


def _queue(tried: Tried) -> object:
    return tried.tree["link"][PATH].get("queue")
