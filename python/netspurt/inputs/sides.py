"""What can be compared, and how it is found out what a path holds.

Lives here: from a path to one side of a comparison. Must not live here: the comparison.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from netspurt.algorithms import Make
from netspurt.errors import RequestError
from netspurt.scenario import Result, Scenario, load
from netspurt.sweeping.folder import ABOUT
from netspurt.sweeping.outcome import Sweep
from netspurt.sweeping.parallel import for_each

if TYPE_CHECKING:
    import polars as pl

    from netspurt.analysis.capture import Capture

CAPTURES = (".pcap", ".pcapng", ".cap", ".gz", ".zst")


@dataclass
class Runs:
    """Simulated runs by seed: the documents of ``netspurt run --json``, and the scenario if it is known."""

    name: str
    documents: dict[int, dict[str, Any]]
    scenario: Scenario | None = None
    made_by: str | None = None
    """The version of netspurt, where a folder says it."""

    def repeat(self, seed: int, record: Sequence[str]) -> Result | None:
        """The run of a seed once more, to record something; None where the scenario is not known.

        Raises:
            RequestError: this version of netspurt does not come to the same run.
        """
        if self.scenario is None:
            return None
        result = self.scenario.run(seed, record)
        if result.digest != self.documents[seed]["digest"]:
            raise RequestError(
                f"{self.name}: seed {seed} gives digest {result.digest} now and gave "
                f"{self.documents[seed]['digest']}: it was made by another version of netspurt; run it again"
            )
        return result


@dataclass
class Swept:
    """A sweep's folder."""

    name: str
    sweep: Sweep

    @property
    def made_by(self) -> str | None:
        """The version of netspurt."""
        return self.sweep.about.get("netspurt")


@dataclass
class Captured:
    """A capture, with its round-trip times."""

    name: str
    capture: Capture


@dataclass
class Traced:
    """What ``netspurt run --trace`` wrote: segments and series of one run."""

    name: str
    table: pl.DataFrame


Side: TypeAlias = Runs | Swept | Captured | Traced

KINDS = {Runs: "simulated runs", Swept: "a sweep", Captured: "a capture", Traced: "a trace"}


@dataclass(frozen=True)
class How:
    """How scenarios are run that are compared.

    Attributes:
        seeds: of both sides, so that runs form pairs.
        jobs: simulations at once.
        settings: overrides of each side.
        algorithms: classes that scenario files may name.
    """

    seeds: Sequence[int] = (1,)
    jobs: int = 1
    settings: tuple[Mapping[str, str], Mapping[str, str]] = field(default_factory=lambda: ({}, {}))
    algorithms: Mapping[str, Make] = field(default_factory=dict)


def side(what: object, how: How, which: int) -> Side:
    """One side of a comparison: ``which`` is 0 or 1.

    Args:
        what: a path, or a ``Scenario``, ``Result``, ``Sweep`` or ``Capture``.
        how: for scenarios.
        which: whose settings hold.

    Raises:
        RequestError: nothing there that can be compared, or settings for what is no scenario.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.analysis.capture import Capture

    settings = how.settings[which]
    if isinstance(what, Scenario):
        return _run(what, how)
    if settings and not str(what).endswith(".toml"):
        raise RequestError(f"--set-{'ab'[which]} changes a scenario, and {what} is none")
    if isinstance(what, Result):
        return Runs(what.scenario.name, {what.seed: json.loads(what.json())}, what.scenario)
    if isinstance(what, Sweep):
        return Swept(str(what.path), what)
    if isinstance(what, Capture):
        return Captured(str(what.path), what)
    return _at(Path(str(what)), how, list(settings.items()))


def _at(path: Path, how: How, settings: list[tuple[str, str]]) -> Side:
    if path.is_dir():
        if (path / ABOUT).is_file():
            return Swept(str(path), Sweep(path))
        if (path / "result.json").is_file():
            return _stored(path)
        raise RequestError(f"{path} is the folder of neither a sweep nor a run ('netspurt run --out DIR')")
    if not path.is_file():
        raise RequestError(f"there is no {path}")
    if path.suffix == ".toml":
        from netspurt import _core

        scenario = Scenario(_core.Scenario.load(str(path), settings))
        runs = _run(scenario.with_algorithms(how.algorithms) if how.algorithms else scenario, how)
        runs.name = ", ".join([runs.name, *(f"{key} = {value}" for key, value in settings)])
        return runs
    if path.suffix == ".parquet":
        return _trace(path)
    if path.suffix == ".json":
        return Runs(str(path), _documents(path))
    if path.suffix in CAPTURES:
        from netspurt.analysis.capture import read_capture

        return Captured(str(path), read_capture(path, ["samples"]))
    raise RequestError(
        f"{path} is nothing that can be compared: a scenario (.toml), a result (.json, or a folder), a trace "
        "(.parquet), or a capture (.pcap, .pcapng)"
    )


def _run(scenario: Scenario, how: How) -> Runs:
    documents: dict[int, dict[str, Any]] = {}
    whole = for_each(
        how.seeds,
        lambda seed: scenario.run(seed).json(),
        lambda seed, text: documents.update({seed: json.loads(text)}),
        how.jobs,
    )
    if not whole:
        raise KeyboardInterrupt
    return Runs(scenario.name, documents, scenario)


def _stored(path: Path) -> Runs:
    scenario = path / "scenario.toml"
    return Runs(
        str(path),
        _documents(path / "result.json"),
        load(scenario) if scenario.is_file() else None,
        _made_by(path / "versions.json"),
    )


def _made_by(path: Path) -> str | None:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["netspurt"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _documents(path: Path) -> dict[int, dict[str, Any]]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        runs = whole.get("runs", [whole])
        return {int(run["seed"]): {"flows": run["flows"], **run} for run in runs}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{path} does not hold what 'netspurt run --json' prints") from error


def _trace(path: Path) -> Traced:
    import polars as pl

    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RequestError(f"{path} cannot be read as Parquet") from error
    if "record" not in table.columns or "reason" not in table.columns:
        raise RequestError(f"{path} is no trace of 'netspurt run --trace'")
    return Traced(str(path), table)
