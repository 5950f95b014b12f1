"""The main loop of a sweep: it submits tasks in batches and stores their results.

Lives here: the number of running tasks, the handling of errors, and the end by Ctrl-C. Must not live here: the choice
of the next task (``agenda``), its execution (``engines``), the storage of its result (``folder``).

Only this loop writes. Workers return the bytes of a file, so they need no shared disk, and a worker
that dies leaves no partial file. A batch takes a second at most: at most this much work is lost and runs again.
"""

from __future__ import annotations

import math
import queue
from concurrent.futures import BrokenExecutor
from typing import Any

from netspurt.display import Gauge
from netspurt.errors import EngineError, RequestError
from netspurt.sweeping.agenda import Agenda
from netspurt.sweeping.engines import Engine
from netspurt.sweeping.folder import Folder
from netspurt.sweeping.plan import Plan, Task
from netspurt.sweeping.tables import HELD
from netspurt.sweeping.work import Done, Job, Outcome, packed, perform

_POLL_S = 0.2
"""The longest sleep of the loop in seconds between checks for signals and workers."""

MOST_IN_BATCH = 256

Batch = tuple[Any, list[Task]]


class _GoneError(Exception):
    """No task can run any more; the text gives the known cause, in brackets."""

    def __init__(self, error: BaseException | None) -> None:
        said = str(error).splitlines()[0] if error is not None and str(error) else ""
        super().__init__(f" ({type(error).__name__}: {said})" if said else "")


