"""What the live halves of the studies share: an emulation as an experiment, or in a sentence why there is none.

Lives here: the experiment, the notes. Must not live here: what is emulated, and what its numbers mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from netspurt.analysis.statistics import mean_interval
from netspurt.emulation.emulating import NotPossible, Task, emulated
from netspurt.studies.experiment import Key, LiveExperiment, Samples
from netspurt.studies.model import Cell, Label

REASON = "measured live"
LATE_SHARE = 0.02
"""Of packets that were late by more than a millisecond: beyond that, the table says so."""


@dataclass(frozen=True)
class Emulation:
    """A scenario, a task for each host (the first must not serve), and for how long it may take."""

    scenario: str
    tasks: Mapping[str, Task]
    limit_s: float
    simulate: Callable[[str], Sequence[Any]] = lambda _: ()
    """What the same scenario says when it is simulated, if anything."""


@dataclass(frozen=True)
class Seen:
    """What each host found and the share of late packets; or in a sentence why nothing was."""

    found: Mapping[str, Any]
    late: float = 0.0
    why_not: str = ""
    simulated: Sequence[Any] = ()

    @property
    def doubt(self) -> str:
        """A sentence where the machine could not keep time, or nothing."""
        if self.late <= LATE_SHARE:
            return ""
        return f" The machine was busy: {100 * self.late:.0f} % of the packets came more than a millisecond late."


def experiment(key: Key, asked: str, plan: Callable[[Mapping[str, Any]], Emulation]) -> LiveExperiment:
    """An emulation, made from what a file asks."""

    def measure(text: str) -> Seen:
        import tomllib

        work = plan(tomllib.loads(text))
        try:
            with emulated(work.scenario, work.tasks, limit_s=work.limit_s) as done:
                return Seen(done.found, done.late, simulated=work.simulate(work.scenario))
        except NotPossible as reason:
            return Seen({}, why_not=str(reason))

    return LiveExperiment(key=key, scenario=asked, measure=measure)


def seen(samples: Samples, *keys: Key) -> tuple[Seen | None, tuple[str, ...]]:
    """What was seen in all of these emulations, if anything, and notes on why not.

    What they simulated is strung together, in order.
    """
    if not keys or not all(samples.knows(key) for key in keys):
        return None, ()
    outcomes = [cast("Seen | None", samples.one(key, Seen)) for key in keys]
    there = [outcome for outcome in outcomes if outcome is not None]
    if len(there) < len(keys):
        return None, ()
    if why_not := dict.fromkeys(outcome.why_not for outcome in there if outcome.why_not):
        return None, tuple(f"Not measured live, since {reason}." for reason in why_not)
    found = {host: what for outcome in there for host, what in outcome.found.items()}
    simulated = [each for outcome in there for each in outcome.simulated]
    return Seen(found, max(outcome.late for outcome in there), simulated=simulated), ()


def estimated(row: Mapping[str, Label], quantity: str, unit: str, values: Sequence[float]) -> Cell:
    """The mean of several runs, with its interval."""
    estimate = mean_interval(values)
    return Cell(dict(row), quantity, unit, None, estimate.mean, interval=estimate.interval, runs=len(values))
