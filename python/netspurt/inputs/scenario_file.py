"""Whether a file can be a scenario, before it is parsed.

Lives here: what else the file may be, and the command that is for it. Must not live here: the keys of a scenario (the
native module reads them), or other kinds of input (``inputs.kind``).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from netspurt.errors import RequestError, absent
from netspurt.inputs.kind import Kind, kind_of

INSTEAD = {
    Kind.CAPTURE: "'netspurt why {0}' says what limited its connections, 'netspurt capture {0}' lists them",
    Kind.TRACE: "'netspurt plot {0}' draws it",
    Kind.PARQUET: "'netspurt rto {0}' and 'netspurt delays {0}' read tables of delays",
    Kind.RESULT: "'netspurt plot' and 'netspurt compare' read the folder of a run",
}
"""The commands for files that are not scenarios."""


def check_scenario_file(file: Path) -> None:
    """Refuses a file that is not a scenario.

    Raises:
        RequestError: there is no such file, or it is a folder, empty, a sweep file or of another kind.
    """
    if file.is_dir():
        raise RequestError(f"{file} is a folder: name a scenario file in it")
    if not file.exists():
        raise RequestError(
            f"{absent(file, 'scenario file ')}: 'netspurt new {file}' writes one to start from"
        )
    if not file.is_file():
        return  # A pipe has no content yet.
    kind = kind_of(file)
    if kind in INSTEAD:
        raise RequestError(f"{file} is {kind.value}, not a scenario: {INSTEAD[kind].format(file)}")
    if file.stat().st_size == 0:
        raise RequestError(f"{file} is empty: 'netspurt new {file} --force' writes a scenario to start from")
    if is_sweep(file):
        raise RequestError(f"{file} is a sweep, not a scenario: 'netspurt sweep {file}' runs it")


def is_sweep(file: Path) -> bool:
    """Whether the file names a scenario that it varies."""
    try:
        return "scenario" in tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        # Reading it as a scenario gives the error and its place.
        return False
