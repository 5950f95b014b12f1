"""Bars that only this document needs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal


@dataclass(frozen=True)
class AllowedByRounding:
    """The printed number lies in the range that the rounding of those it was computed from allows."""

    low: float
    high: float

    @property
    def words(self) -> str:  # noqa: D102 - described by the protocol
        return "printed rate within what delays rounded to 1 ms allow"

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and self.low <= published <= self.high


@dataclass(frozen=True)
class Within:
    """The measured number lies at most so far from the published one, in the cell's unit."""

    distance: float
    words: str

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and abs(measured - published) <= self.distance * (1.0 + 1e-9)


def cut(value: float, decimals: int) -> float:
    """A number cut (not rounded) to so many digits behind the point, as the document prints efficiencies."""
    # A quotient that is 0.29 in decimals must not be cut to 0.28 for a last bit.
    return float(Decimal(value + 1e-12).quantize(Decimal(1).scaleb(-decimals), ROUND_DOWN))


@dataclass(frozen=True)
class Cut:
    """The measured number, cut to so many digits, lies at most so far from the published one."""

    decimals: int
    distance: float = 0.0

    @property
    def words(self) -> str:  # noqa: D102
        away = f"within {self.distance:g} of them" if self.distance else "the same"
        return f"cut to {self.decimals} digits like the printed ones, {away}"

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and abs(cut(measured, self.decimals) - published) <= self.distance + 1e-9
