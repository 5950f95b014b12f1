"""Reads a capture in steps and diagnoses its connections, or simulates a scenario and does the same.

Lives here: the Python interface of the native ``Diagnosis``. Must not live here: tables, or text for a terminal.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netspurt.analysis.capture import STEP
from netspurt.diagnosing.connection_filter import ConnectionFilter
from netspurt.diagnosing.diagnosis import Diagnosis, collect
from netspurt.diagnosing.simulated import Simulated
from netspurt.diagnosing.time_range import TimeRange, time_range
from netspurt.errors import RequestError, unreadable
from netspurt.inputs.kind import Kind, kind_of
from netspurt.scenario import Result, Scenario

PIPE_STEP = 1 << 16
"""Bytes read per step from standard input, which may be slow."""

TAKEN = 500
"""The maximal number of connections taken at once: as Python objects they are much larger than as tables."""


def why(
    path: str | Path | Scenario | Result,
    *,
    filter: str | None = None,  # noqa: A002
    min_bytes: int = 1,
    begin: float | str | None = None,
    end: float | str | None = None,
) -> Diagnosis:
    """Finds out what limited the connections of a capture or of a simulation, and for how long.

    Formats and link types as in ``read_capture``. The interpreter lock is released during the read.

    Args:
        path: a capture (``-`` is standard input), a scenario or its file, simulated with seed 1, or the result of a run
            with ``record=["limits"]``. Of a simulation the limits are exact.
        filter: connections to keep, in the language of tcpdump: ``port 443 and not host 10.0.0.1``.
        min_bytes: connections with fewer acknowledged bytes, in all of their time, are counted and left out.
        begin: only the time from here on is diagnosed: seconds, or a text such as ``"200 ms"``, since the first packet
            of the capture or since the begin of the run. Budgets, sentences and bytes are of this time; the least RTT
            and the highest rate of a direction stay those of the whole connection.
        end: the end of this time.

    Raises:
        RequestError: the file cannot be read or is not a capture, the filter is not understood, there is one for a
            simulation, whose flows have no addresses, ``begin`` and ``end`` are no times in their order, or no
            connection is open between them.
        ScenarioError: the scenario is wrong.
        TypeError: ``path`` is something else, ``filter`` no text, or ``min_bytes`` no number.
        ValueError: the run did not record ``limits``, or ``min_bytes`` is negative.
    """
    if not isinstance(path, (str, Path, Scenario, Result)):
        raise TypeError(
            f"why() reads the path of a capture or scenario, a scenario, or the result of a run with "
            f'record=["limits"], not {type(path).__name__}'
        )
    if filter is not None and not isinstance(filter, str):
        raise TypeError(f"filter is a text such as 'port 443', not {type(filter).__name__}")
    if not isinstance(min_bytes, int):
        raise TypeError(f"min_bytes is a number of bytes, not {type(min_bytes).__name__}")
    if min_bytes < 0:
        raise ValueError(f"min_bytes is a number of bytes of at least 0, not {min_bytes}")
    wanted = None if filter is None else ConnectionFilter(filter)
    reading = source(path, min_bytes, time_range(begin, end))
    if wanted is not None and isinstance(reading, Simulated):
        raise RequestError(f"{reading.path} is simulated: its flows have names, so a filter does not apply")
    return collect(reading, wanted=wanted)


def source(
    path: str | Path | Scenario | Result, min_bytes: int = 1, within: TimeRange | None = None
) -> Reading | Simulated:
    """Opens the file or the result to be diagnosed, or simulates the scenario."""
    if isinstance(path, Scenario):
        path = path.run(seed=1, record=["limits"])
    if isinstance(path, Result):
        if "limits" not in path.recorded:
            raise ValueError('the run did not record its limits: run it with record=["limits"]')
        return Simulated(Path(path.scenario.name), path.native, _least(min_bytes), within)
    if str(path) != "-" and kind_of(Path(path)) is Kind.SCENARIO:
        return simulate(path, min_bytes=min_bytes, within=within)
    return Reading(path, min_bytes, within)


def _least(min_bytes: int) -> int:
    """A flow of a scenario that delivers nothing may be what one looks for: it is left out only on request."""
    return min_bytes if min_bytes > 1 else 0


def simulate(
    path: str | Path,
    settings: Sequence[tuple[str, str]] = (),
    seed: int = 1,
    min_bytes: int = 1,
    within: TimeRange | None = None,
) -> Simulated:
    """Simulates a scenario and records what limits each flow."""
    from netspurt import _core

    try:
        scenario = _core.Scenario.load(str(path), list(settings))
    except OSError as error:
        raise RequestError(unreadable(Path(path), error)) from error
    return Simulated(Path(path), scenario.run(seed=seed, record=["limits"]), _least(min_bytes), within)


class Reading:
    """A capture that is diagnosed in steps.

    Call ``step`` until it returns False; after each call, call ``take`` until it returns nothing.

    Raises:
        RequestError: the file cannot be read, or is not a capture.
    """

    def __init__(self, path: str | Path, min_bytes: int = 1, within: TimeRange | None = None) -> None:
        from netspurt import _core

        self.path = Path(path)
        self.within = within
        seconds = None if within is None else (within.begin_s, within.end_s)
        self._stopped = threading.Event()
        try:
            self._native = _core.Diagnosis.open(str(path), min_bytes, seconds)
        except _core.CaptureError as error:
            raise RequestError(str(error)) from error
        except OSError as error:
            raise RequestError(unreadable(Path(path), error)) from error

    @property
    def octets(self) -> int:
        """The number of bytes of the file read so far."""
        return self._native.octets

    def step(self, octets: int | None = None) -> bool:
        """Reads this many more bytes; False at the end, and after ``stop``. By default few bytes of a pipe."""
        if self._stopped.is_set():
            self._native.end()
            return False
        return self._native.read(octets or (PIPE_STEP if str(self.path) == "-" else STEP))

    def stop(self) -> None:
        """Ends the capture where it is, from any thread: the step that runs is the last but one."""
        self._stopped.set()

    def take(self) -> list[dict[str, Any]]:
        """Some of the connections that have ended, each once; empty if there are no more for now."""
        found: list[dict[str, Any]] = json.loads(self._native.take(TAKEN))
        return found

    def tally(self) -> dict[str, Any]:
        """Counts of packets by fate, of all connections, and of those ``outside`` of the range."""
        tally: dict[str, Any] = json.loads(self._native.tally())
        return {**tally, "outside": self._native.outside}
