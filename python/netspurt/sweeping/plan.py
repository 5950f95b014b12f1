"""The tasks of a sweep and their names.

Lives here: from what is asked to a list of tasks, every scenario checked before any runs. Must not live here: running.

A task is a scenario with a seed. Its name is a hash of the merged scenario, the seed and the version of netspurt, so it
says what comes out, whoever runs it and for whichever sweep; the same name is never run twice.
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
"""So many checked scenarios stay in memory (a few kB each); those of later points are made again when they run."""


class PointError(RequestError):
    """A point whose scenario cannot be; ``path`` is the override at fault, if that is known."""

    def __init__(self, message: str, path: str | None) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True, slots=True)
class Task:
    """One run: ``point`` and ``seed`` are what the user knows it by, ``name`` what its file is called."""

    name: str
    point: int
    seed: int


class Plan:
    """All tasks of a sweep, point by point and seed by seed.

    Raises:
        PointError: a point whose scenario cannot be.
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
        """The scenario of a point, checked before."""
        return self._scenarios[point] if point < len(self._scenarios) else self._checked(point)

    def words(self, point: int) -> str:
        """A point as a person would set it on the command line."""
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
        """One row for each task: ``task``, ``point``, ``seed``, and a column for each path that is varied."""
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
    """Numbers stay numbers; a column with anything else in it is text."""
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
