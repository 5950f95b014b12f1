"""Runs studies: every experiment with every seed, distributed over threads; the parts of each evaluate its samples.

Lives here: order of work, interruption, merged scenarios. Must not live here: the meaning of the numbers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from netspurt.emulation.emulating import end_all
from netspurt.settings import overrides
from netspurt.studies.experiment import AnyExperiment, Key, LiveExperiment, Native, Plan, Samples, Study
from netspurt.studies.model import StudyResult, gather
from netspurt.threads import for_each


class Task(NamedTuple):
    """One simulation, or one measurement."""

    experiment: AnyExperiment
    scenario: Native
    seed: int


@dataclass(frozen=True)
class Work:
    """A study that is ready to run: scenarios loaded and checked, tasks in order."""

    study: Study
    experiments: tuple[AnyExperiment, ...]
    scenarios: dict[Key, Native]
    tasks: tuple[Task, ...]


def prepare(study: Study, plan: Plan) -> Work:
    """Loads every scenario of a study, so that an error in one appears before any simulation.

    Raises:
        ScenarioError: a scenario file or a setting is wrong.
    """
    experiments = tuple(experiment for part in study.parts for experiment in part.experiments(plan))
    files: dict[str, Native] = {}
    scenarios: dict[Key, Native] = {}
    for experiment in experiments:
        if experiment.scenario not in files:
            files[experiment.scenario] = experiment.load(study.path(experiment.scenario))
        scenarios[experiment.key] = files[experiment.scenario].set(overrides(experiment.settings))
    # Cell by cell: an interrupted study then has complete cells.
    tasks = tuple(
        Task(experiment, scenarios[experiment.key], seed)
        for experiment in experiments
        for seed in range(1, experiment.seeds + 1)
    )
    return Work(study, experiments, scenarios, tasks)


def run(work: Work, jobs: int, advance: Callable[[str], None]) -> StudyResult:
    """Runs one prepared study; see ``run_all``."""
    return run_all([work], jobs, advance)[0]


def not_run(work: Work) -> StudyResult:
    """The result of a prepared study before its first run, as an interrupted study has it where runs are missing."""
    return _Running(work, lambda _label: None).result()


def run_all(works: Sequence[Work], jobs: int, advance: Callable[[str], None]) -> list[StudyResult]:
    """Runs prepared studies and evaluates them; after Ctrl-C, it evaluates the completed runs.

    Everything is simulated first, study by study. Nothing is measured meanwhile, since simulations load the machine.
    The measurements over slow paths follow, those of different studies at the same time, and then each other one alone.

    Args:
        works: from ``prepare``.
        jobs: number of simulations at once.
        advance: called after each run, with the name of its experiment; measurements call it in other threads.
    """
    studies = [_Running(work, advance) for work in works]
    slow, fast = ([study for study in studies if study.measurements(slow=each)] for each in (True, False))
    try:
        if all(study.simulate(jobs) for study in studies) and for_each(
            slow, partial(_Running.measure, slow=True), _nothing, len(slow)
        ):
            for_each(fast, partial(_Running.measure, slow=False), _nothing, 1)
    finally:
        # After Ctrl-C or an error, measurements may still run in other threads.
        for study in studies:
            study.close()
        end_all()
    return [study.result() for study in studies]


class _Running:
    """A study whose tasks are performed. One thread at a time works on it."""

    def __init__(self, work: Work, advance: Callable[[str], None]) -> None:
        self._work = work
        self._advance = advance
        self._samples = Samples(work.experiments)
        self._finished = 0
        self._simulating_s = self._measuring_s = 0.0
        self._closed = False

    def measurements(self, *, slow: bool) -> list[Task]:
        """The tasks that measure over slow paths, or the other ones that measure."""
        return [task for task in self._work.tasks if (live := _live(task)) is not None and live.slow == slow]

    def simulate(self, jobs: int) -> bool:
        """Performs all tasks that measure nothing live; false after Ctrl-C."""
        began = time.monotonic()
        simulated = [task for task in self._work.tasks if _live(task) is None]
        whole = for_each(simulated, _perform, self._keep, jobs)
        self._simulating_s = time.monotonic() - began
        return whole

    def measure(self, *, slow: bool) -> None:
        """Performs the tasks of ``measurements``, one after the other."""
        began = time.monotonic()
        for task in self.measurements(slow=slow):
            if self._closed:
                return
            self._keep(task, _perform(task))
        self._measuring_s += time.monotonic() - began

    def close(self) -> None:
        """Ignores the outcome of what still runs in other threads."""
        self._closed = True

    def result(self) -> StudyResult:
        """The findings from what is finished."""
        study = self._work.study
        findings = gather(part.evaluate(self._samples) for part in study.parts)
        return StudyResult(
            study=study.name,
            title=study.title,
            document=study.document,
            question=study.question,
            seconds=self._simulating_s + self._measuring_s,
            live_seconds=self._measuring_s,
            findings=findings,
            scenarios={
                file_name(key) + ".toml": scenario.merged() for key, scenario in self._work.scenarios.items()
            },
            runs=self._finished,
            interrupted=self._finished < len(self._work.tasks),
        )

    def _keep(self, task: Task, value: Any) -> None:
        if self._closed:
            return
        self._finished += 1
        self._samples.put(task.experiment.key, task.seed, value)
        self._advance(f"{self._work.study.name}: {file_name(task.experiment.key)}")


def _live(task: Task) -> LiveExperiment | None:
    return task.experiment if isinstance(task.experiment, LiveExperiment) else None


def _nothing(_study: object, _outcome: object) -> None:
    """What a study has measured, it has kept already."""


def _perform(task: Task) -> Any:
    return task.experiment.perform(task.scenario, task.seed)


def file_name(key: Key) -> str:
    """A file name for the output of an experiment."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", "-".join(str(part) for part in key)).strip("-")
