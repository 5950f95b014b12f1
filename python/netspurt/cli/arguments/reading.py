"""Progress of captures that are read in steps.

Lives here: how often the bar moves for a file. Must not live here: reading, or the bar itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from netspurt.analysis.capture import STEP


class Read(Protocol):
    """A capture that is being read."""

    @property
    def octets(self) -> int:
        """The number of bytes of the file read so far."""
        ...


def steps_of(file: str) -> int:
    """How often the bar moves for a file; a pipe has no length."""
    path = Path(file)
    try:
        return path.stat().st_size // STEP + 1 if path.is_file() else 1
    except OSError:
        # Reading it says why.
        return 1


def stepper(reading: Read, file: str, advance: Callable[[str], None]) -> Callable[[], None]:
    """A function to call after each step: it moves the bar as far as the file has been read."""
    shown = 0

    def stepped() -> None:
        nonlocal shown
        while shown < min(reading.octets // STEP + 1, steps_of(file)):
            shown += 1
            advance(Path(file).name)

    return stepped
