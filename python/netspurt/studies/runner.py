"""Runs a study: every experiment with every seed, distributed over threads; its parts evaluate the samples.

Lives here: order of work, interruption, merged scenarios. Must not live here: the meaning of the numbers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

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


def run(work: Work, jobs: int, advance: Callable[[str], None], *, begin: bool = True) -> StudyResult:
    """Runs a prepared study and evaluates it; after Ctrl-C, it evaluates the completed runs.

    Args:
        work: from ``prepare``.
        jobs: number of simulations at once.
        advance: called after each run, with the name of its experiment.
        begin: false runs nothing, for a study that an interrupt prevented from starting.
    """
    began = time.monotonic()
    samples = Samples(work.experiments)
    finished = 0

    def keep(task: Task, value: Any) -> None:
        nonlocal finished
        finished += 1
        samples.put(task.experiment.key, task.seed, value)
        advance(f"{work.study.name}: {file_name(task.experiment.key)}")

    live = [task for task in work.tasks if isinstance(task.experiment, LiveExperiment)]
    simulated = [task for task in work.tasks if not isinstance(task.experiment, LiveExperiment)]
    # One after the other, and never during simulations, which load the machine.
    whole = begin and for_each(simulated, _perform, keep, jobs) and for_each(live, _perform, keep, 1)
    findings = gather(part.evaluate(samples) for part in work.study.parts)
    return StudyResult(
        study=work.study.name,
        title=work.study.title,
        document=work.study.document,
        question=work.study.question,
        seconds=time.monotonic() - began,
        findings=findings,
        scenarios={file_name(key) + ".toml": scenario.merged() for key, scenario in work.scenarios.items()},
        runs=finished,
        interrupted=not whole,
    )


def _perform(task: Task) -> Any:
    return task.experiment.perform(task.scenario, task.seed)


def file_name(key: Key) -> str:
    """A file name for the output of an experiment."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", "-".join(str(part) for part in key)).strip("-")
