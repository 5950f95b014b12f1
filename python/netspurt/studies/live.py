"""Common parts of the live measurements of the studies: an emulation as an experiment, or the reason why it failed.

Lives here: the experiment, the notes. Must not live here: the emulated scenario, and the meaning of its numbers.
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
"""The share of packets late by more than a millisecond above which the table notes it."""


@dataclass(frozen=True)
class Emulation:
    """A scenario, a task for each host (the first must not serve), and a time limit."""

    scenario: str
    tasks: Mapping[str, Task]
    limit_s: float
    simulate: Callable[[str], Sequence[Any]] = lambda _: ()
    """The outcome of the same scenario in simulation, if any."""


@dataclass(frozen=True)
class Seen:
    """The outcome of each host and the share of late packets; or a sentence that says why there are none."""

    found: Mapping[str, Any]
    late: float = 0.0
    why_not: str = ""
    simulated: Sequence[Any] = ()

    @property
    def doubt(self) -> str:
        """A sentence if the machine could not keep the timing, else an empty string."""
        if self.late <= LATE_SHARE:
            return ""
        return f" The machine was busy: {100 * self.late:.0f} % of the packets were more than a millisecond late."


def experiment(
    key: Key, request: str, plan: Callable[[Mapping[str, Any]], Emulation], *, slow: bool
) -> LiveExperiment:
    """An emulation made from the request in a file; for ``slow`` see ``LiveExperiment``."""

    def measure(text: str) -> Seen:
        import tomllib

        work = plan(tomllib.loads(text))
        try:
            with emulated(work.scenario, work.tasks, limit_s=work.limit_s) as done:
                return Seen(done.found, done.late, simulated=work.simulate(work.scenario))
        except NotPossible as reason:
            return Seen({}, why_not=str(reason))

    return LiveExperiment(key=key, scenario=request, measure=measure, slow=slow)


def seen(samples: Samples, *keys: Key) -> tuple[Seen | None, tuple[str, ...]]:
    """The outcomes of all these emulations, if any, and notes on failures.

    The simulated outcomes are concatenated in order.
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
    """The mean of several runs, with its confidence interval."""
    estimate = mean_interval(values)
    return Cell(dict(row), quantity, unit, None, estimate.mean, interval=estimate.interval, runs=len(values))
