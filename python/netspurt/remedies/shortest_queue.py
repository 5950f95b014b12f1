"""Remedies on the shortest queue that a capture permits.

A capture without a loss at a full queue shows how many packets waited at most, not how many can wait. A remedy that
sends larger bursts may overflow a queue that the original never filled.

Lives here: runs with that queue, and the sentence about them. Must not live here: estimates of the queue.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from netspurt.remedies.measuring import Measure
from netspurt.remedies.outcome import Outcome
from netspurt.remedies.trying import Tried
from netspurt.sweeping.threads import for_each

PATH = "path"
"""The name of the link that a fit writes."""

APART = 0.25
"""Times that differ by more depend on the queue."""


def on_shortest(
    outcomes: Sequence[Outcome], tried: Sequence[Tried], packets: int, measure: Measure, jobs: int
) -> str:
    """Runs the remedies that help on a queue of so many packets; returns a sentence if one then takes much longer.

    Remedies that change the queue are left out.

    Args:
        outcomes: the remedies; each gets its ``short_queue_s``.
        tried: the original first, then the remedies.
        packets: that waited in the capture at most.
        measure: how the flow is measured.
        jobs: runs at once.
    """
    helping = {each.name: each for each in outcomes if each.helps}
    chosen = [each for each in tried[1:] if each.remedy.name in helping and _queue(each) == _queue(tried[0])]

    def seconds(each: Tried) -> float:
        made = each.scenario.set({f"link.{PATH}.queue.limit": f"{packets} packets"})
        return measure.of(made.run(seed=1), tomllib.loads(made.merged())).seconds

    for_each(
        chosen,
        seconds,
        lambda each, found: setattr(helping[each.remedy.name], "short_queue_s", found),
        jobs,
    )
    longer = [each for each in helping.values() if (each.short_queue_s or 0.0) > (1 + APART) * each.seconds]
    if not longer:
        return ""
    shown = "; ".join(
        f"{each.short_queue_s:.3g} s with {each.name}, not {each.seconds:.3g} s" for each in longer
    )
    return f"at most {packets} packets waited in the capture; if the queue holds no more, the transfer takes {shown}"


def _queue(tried: Tried) -> object:
    return tried.tree["link"][PATH].get("queue")
