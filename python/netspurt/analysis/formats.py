"""Numbers and other values as text for readers: the only place for number formats.

Lives here: a value in, text out. Must not live here: text for programs (JSON and CSV keep full precision).
"""

from __future__ import annotations

from typing import Any


def text(value: Any, digits: int = 6) -> str:
    """A readable value; a number that is not whole has this many significant digits."""
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {cause}" for cause, count in value.items() if count) or "0"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)


def arrows(words: str) -> str:
    """Replaces each arrow by one character: a line may break at a hyphen, but must not break an arrow."""
    return words.replace("->", "→")


def digits(value: float, count: int) -> str:
    """A number with this many significant digits, such as ``1e-7``."""
    mantissa, e, exponent = f"{value:.{count}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def count(number: int) -> str:
    """A whole number with a narrow space between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def percent(share: float) -> str:
    """A change with its sign, such as ``+5.2 %``; large ones without exponent, such as ``+45\u202f200 %``."""
    rounded = float(f"{100 * share:.3g}")
    if abs(rounded) >= 1000:
        return f"{rounded:+,.0f} %".replace(",", "\u202f")
    return f"{rounded:+g} %" if rounded else "0 %"


def number(value: float | None, digits: int = 5) -> str:
    """A number with this many significant digits, or a dash."""
    if value is None:
        return "–"
    if value != value or value in (float("inf"), float("-inf")):
        return "∞" if value == float("inf") else "?"
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def deviation(fraction: float | None) -> str:
    """A deviation from a published number, with its sign."""
    if fraction is None:
        return "–"
    return f"{100 * fraction:+.1f} %" if abs(fraction) >= 0.0005 else f"{100 * fraction:+.4f} %"


def unit(name: str) -> str:
    """The printed form of a unit."""
    return "µs" if name == "us" else name


def label(value: object) -> str:
    """The printed form of a row label."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
