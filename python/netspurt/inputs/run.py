"""Simulated runs: their results by seed, and their recordings.

Lives here: running a scenario with many seeds, reading folders and JSON of earlier runs, and repeating a run for
missing records. Must not live here: drawing, comparing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netspurt import display
from netspurt.algorithms import Make
from netspurt.errors import RequestError
from netspurt.inputs.kind import RUN_MARK
from netspurt.inputs.link_states import LinkState, changing
from netspurt.inputs.recording import RECORDS, Frame, Recording, named, placed, series_of
from netspurt.scenario import Result, Scenario, load
from netspurt.threads import for_each


@dataclass
class Runs:
    """Simulated runs by seed: the documents of ``netspurt run --json``, and the scenario if known."""

    name: str
    documents: dict[int, dict[str, Any]]
    scenario: Scenario | None = None
    made_by: str | None = None
    """The version of netspurt, if a folder records it."""

    def recording(self, seed: int) -> Simulated | None:
        """The recording of the run of a seed, for plots; None if the scenario is not known.

        Raises:
            RequestError: as for ``repeat``.
        """
        again = self.repeat(seed, RECORDS)
        return None if again is None else Simulated.of(again)

    def repeat(self, seed: int, record: Sequence[str]) -> Result | None:
        """Repeats the run of a seed to record something; None if the scenario is not known.

        Raises:
            RequestError: this version of netspurt gives another digest.
        """
        if self.scenario is None:
            return None
        result = self.scenario.run(seed, record)
        if result.digest != self.documents[seed]["digest"]:
            raise RequestError(
                f"{self.name}: seed {seed} now gives digest {result.digest}, and the stored run has "
                f"{self.documents[seed]['digest']}: another version of netspurt made it; run it again"
            )
        return result


class Simulated:
    """A run. To obtain a missing record, it is repeated with the same seed."""

    def __init__(self, scenario: Scenario, seed: int, digest: str | None = None) -> None:
        self._scenario = scenario
        self._seed = seed
        self._digest = digest
        """The digest of the original run; None if there was none."""
        self._tables: dict[str, Result] = {}

    @classmethod
    def of(cls, result: Result) -> Simulated:
        """Wraps an existing run with its records."""
        made = cls(result.scenario, result.seed, result.digest)
        made._tables = {name: result for name in RECORDS if _holds(result, name)}
        return made

    @property
    def name(self) -> str:
        """The name of the scenario, and the seed."""
        return f"{self._scenario.name}, seed {self._seed}"

    def prepare(self, names: Iterable[str]) -> None:
        """Repeats the run if any of these is missing.

        Raises:
            RequestError: this version of netspurt gives another digest than the one that made the run.
        """
        lacking = [name for name in names if name not in self._tables]
        if not lacking:
            return
        if "arrivals" in lacking and "segments" not in lacking:
            # The arrivals are a column of the segments.
            lacking.append("segments")
        result = self._scenario.run(self._seed, lacking)
        if result.digest != (self._digest or result.digest):
            raise RequestError(
                f"{self.name} now gives digest {result.digest}, and the stored run has {self._digest}: another "
                "version of netspurt made it; run it again"
            )
        self._tables |= dict.fromkeys(lacking, result)

    def again(self, record: Sequence[str]) -> Result:
        """The same run with other records."""
        return self._scenario.run(self._seed, record)

    def _holding(self, name: str) -> Result:
        self.prepare([name])
        return self._tables[name]

    def segments(self) -> Frame:
        """See ``Recording``."""
        return named(self._holding("segments").segments)

    def series(self, name: str) -> Frame:
        """See ``Recording``."""
        return series_of(self._holding(name).series(name))

    def changing_links(self) -> list[LinkState]:
        """The directions of links that change, those that carried most data first."""
        states = changing(self._scenario.merged())
        if not states or not self._tables:
            return states
        links = next(iter(self._tables.values())).links
        carried = {(row["link"], row["direction"]): row["bytes"] for row in links.iter_rows(named=True)}
        return sorted(states, key=lambda state: -carried.get((state.link, state.direction), 0))

    def drops(self) -> Frame:
        """See ``Recording``."""
        return placed(self._holding("drops").drops)


class OneConnection:
    """One connection of a run."""

    def __init__(self, run: Recording, flow: str, index: int, connection: int) -> None:
        self._run = run
        self._which = {"flow": flow, "index": index, "connection": connection}

    @property
    def name(self) -> str:
        """The name of the run."""
        return self._run.name

    def prepare(self, names: Iterable[str]) -> None:
        """See ``Recording``."""
        self._run.prepare(names)

    def segments(self) -> Frame:
        """See ``Recording``."""
        return self._only(self._run.segments())

    def series(self, name: str) -> Frame:
        """See ``Recording``: series of links are those of all connections."""
        return self._only(self._run.series(name))

    def drops(self) -> Frame:
        """See ``Recording``: those of all connections."""
        return self._run.drops()

    def _only(self, rows: Frame) -> Frame:
        import polars as pl

        if "flow" not in rows.columns:
            return rows
        return rows.filter(*(pl.col(name) == value for name, value in self._which.items()))


def _holds(result: Result, name: str) -> bool:
    """Whether it was recorded. An empty table of segments or drops is ambiguous, so it is recorded again."""
    if name in ("segments", "drops"):
        return not getattr(result, name).is_empty()
    if name == "arrivals":
        return "arrives_s" in result.segments.columns
    try:
        result.native.series(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class How:
    """How the scenarios of a comparison are run.

    Attributes:
        seeds: the seeds of both sides, so that runs form pairs.
        jobs: number of simulations at once.
        settings: overrides of each side.
        algorithms: classes that scenario files may name.
    """

    seeds: Sequence[int] = (1,)
    jobs: int = 1
    settings: tuple[Mapping[str, str], Mapping[str, str]] = field(default_factory=lambda: ({}, {}))
    algorithms: Mapping[str, Make] = field(default_factory=dict)


def simulate(sides: Sequence[Runs], how: How) -> bool:
    """Runs the scenarios of these sides and adds the results to them, seed by seed: so pairs are complete early.

    Returns:
        False after Ctrl-C: the results are those of the runs complete by then.
    """
    tasks = [(seed, side) for seed in how.seeds for side in sides]
    done = 0
    with display.gauge("simulating") as gauge:

        def work(task: tuple[int, Runs]) -> str:
            seed, side = task
            assert side.scenario is not None
            return side.scenario.run(seed).json()

        def keep(task: tuple[int, Runs], text: str) -> None:
            nonlocal done
            seed, side = task
            side.documents[seed] = json.loads(text)
            done += 1
            gauge.show(done, len(tasks), f"seed {seed} of {side.name}")

        return for_each(tasks, work, keep, how.jobs)


def stored(path: Path) -> Runs:
    """The runs in a folder of ``run --out``."""
    scenario = path / "scenario.toml"
    return Runs(
        str(path),
        documents_of(path / RUN_MARK),
        load(scenario) if scenario.is_file() else None,
        _made_by(path / "versions.json"),
    )


def _made_by(path: Path) -> str | None:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["netspurt"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def documents_of(path: Path) -> dict[int, dict[str, Any]]:
    """The results in a file, by seed.

    Raises:
        RequestError: the file is not the output of ``netspurt run --json``.
    """
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        runs = whole.get("runs", [whole])
        return {int(run["seed"]): {"flows": run["flows"], **run} for run in runs}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{path} is not the output of 'netspurt run --json'") from error
