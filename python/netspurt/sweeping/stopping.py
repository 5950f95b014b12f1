"""The rule that ends a point of a sweep early.

Lives here: the rule, as a function of the values of the seeds, and the extraction of one number from a run. Must not
live here: execution.

Seeds run in rounds, and the rule applies when a round is complete. So the result depends neither on the order of
completion nor on the number of parallel runs, and an interrupted sweep stops at the same seed as an uninterrupted one.

Repeated tests make the interval a little too narrow: of nominal 95 % some 90 to 94 % cover the mean. Choose a higher
confidence where that matters.
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
    """Ends a point when the half-width of the interval of a mean is at most ``within`` times the mean.

    Attributes:
        quantity: a column of the flows, or of the links if ``link`` is given; a run counts with the mean of its rows.
        within: the half-width of the interval over the mean, above 0.
        flow: only flows of this name.
        link: only this link, both directions, or ``"link/a->b"``.
        confidence: confidence of the interval (Student's t), between 0 and 1.
        least: number of seeds before the first test, at least 2.
        round: number of seeds between tests, at least 1.
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
                raise RequestError(f"{name} of [stop] must be {words}, not {getattr(self, name)!r}")
        if self.flow is not None and self.link is not None:
            raise RequestError("stop: give a flow or a link, not both")

    def looks(self, seeds: int) -> list[int]:
        """The numbers of seeds at which the rule is tested; the last is the total."""
        return [*range(self.least, seeds, self.round), seeds]

    def enough(self, values: Sequence[float]) -> bool:
        """Whether the interval is narrow enough; missing values make it infinitely wide."""
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
            tables: tables of flows and links (``"flow"``, ``"link"``), by column.

        Returns:
            The mean over the selected rows; NaN if one of them has no value.

        Raises:
            RequestError: the column, flow or link does not exist.
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
            raise RequestError(f"quantity of [stop]: '{self.quantity}' is text, so it has no mean")
        return sum(math.nan if value is None else float(value) for value in values) / len(values)

    def _counts(self, table: Mapping[str, Any], row: int) -> bool:
        if self.link is not None:
            link = table["link"][row]
            return self.link in (link, f"{link}/{table['direction'][row]}")
        return self.flow in (None, table["flow"][row])


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
