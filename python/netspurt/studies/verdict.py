"""Verdicts on a measured number beside a published one: pure functions, and bars that call them.

Lives here: verdicts. Must not live here: the source of the numbers, or the evaluation by a study.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Verdict = Literal["exact", "within bar", "outside", "not comparable", "not run"]
"""The verdict on one cell. ``not run`` appears only in an incomplete report."""

Role = Literal["fitted", "predicted"]
"""Whether the model's free parameters were fitted to this cell."""


def prints_alike(published: float, measured: float, decimals: int) -> bool:
    """True if both numbers print as the same text with the document's number of decimals."""
    return f"{measured:.{decimals}f}" == f"{published:.{decimals}f}"


def deviation(published: float | None, measured: float | None) -> float | None:
    """The relative deviation of the measured number from the published one; None if either is missing."""
    if published is None or measured is None or published == 0:
        return None
    return measured / published - 1.0


def within_fraction(published: float, measured: float, fraction: float) -> bool:
    """True if the measured number differs from the published one by at most ``fraction`` of it."""
    # A deviation equal to the bar is inside; rounding errors of a division must not decide that.
    return abs(measured - published) <= fraction * abs(published) * (1.0 + 1e-12)


def within_range(value: float, low: float, high: float) -> bool:
    """True if ``low <= value <= high``."""
    return low <= value <= high


class Bar(Protocol):
    """The requirement on a cell."""

    @property
    def words(self) -> str:
        """The bar as text for the reader."""
        ...

    def reached(self, published: float | None, measured: float, band: tuple[float, float] | None) -> bool:
        """Whether the cell meets it."""
        ...


@dataclass(frozen=True)
class PrintedDigits:
    """The measured number prints as the same text as the published one."""

    decimals: int

    @property
    def words(self) -> str:  # noqa: D102 - described by the protocol
        return "printed digits"

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and prints_alike(published, measured, self.decimals)


@dataclass(frozen=True)
class Fraction:
    """The measured number lies within a fraction of the published one."""

    fraction: float

    @property
    def words(self) -> str:  # noqa: D102
        return f"{self.fraction * 100:g} %"

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and within_fraction(published, measured, self.fraction)


@dataclass(frozen=True)
class Points:
    """The measured number, in per cent, differs by at most this many points from the published one."""

    points: float

    @property
    def words(self) -> str:  # noqa: D102
        return f"{self.points:g} points"

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and abs(measured - published) <= self.points * (1.0 + 1e-12)


@dataclass(frozen=True)
class PublishedInBand:
    """The published number, one draw from a wide distribution, lies in the model's own band over seeds."""

    low: int = 5
    high: int = 95

    @property
    def words(self) -> str:  # noqa: D102
        return f"published value in the model's {self.low}–{self.high} % band"

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and band is not None and within_range(published, *band)


@dataclass(frozen=True)
class Range:
    """The measured number lies in a range, for a document with a curve but no figures."""

    low: float
    high: float
    text: str

    @property
    def words(self) -> str:  # noqa: D102
        return self.text

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return within_range(measured, self.low, self.high)


def judge(
    published: float | None,
    measured: float | None,
    decimals: int | None,
    bar: Bar | None,
    band: tuple[float, float] | None = None,
) -> Verdict:
    """The verdict on one cell.

    *exact* if both print alike, else according to the bar; a cell without a bar is *not comparable*, and one
    without a measured number is *not run*.
    """
    if measured is None:
        return "not run"
    if published is not None and decimals is not None and prints_alike(published, measured, decimals):
        return "exact"
    if bar is None:
        return "not comparable"
    return "within bar" if bar.reached(published, measured, band) else "outside"
