"""Numbers and other values as text for readers: the only place for number formats.

Lives here: a value in, text out. Must not live here: text for programs (JSON and CSV keep full precision).
"""

from __future__ import annotations

from collections.abc import Sequence
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


CAPITALS = {"rtt": "RTT", "rto": "RTO", "ack": "ACK", "acks": "ACKs", "mos": "MOS"}
"""Abbreviations in the names of columns."""

RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
SPANS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def rate(bps: float | None) -> str:
    """Bits per second, such as ``1.04 Mbit/s``."""
    return _with_unit(bps, RATES)


def size(count: float | None) -> str:
    """Bytes, such as ``8.39 MB``, in powers of 1000."""
    return _with_unit(count, SIZES)


def span(seconds: float | None) -> str:
    """A time, such as ``664 ms``."""
    return _with_unit(seconds, SPANS)


def lasting(seconds: float) -> str:
    """How long a limit held, such as ``241.5 ms``, as the sentences of a diagnosis write it."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-3 or not seconds:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e6:.{0 if seconds >= 1e-5 else 1}f} µs"


def share(part: float | None) -> str:
    """A part of a whole, such as ``70.7 %``."""
    return "–" if part is None else f"{100 * part:.3g} %"


def quantity(name: str, value: float) -> str:
    """A value with the unit that the name of its column ends in, as in ``goodput_bps``."""
    for ending, form in (("_bps", rate), ("_s", span), ("_share", share), ("_loss", share)):
        if name.endswith(ending):
            return form(value)
    if name == "utilisation":
        return share(value)
    return size(value) if name.startswith("bytes") else plain(value)


def name(column: str) -> str:
    """The name of a column in words, without the unit that stands beside its values."""
    for ending in ("_bps", "_s"):
        column = column.removesuffix(ending)
    return words(column)


def words(column: str) -> str:
    """The parts of a column's name as words, with the usual capitals."""
    return " ".join(CAPITALS.get(part, part) for part in column.split("_"))


def sentence_case(words: str) -> str:
    """The words with a capital letter in front."""
    return words[:1].upper() + words[1:]


def _with_unit(value: float | None, units: Sequence[tuple[float, str]]) -> str:
    if value is None or value != value:
        return "–"
    least, last = next((each for each in units if each[0] == 1.0), units[-1]) if value == 0 else units[-1]
    # 999.6 kB is 1 MB with three digits.
    factor, unit = next((each for each in units if abs(value) >= 0.9995 * each[0]), (least, last))
    scaled = value / factor
    return f"{scaled:.3g} {unit}" if abs(scaled) < 999.5 else f"{scaled:.0f} {unit}"


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


def counted(number: int, name: str) -> str:
    """A whole number of something, such as ``1 packet`` or ``2 packets``."""
    return f"{count(number)} {name}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """A change with its sign, such as ``+5.2 %``; large ones without exponent, such as ``+45\u202f200 %``."""
    rounded = float(f"{100 * share:.3g}")
    if abs(rounded) >= 1000:
        return f"{rounded:+,.0f} %".replace(",", "\u202f")
    return f"{rounded:+g} %" if rounded else "0 %"


def number(value: float | None, digits: int = 5) -> str:
    """A number with this many significant digits; a dash for none, and for one that is not defined (NaN)."""
    if value is None or value != value:
        return "–"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def plain(value: float, digits: int = 4) -> str:
    """A number with this many significant digits; large ones without exponent, such as ``13\u202f816``."""
    return f"{value:.{digits}g}" if abs(value) < 10**digits - 0.5 else f"{value:,.0f}".replace(",", "\u202f")


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
