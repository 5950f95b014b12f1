"""The delays of one path, from any source.

Lives here: the columns for timers and regressions. Must not live here: files.
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
    """A file has no usable delay records; ``paths`` are those before its damage."""

    def __init__(self, message: str, paths: Sequence[DelayPath] = ()) -> None:
        super().__init__(message)
        self.paths = list(paths)


@dataclass(frozen=True)
class DelayPath:
    """The delays of one path in the order of measurement; all arrays have shape (n,), n >= 1.

    ``delay_s`` is one way, NaN where lost; ``octets`` is the length in bytes, NaN where unknown.
    """

    file: str
    host: str
    time_s: Floats
    delay_s: Floats
    octets: Floats

    @property
    def name(self) -> str:
        """The label in a table or a plot."""
        return f"{Path(self.file).name} {self.host}".strip()

    @property
    def lost(self) -> npt.NDArray[np.bool_]:
        """True for each packet without an answer."""
        return np.isnan(self.delay_s)
