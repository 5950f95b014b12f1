"""Makes one side of a comparison from a path or a result.

Lives here: the source for each kind of input. Must not live here: the comparison.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypeAlias

from netspurt.analysis.capture import Capture, read_capture
from netspurt.errors import RequestError
from netspurt.inputs.capture import Captured
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.run import How, Runs, documents_of, stored
from netspurt.inputs.sweep import Swept
from netspurt.inputs.trace import Traced, read_trace
from netspurt.scenario import Result, Scenario
from netspurt.sweeping.outcome import Sweep

Side: TypeAlias = Runs | Swept | Captured | Traced

KINDS = {Runs: "simulated runs", Swept: "a sweep", Captured: "a capture", Traced: "a trace"}


def side(what: object, how: How, which: int) -> Side:
    """One side of a comparison: ``which`` is 0 or 1. A scenario has not run yet: see ``run.simulate``.

    Args:
        what: a path, or a ``Scenario``, ``Result``, ``Sweep`` or ``Capture``.
        how: how scenarios are run.
        which: the index of the side, which selects its settings.

    Raises:
        RequestError: the input cannot be compared, or there are settings but no scenario.
        ScenarioError: the scenario is invalid.
        TypeError: the input is neither one of these nor a path.
    """
    settings = how.settings[which]
    if isinstance(what, Scenario):
        return Runs(what.name, {}, what)
    if settings and not _may_be_set(what):
        raise RequestError(f"--set-{'ab'[which]} changes a scenario, and {what} is not a scenario")
    if isinstance(what, Result):
        return Runs(what.scenario.name, {what.seed: json.loads(what.json())}, what.scenario)
    if isinstance(what, Sweep):
        return Swept(str(what.path), what)
    if isinstance(what, Capture):
        return Captured(what, str(what.path))
    if not isinstance(what, str | os.PathLike):
        raise TypeError(
            f"a scenario, a result, a sweep, a capture or a path can be compared, not {type(what).__name__}"
        )
    return _at(Path(what), how, list(settings.items()))


def _may_be_set(what: object) -> bool:
    return isinstance(what, str | Path) and kind_of(Path(what)) is Kind.SCENARIO


def _at(path: Path, how: How, settings: list[tuple[str, str]]) -> Side:
    match kind_of(path):
        case Kind.SWEEP_FOLDER:
            return Swept(str(path), Sweep(path))
        case Kind.RUN_FOLDER:
            return stored(path)
        case Kind.FOLDER:
            raise RequestError(
                f"{path} is neither the folder of a sweep nor of a run ('netspurt run --out DIR')"
            )
        case Kind.SCENARIO:
            return _scenario(path, how, settings)
        case Kind.TRACE | Kind.PARQUET:
            return read_trace(path)
        case Kind.RESULT:
            return Runs(str(path), documents_of(path))
        case Kind.CAPTURE:
            return Captured(read_capture(path, ["samples"]), str(path))
        case _:
            raise RequestError(
                f"{path} cannot be compared: give a scenario, a result of 'netspurt run' (JSON or a "
                "folder), a trace, the folder of a sweep, or a capture"
            )


def _scenario(path: Path, how: How, settings: list[tuple[str, str]]) -> Runs:
    from netspurt import _core

    scenario = Scenario(_core.Scenario.load(str(path), settings))
    name = ", ".join([scenario.name, *(f"{key} = {value}" for key, value in settings)])
    return Runs(name, {}, scenario.with_algorithms(how.algorithms) if how.algorithms else scenario)
