"""Which task is next, and when nothing is left to do.

Lives here: the order of tasks, and rounds of seeds where a point may stop early. Must not live here: who runs them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from netspurt.sweeping.plan import Plan, Task
from netspurt.sweeping.stopping import Stop


@dataclass
class _Point:
    """How far a point has come: seeds asked for, seeds still under way, and what the others gave."""

    tasks: Sequence[Task]
    looks: deque[int]
    asked: int = 0
    under_way: set[str] = field(default_factory=set)
    over: bool = False


class Agenda:
    """Hands out the tasks of some points, each name once, and none that is done.

    Order of calls: ``take`` and ``came`` until ``take`` gives nothing and nothing is under way.

    Args:
        plan: all tasks.
        points: those that this process sees to.
        done: names of tasks whose results are there.
        skipped: names of tasks that have failed and shall not be tried again.
        value: the number that ``Stop`` looks at, of a task that is done.
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
        """All tasks that belong to the result as far as is known: fewer than planned where points have stopped."""
        return [task for point in self._points for task in point.tasks[: point.asked]]

    @property
    def most(self) -> int:
        """How many different tasks there are at most, done or not."""
        names = {
            task.name for point in self._points for task in point.tasks[: point.asked if point.over else None]
        }
        return len(names)

    @property
    def stopped(self) -> int:
        """How many points did with fewer seeds than planned."""
        return sum(point.over and point.asked < len(point.tasks) for point in self._points)

    @property
    def ready(self) -> int:
        """How many tasks could begin now."""
        return len(self._ready)

    def take(self) -> Task | None:
        """The next task, if one can begin now."""
        return self._ready.popleft() if self._ready else None

    def came(self, name: str, value: float | None) -> None:
        """A task has its result, and the value in it that ``Stop`` asks for."""
        if value is not None:
            self._values[name] = value
        self._settle(name)

    def failed(self, name: str) -> None:
        """A task has no result: its point is judged by the others."""
        self._failed.add(name)
        self._settle(name)

    def _settle(self, name: str) -> None:
        for point in self._waiting.pop(name, []):
            point.under_way.discard(name)
            if not point.under_way:
                self._advance(point)

    def _advance(self, point: _Point) -> None:
        """Asks for rounds until one has to be waited for, or the point is over."""
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
