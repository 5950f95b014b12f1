"""Changes between the sides of a comparison, as data, and the scale on which they are drawn.

Lives here: changes in per cent, and their positions. Must not live here: drawing, on paper or on a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from netspurt.analysis import formats
from netspurt.errors import RequestError
from netspurt.plot.swept import in_units

MOST_ROWS = 40

UNLIKE = 20
"""If the largest change exceeds the median one by this factor, a linear scale would hide most changes."""

MARGIN = 0.04
"""The share of the scale's length that stays free at either end."""

MARKS = 6
"""The maximal number of steps of a linear scale."""


@dataclass(frozen=True)
class Change:
    """The change of one quantity.

    Attributes:
        name: the name of flow or link, and quantity.
        middle: the change of the mean, in per cent of A.
        ends: the ends of its 95 % interval, in per cent of A; None for a single pair of runs.
        plain: whether it is distinguishable from chance.
    """

    name: str
    middle: float
    ends: tuple[float, float] | None
    plain: bool

    @property
    def text(self) -> str:
        """The change as text."""
        return formats.percent(self.middle / 100)

    @property
    def reach(self) -> tuple[float, float]:
        """The ends of its bar."""
        places = (self.middle, *(self.ends or ()))
        return min(places), max(places)


@dataclass(frozen=True)
class Ruler:
    """A scale from ``low`` to ``high`` in per cent, including 0; beyond ``bend`` it is logarithmic."""

    low: float
    high: float
    bend: float | None

    def at(self, value: float) -> float:
        """The position of a value, from 0 to 1."""
        low, high = self._bent(self.low), self._bent(self.high)
        return MARGIN + (1 - 2 * MARGIN) * (self._bent(value) - low) / (high - low)

    @property
    def marks(self) -> list[float]:
        """Round values, including 0."""
        if self.bend is None:
            step = 10.0 ** math.floor(math.log10((self.high - self.low) / MARKS))
            step *= next(by for by in (1, 2, 5, 10) if (self.high - self.low) / (by * step) <= MARKS)
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            return [place * step for place in range(first, last + 1)]
        decades = range(math.ceil(math.log10(max(-self.low, self.high) / self.bend)) + 1)
        values = [self.bend * 10.0**decade for decade in decades]
        signed = [*(-value for value in reversed(values)), 0.0, *values]
        return [value for value in signed if self.low <= value <= self.high]

    def _bent(self, value: float) -> float:
        return value if self.bend is None else math.asinh(value / self.bend)


def changes_of(rows: Sequence[Mapping[str, Any]]) -> list[Change]:
    """The changes of the rows of ``comparing.pairs`` in per cent; rows without a change or with A = 0 are omitted.

    Raises:
        RequestError: no row has a change in per cent.
    """
    changes = []
    able = [row for row in rows if row["relative"] is not None and row["verdict"] != "same"]
    for row in able[:MOST_ROWS]:
        scale = 100 / abs(row["a"])
        ends = None if row["low"] is None else (row["low"] * scale, row["high"] * scale)
        plain = row["verdict"] == "distinguishable"
        changes.append(Change(_name(row), row["difference"] * scale, ends, plain))
    if not changes:
        raise RequestError("there is no change in per cent to draw: nothing differs, or A is 0 everywhere")
    return changes


def ruler_of(changes: Sequence[Change]) -> Ruler:
    """A scale over all changes; partly logarithmic if a few of them would make all others invisible."""
    low = min(0.0, *(change.reach[0] for change in changes))
    high = max(0.0, *(change.reach[1] for change in changes))
    if low == high:
        return Ruler(-1.0, 1.0, None)
    sizes = [size for change in changes if (size := max(map(abs, change.reach)))]
    middling = median(sizes)
    bent = max(sizes) > UNLIKE * middling
    return Ruler(low, high, 10.0 ** math.floor(math.log10(middling)) if bent else None)


def _name(row: Mapping[str, Any]) -> str:
    places = [str(value) for name, value in row.items() if "." in name]
    words = in_units(row["quantity"])[0].split(" (")[0]
    return ", ".join([*places, formats.arrows(f"{row['name']}: {words}")])
