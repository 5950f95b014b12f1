"""The experiments of a study and their outcomes.

Lives here: the experiment (one scenario with settings, over seeds), the plan (number of seeds), the samples.
Must not live here: the distribution of runs over cores (``runner``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from netspurt.errors import StudyError
from netspurt.settings import Value
from netspurt.studies.model import Findings

if TYPE_CHECKING:
    from netspurt import _core
    from netspurt.diagnosing import Diagnosis

Key = tuple[str | int | float | bool, ...]
"""The name of an experiment within its study."""

DATA = Path(__file__).parent / "data"
"""The scenario files and published figures of all studies."""

T = TypeVar("T")

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class Transfer(NamedTuple):
    """The quantities that most tables need of a run with one flow.

    ``seconds`` is the time from the flow's start (its SYN) to its end; infinite if the flow did not end.
    """

    seconds: float
    bytes: int
    timeouts: int
    retransmitted: int


def transfer(run: _core.Run) -> Transfer:
    """Reads the first flow of a run."""
    flows = run.flows()
    finished = bool(flows["completed"][0])
    seconds = float(flows["end_s"][0]) - float(flows["start_s"][0]) if finished else float("inf")
    return Transfer(
        seconds,
        int(flows["bytes_delivered"][0]),
        int(flows["timeouts"][0]),
        int(flows["retransmitted"][0]),
    )


def series_of(run: _core.Run, name: str, end: Literal["client", "server"]) -> tuple[Floats, Floats]:
    """Times in seconds and values of a recorded series at one end of the only flow; each has shape (n,)."""
    series = run.series(name)
    wanted = np.asarray(series["end"]) == end
    return (
        np.asarray(series["time_s"], dtype=np.float64)[wanted],
        np.asarray(series["value"], dtype=np.float64)[wanted],
    )


def series_of_flow(
    run: _core.Run, name: str, flow: str, end: Literal["client", "server"]
) -> tuple[Floats, Floats]:
    """The same as ``series_of`` for one of several flows."""
    series = run.series(name)
    wanted = (np.asarray(series["end"]) == end) & (np.asarray(series["flow"]) == flow)
    return (
        np.asarray(series["time_s"], dtype=np.float64)[wanted],
        np.asarray(series["value"], dtype=np.float64)[wanted],
    )


@dataclass(frozen=True)
class Experiment:
    """One scenario file with settings, run with the seeds 1 … ``seeds``.

    ``measure`` runs in a worker thread. Its result should be small: thousands of results are in memory at once.
    """

    key: Key
    scenario: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    seeds: int = 1
    record: tuple[str, ...] = ()
    measure: Callable[[_core.Run], Any] = transfer

    def load(self, path: Path) -> Native:
        """Reads the scenario file, without the settings."""
        from netspurt import _core

        return _core.Scenario.load(str(path))

    def perform(self, native: Native, seed: int) -> Any:
        """Runs the loaded scenario with the settings applied, and measures."""
        return self.measure(cast("_core.Scenario", native).run(seed, list(self.record), None))


@dataclass(frozen=True)
class CapturedExperiment:
    """A scenario whose run is captured at ``point``; ``measure`` gets the run, and the diagnosis of the capture."""

    key: Key
    scenario: str
    point: str
    measure: Callable[[_core.Run, Diagnosis], Any]
    settings: Mapping[str, Value] = field(default_factory=dict)
    seeds: int = 1
    record: tuple[str, ...] = ()

    def load(self, path: Path) -> Native:
        """Reads the scenario file, without the settings."""
        from netspurt import _core

        return _core.Scenario.load(str(path))

    def perform(self, native: Native, seed: int) -> Any:
        """Runs the loaded scenario with the settings applied, diagnoses its capture, and measures."""
        from netspurt.diagnosing import why

        scenario = cast("_core.Scenario", native)
        with TemporaryDirectory(prefix="netspurt-study-") as folder:
            file = str(Path(folder, "run.pcapng"))
            run = scenario.run(seed, list(self.record), file, capture=[self.point])
            return self.measure(run, why(file))


@dataclass(frozen=True)
class PathExperiment:
    """An experiment on a synthetic path in place of a scenario; ``measure`` receives the columns of its run."""

    key: Key
    scenario: str
    measure: Callable[[Mapping[str, Floats]], Any]
    settings: Mapping[str, Value] = field(default_factory=dict)
    seeds: int = 1

    def load(self, path: Path) -> Native:
        """Reads the path's file, without the settings."""
        from netspurt import _core

        return _core.SyntheticPath.load(str(path))

    def perform(self, native: Native, seed: int) -> Any:
        """Generates a run of the loaded path with the settings applied, and measures."""
        return self.measure(cast("_core.SyntheticPath", native).run(seed))


