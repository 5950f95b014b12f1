"""The part of the time of a capture or of a run that is diagnosed.

Lives here: its limits, checked, and their words. Must not live here: which packets or intervals it holds: Rust decides
that.
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from dataclasses import dataclass

from netspurt.errors import RequestError
from netspurt.inputs import typed


@dataclass(frozen=True)
class TimeRange:
    """A part of the time: seconds since the first packet of a capture, or since the begin of a run.

    Attributes:
        begin_s: its begin.
        end_s: its end, which is no longer in it; infinite if it reaches to the end.

    Raises:
        RequestError: it does not end after its begin.
    """

    begin_s: float = 0.0
    end_s: float = math.inf

    def __post_init__(self) -> None:
        if not self.begin_s < self.end_s:
            begin, end = _exact(self.begin_s), _exact(self.end_s)
            raise RequestError(
                f"the time to diagnose begins at {begin} and ends at {end}: its end must be later"
            )

    @property
    def words(self) -> str:
        """Such as ``from 10 s to 15 s``."""
        begin = f"from {_exact(self.begin_s)}"
        return begin if math.isinf(self.end_s) else f"{begin} to {_exact(self.end_s)}"

    def document(self) -> dict[str, float | None]:
        """For JSON; ``end_s`` is null if it reaches to the end."""
        return {"begin_s": self.begin_s, "end_s": None if math.isinf(self.end_s) else self.end_s}

    def touches(self, from_s: float, until_s: float) -> bool:
        """Whether any of this time is in the range."""
        return from_s < self.end_s and until_s >= self.begin_s


def time_range(begin: float | str | None, end: float | str | None) -> TimeRange | None:
    """The range between two times in seconds or as text such as ``"200 ms"``; None without either.

    Raises:
        RequestError: a time is not understood or negative, or the end is not after the begin.
        TypeError: a time is neither a number nor a text.
    """
    if begin is None and end is None:
        return None
    return TimeRange(
        0.0 if begin is None else _seconds("begin", begin), math.inf if end is None else _seconds("end", end)
    )


def _seconds(name: str, value: float | str) -> float:
    if isinstance(value, str):
        try:
            return typed.moment(value)
        except ArgumentTypeError as error:
            raise RequestError(f"{name}: {error}") from error
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a time in seconds or a text such as '200 ms', not {type(value).__name__}")
    if not 0 <= value <= typed.LONGEST_S:
        raise RequestError(f"{name}: {value:g} is not a time of at least zero seconds")
    return float(value)


def _exact(seconds: float) -> str:
    """A time as a user gave it, with up to microseconds."""
    return f"{seconds * 1e3:.6g} ms" if 0 < seconds < 1 else f"{seconds:.9g} s"
