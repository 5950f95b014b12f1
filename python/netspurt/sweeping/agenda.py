"""Chooses the next task, and detects the end of the work.

Lives here: the order of tasks, and rounds of seeds where a point may stop early. Must not live here: execution.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from netspurt.sweeping.plan import Plan, Task
from netspurt.sweeping.stopping import Stop


@dataclass
class _Point:
    """The progress of a point: requested seeds, running seeds, and the values of the others."""

    tasks: Sequence[Task]
    looks: deque[int]
    asked: int = 0
    under_way: set[str] = field(default_factory=set)
    over: bool = False


class Agenda:
    """Hands out the tasks of some points: each name once, and no completed task.

    Call ``take`` and ``came`` until ``take`` returns None and no task is running.

    Args:
        plan: all tasks.
        points: the points of this process.
        done: names of tasks with results.
        skipped: names of failed tasks that are not retried.
        value: returns the value for ``Stop`` of a completed task.
    """

    def __init__(
        self,
        plan: Plan,
        points: Sequence[int],
        done: Container[str],
        skipped: Container[str],
        value: Callable[[str], float],
    ) -> None:
        self._stop: Stop | None = plan.request.stop
        self._done, self._skipped, self._value = done, skipped, value
        self._values: dict[str, float] = {}
        self._failed: set[str] = set()
        self._ready: deque[Task] = deque()
        self._handed: set[str] = set()
        self._waiting: dict[str, list[_Point]] = {}
        self._points = [self._begin(plan.tasks(point)) for point in points]
        for point in self._points:
            self._advance(point)

    def _begin(self, tasks: list[Task]) -> _Point:
        return _Point(tasks, deque([len(tasks)] if self._stop is None else self._stop.looks(len(tasks))))

    @property
    def wanted(self) -> list[Task]:
        """All tasks of the result as far as known: fewer than planned where points have stopped."""
        return [task for point in self._points for task in point.tasks[: point.asked]]

    @property
    def most(self) -> int:
        """The maximal number of different tasks, done or not."""
        names = {
            task.name for point in self._points for task in point.tasks[: point.asked if point.over else None]
        }
        return len(names)

    @property
    def stopped(self) -> int:
        """The number of points that needed fewer seeds than planned."""
        return sum(point.over and point.asked < len(point.tasks) for point in self._points)

    @property
    def ready(self) -> int:
        """The number of tasks that can start now."""
        return len(self._ready)

    def take(self) -> Task | None:
        """The next task, if one can start now."""
        return self._ready.popleft() if self._ready else None

    def came(self, name: str, value: float | None) -> None:
        """Notes that a task has its result, with the value for ``Stop``."""
        if value is not None:
            self._values[name] = value
        self._settle(name)

    def failed(self, name: str) -> None:
        """Notes that a task failed: the others of its point decide."""
        self._failed.add(name)
        self._settle(name)

    def _settle(self, name: str) -> None:
        for point in self._waiting.pop(name, []):
            point.under_way.discard(name)
            if not point.under_way:
                self._advance(point)

    def _advance(self, point: _Point) -> None:
        """Starts rounds until one has running tasks, or the point is complete."""
        while not point.under_way and not point.over:
            if not point.looks or (point.asked and self._enough(point)):
                point.over = True
            else:
                upto = point.looks.popleft()
                for task in point.tasks[point.asked : upto]:
                    self._ask(point, task)
                point.asked = upto

    def _ask(self, point: _Point, task: Task) -> None:
        name = task.name
        if name in self._skipped:
            self._failed.add(name)
        elif name not in self._done and name not in self._failed and not self._settled(name):
            point.under_way.add(name)
            self._waiting.setdefault(name, []).append(point)
            if name not in self._handed:
                self._handed.add(name)
                self._ready.append(task)

    def _settled(self, name: str) -> bool:
        return name in self._handed and name not in self._waiting

    def _enough(self, point: _Point) -> bool:
        if self._stop is None or not point.looks:
            return False
        return self._stop.enough(
            [self._valued(task.name) for task in point.tasks[: point.asked] if task.name not in self._failed]
        )

    def _valued(self, name: str) -> float:
        if name not in self._values:
            self._values[name] = self._value(name)
        return self._values[name]
