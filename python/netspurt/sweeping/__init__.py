"""Sweeps: a scenario with many settings and many seeds, on any number of machines, with no task run twice.

``run_sweep`` does everything in one call. Varied paths: ``axes``, ``request`` (the sweep file). List of tasks:
``plan``. Next task: ``agenda``, ``stopping``. Execution: ``engines``, ``work``. Results:
``folder``, ``tables``, ``outcome``. The main loop: ``drive``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt import algorithms, display
from netspurt.errors import RequestError
from netspurt.files.places import PLAN, SWEEP
from netspurt.scenario import Scenario, load
from netspurt.settings import Value
from netspurt.sweeping import engines, request, tables
from netspurt.sweeping.agenda import Agenda
from netspurt.sweeping.axes import Sample
from netspurt.sweeping.drive import Driver
from netspurt.sweeping.folder import Folder, Slice
from netspurt.sweeping.outcome import Sweep
from netspurt.sweeping.plan import Plan, PointError, Task
from netspurt.sweeping.stopping import Stop

if TYPE_CHECKING:
    from netspurt import _core

__all__ = ["Report", "Stop", "Sweep", "execute", "plan_of", "read_sweep", "sweep"]


@dataclass(frozen=True)
class Report:
    """The outcome of one call.

    Attributes:
        path: the folder.
        tasks: number of tasks of the result (of this slice).
        found: how many of these were done before.
        ran: how many this call ran.
        failed: names of tasks without a result.
        stopped: number of points that needed fewer seeds than planned.
        whole: true if only failed tasks are missing; False after Ctrl-C.
    """

    path: Path
    tasks: int
    found: int
    ran: int
    failed: list[str]
    stopped: int
    whole: bool


def sweep(
    what: Scenario | str | Path,
    *,
    out: str | Path | None = None,
    grid: Mapping[str, object] | None = None,
    points: Sequence[Mapping[str, Value]] | None = None,
    sample: Sample | None = None,
    settings: Mapping[str, Value] | None = None,
    seeds: int | Sequence[int] = 1,
    stop: Stop | None = None,
    executor: engines.Executor | None = None,
    scheduler: str | None = None,
    jobs: int | None = None,
    retry: bool = False,
) -> Sweep:
    """Runs a scenario with many settings and seeds. Tasks that are done in the same folder do not run again.

    Args:
        what: a scenario, varied by the other arguments; or the path of a sweep file, which defines everything.
        out: the folder; without one, results stay in memory.
        grid: path to a list of values, or to ``{"from": "1 ms", "to": "1 s", "count": 7, "scale": "log"}``; every
            combination is a point.
        points: paths that change together, each mapping a point.
        sample: from ``ns.random_sample`` or ``ns.latin_hypercube``. Grid, points and sample multiply.
        settings: overrides for all points.
        seeds: the number of seeds from 1, or the seeds.
        stop: ends a point when the interval of a mean is narrow enough.
        executor: any object like ``concurrent.futures.Executor``, or a Dask client; it is left running.
        scheduler: address of a Dask scheduler, as an alternative.
        jobs: number of simulations at once (threads, without executor and scheduler; default: number of processors).
        retry: runs tasks again that failed before.

    Raises:
        RequestError: an invalid path or value, an empty axis, a folder with other content, a full disk.
        EngineError: the executor failed.
        KeyboardInterrupt: Ctrl-C; completed results are kept.
    """
    if isinstance(what, Scenario):
        asked = request.build(settings, grid, points, sample, seeds, stop)
        what = what.with_algorithms(algorithms.within(settings, grid, points))
    else:
        if any(given is not None for given in (grid, points, sample, settings, stop)) or seeds != 1:
            raise RequestError("a sweep file defines its own axes: load the scenario to give them in Python")
        return _run(plan_of(Path(what)), out, _engine(executor, scheduler, jobs), retry=retry)
    return _run(Plan(what.native, asked), out, _engine(executor, scheduler, jobs), retry=retry)


def plan_of(path: Path, given: Mapping[str, algorithms.Make] | None = None) -> Plan:
    """The tasks of a sweep file, with classes that its scenario may name.

    Raises:
        RequestError: the file is invalid; the message gives file and line where they are known.
        ScenarioError: its scenario is invalid.
    """
    file, asked = request.read(path)
    scenario = load(file, given)
    try:
        return Plan(scenario.native, asked)
    except PointError as error:
        where = request.place(path, error.path) if error.path else str(path)
        raise RequestError(f"{where}: {error}") from error


def _run(
    plan: Plan,
    out: str | Path | None,
    engine_of: contextlib.AbstractContextManager[engines.Engine],
    *,
    retry: bool,
) -> Sweep:
    with contextlib.ExitStack() as held:
        path = Path(out) if out is not None else Path(held.enter_context(tempfile.TemporaryDirectory()))
        engine = held.enter_context(engine_of)
        if not execute(plan, path, engine, retry=retry).whole:
            raise KeyboardInterrupt
        result = Sweep(path)
        if out is None:
            _ = result.flows, result.failed  # read before the folder is deleted
    return result


def read_sweep(path: str | Path) -> Sweep:
    """The results in the folder of a sweep, complete or not.

    Raises:
        RequestError: the folder contains no sweep.
    """
    return Sweep(Path(path))


def execute(
    plan: Plan,
    path: Path,
    engine: engines.Engine,
    part: Slice | None = None,
    *,
    retry: bool = False,
    force: bool = False,
) -> Report:
    """Runs the missing tasks of a plan, or of the i-th of n slices, into a folder.

    Args:
        plan: all tasks.
        path: the folder.
        engine: runs them.
        part: which of the parts; by default all.
        retry: whether tasks run again that have failed before.
        force: whether the folder may hold the results of another sweep, which then stay beside these.

    Raises:
        RequestError: the folder belongs to another sweep, or holds something else, or the disk is full.
        EngineError: no task can run any more.
    """
    folder = Folder(path, part)
    with folder.writing(plan.version), display.gauge("sweep") as gauge:
        if not force:
            folder.expect(task.name for task in plan)
        _describe(folder, plan, list(plan), complete=False)
        done, failures = folder.done(), folder.failures()
        if retry:
            for name in failures:
                folder.forgive(name)
            failures = {}
        numbers = range(len(plan.points)) if part is None else range(part[0] - 1, len(plan.points), part[1])
        value = plan.request.stop.value if plan.request.stop else lambda _tables: 0.0
        agenda = Agenda(
            plan, numbers, done, set(failures) - done, lambda name: value(tables.value_of(folder.file(name)))
        )
        driver = Driver(plan, agenda, folder, engine)
        whole = driver.run(gauge)
        wanted = {task.name for task in agenda.wanted}
        failed = sorted(wanted & set(folder.failures()))
        if failed:  # checking thousands of files costs as much as some of the simulations
            failed = sorted(set(failed) - folder.done())
        if whole and part is None:
            _finish(folder, plan, agenda.wanted, driver.rows, complete=not failed)
        return Report(path, len(wanted), len(wanted & done), driver.ran, failed, agenda.stopped, whole)


@contextlib.contextmanager
def _engine(
    executor: engines.Executor | None, scheduler: str | None, jobs: int | None
) -> Iterator[engines.Engine]:
    if executor is not None and scheduler is not None:
        raise RequestError("give an executor or the address of a scheduler, not both")
    if executor is not None:
        with engines.foreign(executor, jobs) as engine:
            yield engine
    elif scheduler is not None:
        with engines.dask(scheduler) as engine:
            yield engine
    else:
        with engines.threads(jobs or os.cpu_count() or 1) as engine:
            yield engine


def _describe(folder: Folder, plan: Plan, tasks: list[Task], *, complete: bool) -> None:
    about = {
        "netspurt": plan.version,
        "scenario": plan.base.name,
        "settings": dict(plan.request.settings),
        "points": len(plan.points),
        "seeds": list(plan.request.seeds),
        "tasks": len({task.name for task in tasks}),
        "complete": complete,
    }
    folder.put(PLAN, _parquet(plan, tasks))
    folder.put(SWEEP, (json.dumps(about, indent=1, default=str) + "\n").encode())


def _parquet(plan: Plan, tasks: list[Task]) -> bytes:
    buffer = io.BytesIO()
    plan.table(tasks).write_parquet(buffer)
    return buffer.getvalue()


def _finish(folder: Folder, plan: Plan, wanted: list[Task], rows: _core.Tasks, *, complete: bool) -> None:
    for name, table in tables.gather(plan.table(wanted), folder.path / "tasks", rows).items():
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        folder.put(f"{name}.parquet", buffer.getvalue())
    _describe(folder, plan, wanted, complete=complete)
