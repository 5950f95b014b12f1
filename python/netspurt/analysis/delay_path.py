"""The delays of one path, whatever measured them.

Lives here: the columns that timers and regressions work on. Must not live here: files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.errors import RequestError

Floats: TypeAlias = npt.NDArray[np.float64]


class DelayFileError(RequestError):
    """A file that holds no delay records that can be used, but for the ``paths`` before its damage."""

    def __init__(self, message: str, paths: Sequence[DelayPath] = ()) -> None:
        super().__init__(message)
        self.paths = list(paths)


@dataclass(frozen=True)
class DelayPath:
    """The delays of one path in the order in which they were measured; all arrays have shape (n,), n >= 1.

    ``delay_s`` is one way, NaN where lost; ``octets`` is NaN where the length is not known.
    """

    file: str
    host: str
    time_s: Floats
    delay_s: Floats
    octets: Floats

    @property
    def name(self) -> str:
        """For a table or a picture."""
        return f"{Path(self.file).name} {self.host}".strip()

    @property
    def lost(self) -> npt.NDArray[np.bool_]:
        """Where no answer came."""
        return np.isnan(self.delay_s)
