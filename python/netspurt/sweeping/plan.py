"""The tasks of a sweep and their names.

Lives here: the list of tasks of a request; every scenario is checked before any task runs. Must not live here: running.

A task is a scenario with a seed. Its name is a hash of the merged scenario, the seed and the version of netspurt. So
the name determines the result, on any machine and in any sweep, and no name runs twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netspurt import algorithms, version
from netspurt.errors import RequestError
from netspurt.settings import overrides, toml
from netspurt.sweeping.axes import Point, combined
from netspurt.sweeping.request import Request

if TYPE_CHECKING:
    import polars as pl

    from netspurt import _core

KEPT_SCENARIOS = 20_000
"""This many checked scenarios stay in memory (a few kB each); those of later points are parsed again when they run."""


class PointError(RequestError):
    """A point with an invalid scenario; ``path`` is the override at fault, if known."""

    def __init__(self, message: str, path: str | None) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True, slots=True)
class Task:
    """One run: ``point`` and ``seed`` identify it for the user, ``name`` is the name of its file."""

    name: str
    point: int
    seed: int


class Plan:
    """All tasks of a sweep, by point and seed.

    Raises:
        PointError: a point has an invalid scenario.
    """

    def __init__(self, base: _core.Scenario, request: Request) -> None:
        self.request = request
        self.version = version.full()
        self.base = base
        self.points: list[Point] = list(combined(request.parts))
        self._scenarios: list[_core.Scenario] = []
        self._names: list[list[str]] = []
        for number in range(len(self.points)):
            scenario = self._checked(number)
            if number < KEPT_SCENARIOS:
                self._scenarios.append(scenario)
            self._names.append(self._called(scenario))

    def _checked(self, number: int) -> _core.Scenario:
        settings = {**self.request.settings, **self.points[number]}
        try:
            return self.base.set(overrides(settings))
        except (TypeError, ValueError) as error:  # ScenarioError is a ValueError
            where = f"point {number} ({self.words(number)}): " if self.points[number] else ""
            raise PointError(
                where + str(error).replace("--set ", ""), getattr(error, "path", None)
            ) from error

    def _called(self, scenario: _core.Scenario) -> list[str]:
        merged = scenario.merged()
        sources = algorithms.fingerprint(merged, self.base.algorithms)
        common = hashlib.sha256(json.dumps([self.version, merged, *sources]).encode())
        names = []
        for seed in self.request.seeds:
            own = common.copy()
            own.update(str(seed).encode())
            names.append(own.hexdigest()[:32])
        return names

    def __len__(self) -> int:
        return len(self.points) * len(self.request.seeds)

    def scenario(self, point: int) -> _core.Scenario:
        """The scenario of a point, which was checked before."""
        return self._scenarios[point] if point < len(self._scenarios) else self._checked(point)

    def words(self, point: int) -> str:
        """A point in the syntax of the command line."""
        return ", ".join(f"{path} = {toml(value)}" for path, value in self.points[point].items())

    def tasks(self, point: int) -> list[Task]:
        """The tasks of a point, in the order of its seeds."""
        return [
            Task(name, point, seed) for name, seed in zip(self._names[point], self.request.seeds, strict=True)
        ]

    def __iter__(self) -> Iterator[Task]:
        for point in range(len(self.points)):
            yield from self.tasks(point)

    def table(self, tasks: list[Task]) -> pl.DataFrame:
        """One row per task: ``task``, ``point``, ``seed``, and a column for each varied path."""
        import polars as pl

        rows = pl.DataFrame(
            {
                "task": [task.name for task in tasks],
                "point": [task.point for task in tasks],
                "seed": [task.seed for task in tasks],
            },
            schema={"task": pl.String, "point": pl.Int64, "seed": pl.Int64},
        )
        paths = list(dict.fromkeys(path for point in self.points for path in point))
        varied = [_column(path, [self.points[task.point].get(path) for task in tasks]) for path in paths]
        return rows.with_columns(varied)


def _column(path: str, values: list[object]) -> pl.Series:
    """A column of numbers; if any value is not a number, a column of text."""
    import polars as pl

    present = [value for value in values if value is not None]
    if all(isinstance(value, int) for value in present) and len({type(v) for v in present}) <= 1:
        return pl.Series(
            path, values, dtype=pl.Boolean if isinstance(next(iter(present), 0), bool) else pl.Int64
        )
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return pl.Series(path, values, dtype=pl.Float64, strict=False)
    texts = [value if value is None or isinstance(value, str) else toml(value) for value in values]  # type: ignore[arg-type]  # what a plan holds, TOML holds
    return pl.Series(path, texts, dtype=pl.String)
