"""Remedies simulated with paired seeds.

Lives here: the runs of the original and of every remedy, and their statistics. Must not live here: the choice.
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netspurt.analysis.paired import Paired, paired
from netspurt.remedies.changing import changed
from netspurt.remedies.measuring import Measure, Measured
from netspurt.remedies.remedy import Remedy
from netspurt.scenario import Scenario
from netspurt.threads import for_each

FEWEST_ALIKE = 3
"""If this many seeds give equal results, the run is not random and the other seeds are left out."""

CLEAR = 0.01
"""A smaller relative gain is no gain."""

Report = Callable[[int, int, str], None]
"""Receives how many runs are done, how many there are, and the name of the last one."""


@dataclass
class Tried:
    """A remedy and its runs, by seed."""

    remedy: Remedy
    scenario: Scenario
    tree: Mapping[str, Any] = field(repr=False, default_factory=dict)
    runs: dict[int, Measured] = field(default_factory=dict)

    def pairs(self, original: Tried) -> Paired | None:
        """The seconds of the original and with the remedy, over the seeds of both; None if a run delivered nothing."""
        seeds = sorted(self.runs.keys() & original.runs.keys())
        before, after = ([each.runs[seed].seconds for seed in seeds] for each in (original, self))
        if not seeds or not all(map(math.isfinite, (*before, *after))):
            return None
        return paired(before, after)

    @property
    def seconds(self) -> float:
        """The mean over seeds."""
        return _mean([run.seconds for run in self.runs.values()])

    @property
    def rtt_s(self) -> float:
        """The mean RTT over seeds."""
        return _mean([run.rtt_s for run in self.runs.values()])

    @property
    def whole(self) -> bool:
        """Whether the flow ended in every run."""
        return all(run.whole for run in self.runs.values())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


ORIGINAL = Remedy("original", "", "Nothing changes.")


def prepare(scenario: Scenario, remedies: Sequence[Remedy]) -> tuple[list[Tried], dict[str, str]]:
    """The remedies that fit the scenario, and for each other why it does not."""
    from netspurt import _core

    found, unfit = [], {}
    for remedy in remedies:
        try:
            made = changed(scenario, remedy)
        except (_core.ScenarioError, KeyError) as error:
            unfit[remedy.name] = str(error)
            continue
        found.append(Tried(remedy, made, tomllib.loads(made.merged())))
    return found, unfit


def simulate(
    tried: Sequence[Tried],
    measure: Measure,
    seeds: Sequence[int],
    *,
    jobs: int = 1,
    limit_s: float = math.inf,
    report: Report = lambda _done, _total, _name: None,
    first: Callable[[], None] = lambda: None,
) -> None:
    """Runs all of them, one seed after the other, so that there is an answer early.

    Args:
        tried: the original and the remedies; each gets its runs.
        measure: how the flow is measured.
        seeds: seeds of the runs.
        jobs: runs at once.
        limit_s: no seed begins after this time.
        report: receives the progress.
        first: called once, after the first seed.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    began, done = time.monotonic(), 0
    total = len(tried) * len(seeds)
    for number, seed in enumerate(seeds):

        def work(each: Tried, seed: int = seed) -> Measured:
            return measure.of(each.scenario.run(seed), each.tree)

        def keep(each: Tried, found: Measured, seed: int = seed) -> None:
            nonlocal done
            each.runs[seed] = found
            done += 1
            report(done, total, each.remedy.name)

        if not for_each(tried, work, keep, jobs):
            raise KeyboardInterrupt
        if number == 0:
            first()
        if time.monotonic() - began > limit_s or (number + 1 == FEWEST_ALIKE and all(map(_alike, tried))):
            break


def _alike(tried: Tried) -> bool:
    return len({run.seconds for run in tried.runs.values()}) == 1