@dataclass(frozen=True)
class LiveExperiment:
    """A measurement on this machine during the study. It runs once: its result is not reproducible.

    ``measure`` receives the text of the request file. ``slow`` says that the path is slow, so that its programs
    mostly wait: measurements of other studies at the same time do not disturb it.
    """

    key: Key
    scenario: str
    measure: Callable[[str], Any]
    slow: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)
    seeds: int = 1

    def load(self, path: Path) -> Native:
        """Reads the file."""
        return LiveRequest(path.read_text(encoding="utf-8"))

    def perform(self, native: Native, seed: int) -> Any:
        """Measures."""
        return self.measure(native.merged())


@dataclass(frozen=True)
class LiveRequest:
    """The request of a live measurement: an unchanged TOML file."""

    text: str

    def set(self, overrides: Sequence[tuple[str, str]]) -> Native:
        """Returns the request itself: a live measurement has no settings."""
        if overrides:
            raise StudyError(f"a live measurement has no setting '{overrides[0][0]}'")
        return self

    def merged(self) -> str:
        """The file."""
        return self.text


class Native(Protocol):
    """A scenario, a synthetic path or a live request: the interface that the runner uses."""

    def set(self, overrides: Sequence[tuple[str, str]]) -> Native:
        """Returns a copy with overrides."""
        ...

    def merged(self) -> str:
        """The complete configuration as TOML."""
        ...


AnyExperiment: TypeAlias = "Experiment | CapturedExperiment | PathExperiment | LiveExperiment"


@dataclass(frozen=True)
class Plan:
    """The amount of work.

    ``quick`` selects a fast, representative subset; ``seeds`` overrides the number of seeds of each part; ``live``
    includes measurements on this machine.
    """

    quick: bool = False
    seeds: int | None = None
    live: bool = True

    def choose(self, quick: int, full: int) -> int:
        """The number of seeds of an experiment with these defaults."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.quick else full


class Samples:
    """The outcomes of the runs, by experiment. An experiment with missing seeds counts as not run."""

    def __init__(self, experiments: Iterable[AnyExperiment]) -> None:
        self._seeds: dict[Key, int] = {}
        self._values: dict[Key, dict[int, Any]] = {}
        for experiment in experiments:
            if experiment.key in self._seeds:
                raise StudyError(f"two experiments are called {experiment.key}")
            self._seeds[experiment.key] = experiment.seeds
            self._values[experiment.key] = {}

    def put(self, key: Key, seed: int, value: Any) -> None:
        """Stores the outcome of one run."""
        self._values[key][seed] = value

    def knows(self, key: Key) -> bool:
        """True if the study contains this experiment."""
        return key in self._seeds

    def complete(self, *keys: Key) -> bool:
        """True if every seed of these experiments was run."""
        return all(len(self._values[key]) == self._seeds[key] for key in keys)

    def all(self, key: Key) -> list[Any] | None:
        """The outcomes in order of seed, or None if some are missing."""
        if not self.complete(key):
            return None
        values = self._values[key]
        return [values[seed] for seed in sorted(values)]

    def one(self, key: Key, kind: type[T]) -> T | None:
        """The outcome of an experiment with one seed, or None if it was not run."""
        values = self.all(key)
        return None if values is None else cast("T", values[0])

    def transfers(self, key: Key) -> list[Transfer] | None:
        """The same as ``all``, for experiments that measure transfers."""
        return self.all(key)


class Part(Protocol):
    """A piece of a study that defines its own experiments and evaluates them."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """The experiments to run."""
        ...

    def evaluate(self, samples: Samples) -> Findings:
        """The findings; also called with incomplete samples."""
        ...


class Fit(Protocol):
    """How the free parameters of a study are fitted again."""

    @property
    def file(self) -> str:
        """The file among the study's data that holds them."""
        ...

    def run(self, jobs: int, report: Callable[[str], None]) -> str:
        """Fits them to the fitted cells and passes progress messages to ``report``; returns the new file content."""
        ...


@dataclass(frozen=True)
class Study:
    """A document, its question, and the parts that reproduce it."""

    name: str
    title: str
    document: str
    question: str
    parts: tuple[Part, ...]
    fit: Fit | None = None

    def path(self, name: str) -> Path:
        """A file of this study's data."""
        return DATA / self.name / name
