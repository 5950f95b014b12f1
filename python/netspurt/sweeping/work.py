"""What is done for a task, wherever that is: in a thread, in another process, on another machine.

Lives here: from a scenario and a seed to the bytes of a file. Must not live here: files, or who asked. What comes in
and goes out can be pickled, unless a native scenario is handed to a thread.
"""

from __future__ import annotations

import functools
import importlib
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from netspurt import version
from netspurt.errors import RequestError
from netspurt.sweeping.stopping import Stop

if TYPE_CHECKING:
    from netspurt import _core

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A task with all that is needed to run it: a merged scenario as text, or, within this process, as it is."""

    task: str
    scenario: str | _core.Scenario
    seed: int
    algorithms: bytes | None = None
    """Classes that the scenario names, where it is a text: see ``packed``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: the bytes of its file, or else an error in words.

    Attributes:
        task: its name.
        file: the bytes.
        error: in words.
        value: what ``Stop`` asks for.
    """

    task: str
    file: bytes | None
    error: str | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a few jobs.

    Attributes:
        outcomes: of each.
        seconds: that they took together.
        rows: of those that left a file, so that nobody has to read it again.
    """

    outcomes: list[Outcome]
    seconds: float
    rows: _core.Tasks


def perform(made_by: str, name: str, jobs: Sequence[Job], stop: Stop | None) -> Done:
    """Runs a few jobs one after the other.

    Args:
        made_by: the version of netspurt that asks.
        name: of the scenario, for error messages.
        jobs: what to run.
        stop: the quantity to take out of each run, if any.

    Raises:
        RequestError: this is another version than the one that asks, or the runs have no such quantity.
    """
    if (own := version.full()) != made_by:
        raise RequestError(f"a worker has netspurt {own}, and this is {made_by}: install the same everywhere")
    from netspurt import _core

    began, rows = time.perf_counter(), _core.Tasks()
    runs = [_guarded(job, _run, name, job) for job in jobs]
    # Behind all runs: one leaves the processor's caches full of itself, and what comes next takes ten times as long.
    outcomes = [
        run if isinstance(run, Outcome) else _guarded(job, _filed, job, *run, made_by, stop, rows)
        for job, run in zip(jobs, runs, strict=True)
    ]
    return Done(outcomes, time.perf_counter() - began, rows)


def _guarded(job: Job, work: Callable[..., T], *arguments: Any) -> T | Outcome:
    """What comes of work on a job, or its error as an outcome: one task of many must not end the others."""
    try:
        return work(*arguments)
    except (RequestError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in Rust is no Exception
        return Outcome(job.task, None, f"{type(error).__name__}: {error}")


def _run(name: str, job: Job) -> tuple[_core.Scenario, _core.Run]:
    scenario = _parsed(job.scenario, name) if isinstance(job.scenario, str) else job.scenario
    if job.algorithms is not None:
        scenario = scenario.given(_unpacked(job.algorithms))
    return scenario, scenario.run(job.seed)


def _filed(
    job: Job,
    scenario: _core.Scenario,
    run: _core.Run,
    made_by: str,
    stop: Stop | None,
    rows: _core.Tasks,
) -> Outcome:
    about = [("netspurt.version", made_by), ("netspurt.scenario", scenario.merged())]
    file = run.parquet(job.task, about, rows)
    value = None if stop is None else stop.value({"flow": run.flows(), "link": run.links()})
    return Outcome(job.task, file, value=value)


def packed(algorithms: Mapping[str, Any]) -> bytes:
    """Classes by name for another process: also those of a program, or of a file, where Dask is installed.

    Raises:
        RequestError: one of them cannot be handed over.
    """
    try:
        pickler: Any = importlib.import_module("cloudpickle")
        for module in _loaded_from_files(algorithms):
            pickler.register_pickle_by_value(module)
    except ImportError:
        pickler = pickle
    try:
        return bytes(pickler.dumps(dict(algorithms)))
    except Exception as error:  # whatever a class of the user's may raise
        names = ", ".join(f"python:{name}" for name in algorithms)
        raise RequestError(
            f"{names} cannot be handed to other processes ({error}): keep the class in a module that they can import, "
            "or install cloudpickle, which comes with 'netspurt[dask]'"
        ) from error


def _loaded_from_files(algorithms: Mapping[str, Any]) -> Iterator[ModuleType]:
    """Modules of these classes that no other process finds by their names."""
    for each in algorithms.values():
        module = sys.modules.get(getattr(each, "__module__", ""))
        if module is not None and PathFinder.find_spec(module.__name__.partition(".")[0]) is None:
            yield module


@functools.lru_cache(maxsize=4)
def _unpacked(algorithms: bytes) -> Any:
    return pickle.loads(algorithms)


@functools.lru_cache(maxsize=16)
def _parsed(text: str, name: str) -> _core.Scenario:
    from netspurt import _core

    return _core.Scenario.parse(text, name)
