"""What to do with a file that was given for a capture, and is another input of the program.

Lives here: the commands for such files. Must not live here: reading a capture, or why other files are none.
"""

from __future__ import annotations

from pathlib import Path

from netspurt.errors import RequestError
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.scenario_file import is_sweep

INSTEAD = {
    Kind.SCENARIO: "'netspurt run {0} --pcap FILE.pcapng' simulates it and writes a capture, 'netspurt why {0}' says "
    "what limits its flows",
    Kind.TRACE: "'netspurt plot {0}' draws it",
}
"""The commands for files that are not captures."""


def check_capture_file(file: str) -> None:
    """Refuses a file that another command reads. What else is no capture, or cannot be read, shows when it is read.

    Raises:
        RequestError: it is a scenario, a sweep or a trace.
    """
    path = Path(file)
    try:
        if file == "-" or not path.is_file() or not path.stat().st_size:
            return
        kind = kind_of(path)
    except (OSError, RequestError):
        return
    if kind not in INSTEAD:
        return
    if kind is Kind.SCENARIO and is_sweep(path):
        raise RequestError(f"{file} is a sweep, not a capture: 'netspurt sweep {file}' runs it")
    raise RequestError(f"{file} is {kind.value}, not a capture: {INSTEAD[kind].format(file)}")
