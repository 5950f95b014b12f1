"""When a point of a sweep has had seeds enough.

Lives here: the rule, as a function of what the seeds gave, and one number out of a run. Must not live here: who
runs what.

Seeds come in rounds, and a round is judged when all of it has come in. So the answer does not depend on which run
was done first, nor on how many ran at once, and an interrupted sweep stops where an undisturbed one would have.

Looking again and again makes the interval a little too narrow: of nominal 95 % some 90 to 94 % cover the mean. Ask for
more confidence where that matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netspurt.errors import RequestError, nearest

TABLES = ("flow", "group", "link")


@dataclass(frozen=True)
class Stop:
    """Ends a point when the interval of a mean reaches no further than ``within`` times the mean to either side.

    Attributes:
        quantity: a column of the flows, or of the links if ``link`` is given; a run counts with the mean of its rows.
        within: half the width of the interval over the mean, above 0.
        flow: only flows of this name.
        link: only this link, both directions, or ``"link/a->b"``.
        confidence: of the interval (Student's t), between 0 and 1.
        least: seeds before the first look, at least 2.
        round: seeds between looks, at least 1.
    """

    quantity: str
    within: float
    flow: str | None = None
    link: str | None = None
    confidence: float = 0.95
    least: int = 5
    round: int = 5

    def __post_init__(self) -> None:
        for name, good, words in (
            ("quantity", isinstance(self.quantity, str), "the name of a column"),
            ("within", _number(self.within) and self.within > 0, "a number above 0, such as 0.05"),
            ("confidence", _number(self.confidence) and 0 < self.confidence < 1, "between 0 and 1"),
            ("least", isinstance(self.least, int) and self.least >= 2, "at least 2"),
            ("round", isinstance(self.round, int) and self.round >= 1, "at least 1"),
        ):
            if not good:
                raise RequestError(f"{name} of [stop] is {words}, not {getattr(self, name)!r}")
        if self.flow is not None and self.link is not None:
            raise RequestError("stop: name a flow or a link, not both")

    def looks(self, seeds: int) -> list[int]:
        """After how many seeds it is looked, the last time after all."""
        return [*range(self.least, seeds, self.round), seeds]

    def enough(self, values: Sequence[float]) -> bool:
        """Whether the interval is narrow enough; values that are missing make it infinitely wide."""
        from netspurt.analysis.statistics import mean_interval

        if len(values) < self.least or not all(map(math.isfinite, values)):
            return False
        estimate = mean_interval(values, self.confidence)
        if estimate.high is None:
            return False
        return estimate.high - estimate.mean <= self.within * abs(estimate.mean)

    def value(self, tables: Mapping[str, Mapping[str, Any]]) -> float:
        """The quantity of one run.

        Args:
            tables: of flows and links (``"flow"``, ``"link"``), by column.

        Returns:
            The mean over the rows in question; NaN where one of them has no value.

        Raises:
            RequestError: no such column, flow or link.
        """
        table = tables["link" if self.link else "flow"]
        if self.quantity not in table:
            hint = nearest(self.quantity, table)
            raise RequestError(f"quantity of [stop]: the runs have no column '{self.quantity}'{hint}")
        rows = [row for row in range(len(table[self.quantity])) if self._counts(table, row)]
        if not rows:
            raise RequestError(
                f"stop: the runs have no {'link' if self.link else 'flow'} '{self.link or self.flow}'"
            )
        values = [table[self.quantity][row] for row in rows]
        if any(isinstance(value, str) for value in values):
            raise RequestError(f"quantity of [stop]: '{self.quantity}' is text, and has no mean")
        return sum(math.nan if value is None else float(value) for value in values) / len(values)

    def _counts(self, table: Mapping[str, Any], row: int) -> bool:
        if self.link is not None:
            link = table["link"][row]
            return self.link in (link, f"{link}/{table['direction'][row]}")
        return self.flow in (None, table["flow"][row])


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
