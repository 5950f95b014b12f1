"""Bars that only this study needs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal


@dataclass(frozen=True)
class AllowedByRounding:
    """The printed number lies in the range that follows from the rounding of its inputs."""

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
    """The measured number differs from the published one by at most this much, in the cell's unit."""

    distance: float
    words: str

    def reached(  # noqa: D102
        self, published: float | None, measured: float, band: tuple[float, float] | None
    ) -> bool:
        return published is not None and abs(measured - published) <= self.distance * (1.0 + 1e-9)


def cut(value: float, decimals: int) -> float:
    """A number truncated to this many decimals, as the document prints efficiencies."""
    # Rounding errors must not truncate a quotient of 0.29 to 0.28.
    return float(Decimal(value + 1e-12).quantize(Decimal(1).scaleb(-decimals), ROUND_DOWN))


@dataclass(frozen=True)
class Cut:
    """The measured number, truncated to this many digits, differs from the published one by at most this much."""

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