class Driver:
    """Executes an agenda. ``run`` is called once; the counts are valid at any time.

    Attributes:
        failed: number of tasks that failed in this call.
        rows: rows of the first tasks, for the tables at the end.
    """

    def __init__(self, plan: Plan, agenda: Agenda, folder: Folder, engine: Engine) -> None:
        from netspurt import _core

        self._plan, self._agenda, self._folder, self._engine = plan, agenda, folder, engine
        self._back: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._under_way: dict[int, Batch] = {}
        self._alone: list[Task] = []
        far = plan.base.algorithms if not engine.near else {}
        self._given = packed(far) if far else None
        self._tasks: dict[str, Task] = {}
        self._task_s: float | None = None
        self._most = agenda.most
        self._before = self._most - agenda.ready
        self._kept: set[str] = set()
        self.failed = 0
        self.rows = _core.Tasks()

    @property
    def ran(self) -> int:
        """The number of tasks with stored results."""
        return len(self._kept)

    def run(self, gauge: Gauge) -> bool:
        """Runs until all is done (True), or until Ctrl-C (False). Completed results are stored in both cases.

        Raises:
            RequestError: the disk is full, or workers report an invalid request.
            EngineError: no task can run there any more.
        """
        try:
            self._loop(gauge)
        except KeyboardInterrupt:
            self._drain()
            return False
        except _GoneError as gone:
            self._drain()
            raise EngineError(
                f"the executor failed{gone}; {self._before + self.ran} of {self._most} tasks are done and kept: "
                "give the command again to continue"
            ) from gone.__cause__
        except RequestError:
            self._drain()
            raise
        return True

    def _loop(self, gauge: Gauge) -> None:
        while self._fill():
            try:
                self._take(*self._back.get(timeout=_POLL_S))
            except queue.Empty:
                self._look()
            self._show(gauge)

    def _fill(self) -> bool:
        """Submits work while the executor has room; False when no work is left."""
        width = max(self._engine.width(), 1)
        while len(self._under_way) < 2 * width:
            tasks = [self._alone.pop()] if self._alone else self._batch(width)
            if not tasks:
                break
            self._submit(tasks)
        return bool(self._under_way)

    def _batch(self, width: int) -> list[Task]:
        size = least = 1
        if self._task_s is not None:
            size = int(self._engine.batch_s / max(self._task_s, 1e-6))
            least = max(size // 8, 1)
        # Towards the end in smaller batches, so that all workers are busy; not smaller than the cost of submission.
        size = max(least, min(size, math.ceil(self._agenda.ready / (3 * width)), MOST_IN_BATCH))
        tasks: list[Task] = []
        while len(tasks) < size and (task := self._agenda.take()) is not None:
            tasks.append(task)
        return tasks

    def _submit(self, tasks: list[Task]) -> None:
        jobs = []
        merged: dict[int, Any] = {}
        for task in tasks:
            self._tasks[task.name] = task
            if task.point not in merged:
                scenario = self._plan.scenario(task.point)
                merged[task.point] = scenario if self._engine.near else scenario.merged()
            jobs.append(Job(task.name, merged[task.point], task.seed, self._given))
        try:
            future = self._engine.executor.submit(
                perform, self._plan.version, self._plan.base.name, jobs, self._plan.request.stop
            )
        except (BrokenExecutor, RuntimeError) as error:
            raise _GoneError(error) from error
        self._under_way[id(tasks)] = (future, tasks)
        future.add_done_callback(lambda done: self._back.put((done, tasks)))

    def _take(self, future: Any, tasks: list[Task]) -> None:
        self._under_way.pop(id(tasks), None)
        try:
            done: Done = future.result()
        except RequestError:
            raise
        except BrokenExecutor as error:
            raise _GoneError(error) from error
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # CancelledError, and what a cluster raises when workers die
            self._lost(tasks, error)
            return
        mean = done.seconds / len(tasks)
        self._task_s = mean if self._task_s is None else 0.7 * self._task_s + 0.3 * mean
        for outcome in done.outcomes:
            self._keep(outcome)
        if len(self.rows) < HELD:
            self.rows.take(done.rows)

    def _keep(self, outcome: Outcome) -> None:
        task = self._tasks.pop(outcome.task)
        if outcome.file is None:
            self._fail(task, outcome.error or "no reason was given")
            return
        self._store(outcome.task, outcome.file)
        self._agenda.came(outcome.task, outcome.value)

    def _fail(self, task: Task, why: str) -> None:
        about = {
            "point": task.point,
            "seed": task.seed,
            "settings": self._plan.words(task.point),
            "error": why,
        }
        self._folder.fail(task.name, about)
        self.failed += 1
        self._agenda.failed(task.name)

    def _lost(self, tasks: list[Task], error: BaseException) -> None:
        """Handles a batch without a result. One of its tasks may be at fault, so each runs alone again."""
        if not self._engine.alive():
            raise _GoneError(error) from error
        if len(tasks) > 1:
            self._alone.extend(reversed(tasks))
        else:
            self._tasks.pop(tasks[0].name, None)
            self._fail(tasks[0], f"{type(error).__name__}: {error}")

    def _look(self) -> None:
        if not self._engine.alive():
            raise _GoneError(None)

    def _store(self, name: str, contents: bytes) -> None:
        self._kept.add(name)
        self._folder.keep(name, contents)

    def _drain(self) -> None:
        """Stores the results that have arrived since, and submits no more tasks."""
        # Ctrl-C may have arrived just before or just after a file got its name.
        self._kept = {name for name in self._kept if self._folder.file(name).exists()}
        for future, _tasks in self._under_way.values():
            future.cancel()
        while True:
            try:
                future, _tasks = self._back.get_nowait()
            except queue.Empty:
                return
            if future.cancelled() or future.exception() is not None:
                continue
            for outcome in future.result().outcomes:
                if outcome.file is not None:
                    self._store(outcome.task, outcome.file)

    def _show(self, gauge: Gauge) -> None:
        notes = [f"{self.failed} failed"] if self.failed else []
        if self._engine.width() == 0:
            notes.append("waiting for workers")
        if self._plan.request.stop is not None:
            self._most = self._agenda.most
            notes += [f"{self._agenda.stopped} points stopped early"] if self._agenda.stopped else []
        gauge.show(self._before + self.ran + self.failed, self._most, ", ".join(notes))
