"""Execution of a task in any place: a thread, another process, another machine.

Lives here: the conversion of a scenario and a seed to the bytes of a file. Must not live here: files, or scheduling.
Arguments and results can be pickled, except a native scenario, which only a thread receives.
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
    """A task with its input: a merged scenario as text, or, within this process, the native object."""

    task: str
    scenario: str | _core.Scenario
    seed: int
    algorithms: bytes | None = None
    """Classes that the scenario names, if it is text: see ``packed``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job: the bytes of its file, or an error message.

    Attributes:
        task: the name of the task.
        file: the bytes.
        error: the error message.
        value: the value for ``Stop``.
    """

    task: str
    file: bytes | None
    error: str | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of several jobs.

    Attributes:
        outcomes: the outcome of each.
        seconds: their total time.
        rows: the rows of the jobs that gave a file, so that it need not be read again.
    """

    outcomes: list[Outcome]
    seconds: float
    rows: _core.Tasks


def perform(made_by: str, name: str, jobs: Sequence[Job], stop: Stop | None) -> Done:
    """Runs several jobs one after the other.

    Args:
        made_by: the version of netspurt of the caller.
        name: name of the scenario, for error messages.
        jobs: the jobs.
        stop: the quantity to extract from each run, if any.

    Raises:
        RequestError: the versions of caller and worker differ, or the runs lack the quantity.
    """
    if (own := version.full()) != made_by:
        raise RequestError(
            f"a worker has netspurt {own}, and this is {made_by}: install one version everywhere"
        )
    from netspurt import _core

    began, rows = time.perf_counter(), _core.Tasks()
    runs = [_guarded(job, _run, name, job) for job in jobs]
    # After all runs: a run evicts the processor's caches, and the next operation takes ten times as long.
    outcomes = [
        run if isinstance(run, Outcome) else _guarded(job, _filed, job, *run, made_by, stop, rows)
        for job, run in zip(jobs, runs, strict=True)
    ]
    return Done(outcomes, time.perf_counter() - began, rows)


def _guarded(job: Job, work: Callable[..., T], *arguments: Any) -> T | Outcome:
    """The result of work on a job, or its error as an outcome: one failed task must not end the others."""
    try:
        return work(*arguments)
    except (RequestError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in Rust is not an Exception
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
    """Classes by name in a form for another process; with Dask installed, also those of the main program or a file.

    Raises:
        RequestError: one of them cannot be pickled.
    """
    try:
        pickler: Any = importlib.import_module("cloudpickle")
        for module in _loaded_from_files(algorithms):
            pickler.register_pickle_by_value(module)
    except ImportError:
        pickler = pickle
    try:
        return bytes(pickler.dumps(dict(algorithms)))
    except Exception as error:  # a class of the user may raise anything
        names = ", ".join(f"python:{name}" for name in algorithms)
        raise RequestError(
            f"{names} cannot be sent to other processes ({error}): keep the class in a module that they can import, "
            "or install cloudpickle, which comes with 'netspurt[dask]'"
        ) from error


def _loaded_from_files(algorithms: Mapping[str, Any]) -> Iterator[ModuleType]:
    """Modules of these classes that other processes cannot import by name."""
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
