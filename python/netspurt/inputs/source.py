"""Makes a recording for plots from a path or a result.

Lives here: the recording for each kind of input. Must not live here: drawing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from netspurt.analysis.capture import TABLES, Capture, read_capture
from netspurt.errors import RequestError
from netspurt.inputs.capture import Captured
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.recording import Recording
from netspurt.inputs.run import OneConnection, Runs, Simulated, documents_of, stored
from netspurt.inputs.trace import Traced, read_trace
from netspurt.scenario import Result, Scenario
from netspurt.sweeping.outcome import Sweep


def recording(what: object) -> Recording:
    """The recording of a ``Result``, a ``Capture``, a ``Scenario`` or a path.

    A scenario is simulated with seed 1. The path is that of a scenario, a run's folder, a trace or a capture.

    Raises:
        RequestError: the file is of another kind.
        TypeError: the input is none of these.
        ScenarioError: the scenario is invalid.
    """
    if isinstance(what, Result):
        return Simulated.of(what)
    if isinstance(what, Capture):
        return Captured(what)
    if isinstance(what, Simulated | OneConnection | Captured | Traced):
        return what
    if isinstance(what, Scenario):
        return Simulated(what, 1)
    if not isinstance(what, str | os.PathLike):
        raise TypeError(f"a result, a capture, a scenario or a path can be drawn, not {type(what).__name__}")
    found = of_path(Path(what))
    if isinstance(found, Sweep):
        raise RequestError(f"{what} is the folder of a sweep: draw it with heat_map, curves or distribution")
    return found


def of_path(
    path: Path, seed: int | None = None, settings: Sequence[tuple[str, str]] = ()
) -> Recording | Sweep:
    """A scenario (run now), a folder of ``run --out`` or of a sweep, a trace, or a capture.

    Args:
        path: the path of any of these.
        seed: the seed of a scenario (default 1), or the run of a folder (default: its first).
        settings: overrides of a scenario.

    Raises:
        RequestError: the input cannot be drawn.
        ScenarioError: the scenario is invalid.
    """
    kind = kind_of(path)
    if settings and kind is not Kind.SCENARIO:
        raise RequestError(f"--set changes a scenario, and {path} is not a scenario")
    if seed is not None and kind not in (Kind.SCENARIO, Kind.RUN_FOLDER, Kind.RESULT):
        raise RequestError(f"--seed is that of a run, and {path} is {kind.value}")
    match kind:
        case Kind.SCENARIO:
            from netspurt import _core

            scenario = Scenario(_core.Scenario.load(str(path), list(settings)))
            return Simulated(scenario, 1 if seed is None else seed)
        case Kind.CAPTURE:
            return Captured(read_capture(path, TABLES))
        case Kind.SWEEP_FOLDER:
            return Sweep(path)
        case Kind.TRACE | Kind.PARQUET:
            return Traced(path.name, read_trace(path).table)
        case Kind.RUN_FOLDER:
            return _of_run(path, stored(path), seed)
        case Kind.RESULT:
            return _of_run(path, Runs(str(path), documents_of(path)), seed)
        case _:
            raise RequestError(
                f"{path} is {kind.value} and cannot be drawn: give a scenario, the folder of 'netspurt run --out' or "
                "of a sweep, a trace, or a capture"
            )


def _of_run(path: Path, runs: Runs, seed: int | None) -> Simulated:
    if runs.scenario is None:
        raise RequestError(f"{path} has no scenario to repeat the run: give the folder of 'run --out'")
    known = sorted(runs.documents)
    chosen = known[0] if seed is None else seed
    if chosen not in runs.documents:
        raise RequestError(f"{path} has no run of seed {chosen}; its seeds are {', '.join(map(str, known))}")
    return Simulated(runs.scenario, chosen, runs.documents[chosen]["digest"])
