"""Sweeps: a scenario with many settings and many seeds, on as many machines as there are, and never twice.

``run_sweep`` is all of it in one call. What is varied: ``axes``, ``request`` (the sweep file). What that comes to:
``plan``. What is next: ``agenda``, ``stopping``. Where it runs: ``engines``, ``threads``, ``work``. Where results
go: ``folder``, ``tables``, ``outcome``. The loop between them: ``drive``.
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
from netspurt.scenario import Scenario, load
from netspurt.settings import Value
from netspurt.sweeping import engines, request, tables
from netspurt.sweeping.agenda import Agenda
from netspurt.sweeping.axes import Sample
from netspurt.sweeping.drive import Driver
from netspurt.sweeping.folder import ABOUT, PLAN, Folder, Slice
from netspurt.sweeping.outcome import Sweep
from netspurt.sweeping.plan import Plan, PointError, Task
from netspurt.sweeping.stopping import Stop

if TYPE_CHECKING:
    from netspurt import _core

__all__ = ["Report", "Stop", "Sweep", "execute", "plan_of", "read_sweep", "sweep"]


@dataclass(frozen=True)
class Report:
    """What one call has done.

    Attributes:
        path: the folder.
        tasks: that belong to the result (of this slice).
        found: of these, done before.
        ran: done now.
        failed: names of those without a result.
        stopped: points that needed fewer seeds than planned.
        whole: whether nothing but the failed is missing; False after Ctrl-C.
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
    """Runs a scenario with many settings and seeds. What ran before in the same folder is not run again.

    Args:
        what: a scenario, varied as the other arguments say; or the path of a sweep file, which says all that itself.
        out: the folder; without one, results are kept in memory only.
        grid: path to a list of values, or to ``{"from": "1 ms", "to": "1 s", "count": 7, "scale": "log"}``; every
            combination is a point.
        points: paths that change together, each mapping a point.
        sample: of ``ns.random_sample`` or ``ns.latin_hypercube``. Grid, points and sample multiply.
        settings: overrides for all of them.
        seeds: 1 to this, or these.
        stop: ends a point when the interval of a mean is narrow enough.
        executor: anything with the shape of ``concurrent.futures.Executor``, or a Dask client; left running.
        scheduler: address of a Dask scheduler, instead.
        jobs: simulations at once (of threads, if neither of the two is given; by default one for each processor).
        retry: runs tasks again that have failed before.

    Raises:
        RequestError: a path or a value that cannot be, an empty axis, a folder of something else, a full disk.
        EngineError: the executor has broken down.
        KeyboardInterrupt: Ctrl-C; what was done is kept.
    """
    if isinstance(what, Scenario):
        asked = request.build(settings, grid, points, sample, seeds, stop)
        what = what.with_algorithms(algorithms.within(settings, grid, points))
    else:
        if any(given is not None for given in (grid, points, sample, settings, stop)) or seeds != 1:
            raise RequestError(
                "a sweep file says itself what is varied: load the scenario to say it in Python"
            )
        return _run(plan_of(Path(what)), out, _engine(executor, scheduler, jobs), retry=retry)
    return _run(Plan(what.native, asked), out, _engine(executor, scheduler, jobs), retry=retry)


def plan_of(path: Path, given: Mapping[str, algorithms.Make] | None = None) -> Plan:
    """The tasks that a sweep file asks for, with classes that its scenario may name.

    Raises:
        RequestError: the file asks for what cannot be; names file and line where they are known.
        ScenarioError: the scenario that it names is wrong.
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
            _ = result.flows, result.failed  # read before the folder goes
    return result


def read_sweep(path: str | Path) -> Sweep:
    """The results that lie in the folder of a sweep, be it through or not.

    Raises:
        RequestError: no sweep lies there.
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
    """Runs what is missing of a plan, or of its i-th of n parts, into a folder.

    Args:
        plan: all tasks.
        path: the folder.
        engine: runs them.
        part: which of the parts; by default all.
        retry: whether tasks run again that have failed before.
        force: whether the folder may hold the results of another sweep, which then stay beside these.

    Raises:
        RequestError: the folder holds another sweep or something else, or the disk is full.
        EngineError: nothing can be run any more.
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
        if failed:  # to look at thousands of files costs as much as some of the simulations
            failed = sorted(set(failed) - folder.done())
        if whole and part is None:
            _finish(folder, plan, agenda.wanted, driver.rows, complete=not failed)
        return Report(path, len(wanted), len(wanted & done), driver.ran, failed, agenda.stopped, whole)


@contextlib.contextmanager
def _engine(
    executor: engines.Executor | None, scheduler: str | None, jobs: int | None
) -> Iterator[engines.Engine]:
    if executor is not None and scheduler is not None:
        raise RequestError("name an executor or the address of a scheduler, not both")
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
    folder.put(ABOUT, (json.dumps(about, indent=1, default=str) + "\n").encode())


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
