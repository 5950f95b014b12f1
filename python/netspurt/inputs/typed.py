"""Values as a user types them, on a command line or in the lab.

Lives here: the conversion of text to plain values, with an error message for invalid text. Must not live here: the use
of the values, or any slow import: every command loads this module.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import TypeVar

UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}
"""Seconds; a bare number is in seconds, as in every ping."""

LONGEST_S = 1e6
LONGEST_PACKET = 65535


def positive(text: str) -> int:
    """A whole number of at least 1."""
    return at_least(1, text)


def natural(text: str) -> int:
    """A whole number of at least 0."""
    return at_least(0, text)


def at_least(least: int, text: str) -> int:
    """A whole number of at least ``least``."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
    return value


def port(text: str) -> int:
    """A TCP port."""
    value = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= value <= 65535:
        raise ArgumentTypeError(f"'{text}' is not a port from 1 to 65535")
    return value


def setting(text: str) -> tuple[str, str]:
    """Splits ``PATH=VALUE``."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise ArgumentTypeError(f"'{text}' is not of the form path=value")
    return path.strip(), value.strip()


def algorithm(text: str) -> tuple[str, str]:
    """``NAME=PLACE``, or ``PLACE`` for a class under its own name."""
    name, equals, place = text.rpartition("=")
    name = name if equals else place.rpartition(":")[2]
    if not name or ":" not in place:
        raise ArgumentTypeError(f"'{text}' is not of the form NAME=FILE.py:CLASS")
    return name, place


def seconds(text: str) -> float:
    """A time above 0, such as ``0.2``, ``200ms`` or ``2 min``."""
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", text)
    value = float(found[1]) * UNITS.get(found[2], 0.0) if found else 0.0
    if not 0 < value <= LONGEST_S:
        raise ArgumentTypeError(f"'{text}' is not a time above zero, such as 0.2, 200ms or 2min")
    return value


def moment(text: str) -> float:
    """A time since a begin: 0 or more."""
    zero = re.fullmatch(r"\s*(0+\.?0*|\.0+)\s*([a-z]*)\s*", text)
    if zero and zero[2] in UNITS:
        return 0.0
    try:
        return seconds(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"'{text}' is not a time of at least zero, such as 0.2, 200ms or 2min"
        ) from None


def interval(text: str) -> float:
    """A time between two reports, or 0 for none."""
    return 0.0 if text == "0" else seconds(text)


def lengths(text: str) -> tuple[str, list[int]]:
    """``L``, ``L,L,…`` or ``LOW..HIGH``, in bytes."""
    low, dots, high = text.partition("..")
    if dots:
        return "uniform", _ordered(text, [_octets(low), _octets(high)])
    return "listed", [_octets(each) for each in text.split(",")]


def pace(text: str) -> tuple[str, list[float]]:
    """``T``, ``LOW..HIGH`` (a unit at the end applies to both) or ``reply``."""
    if text == "reply":
        return "replies", [0.0]
    low, dots, high = text.partition("..")
    if not dots:
        return "every", [seconds(text)]
    unit = re.sub(r"[\d.\s]", "", high)
    return "between", _ordered(text, [seconds(low if re.search("[a-z]", low) else low + unit), seconds(high)])


def part(text: str) -> tuple[int, int]:
    """``I/N``: the I-th of N parts, from 1."""
    found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ArgumentTypeError(f"'{text}' must be I/N with 1 ≤ I ≤ N, such as 1/8")
    return int(found[1]), int(found[2])


def capture_place(text: str) -> tuple[str, str]:
    """``NODE=FILE`` or ``LINK@NODE=FILE``."""
    host, equals, file = text.partition("=")
    if not equals or not host or not file:
        raise ArgumentTypeError(f"'{text}' is not of the form NODE=FILE or LINK@NODE=FILE")
    return host, file


def _octets(text: str) -> int:
    value = int(text) if text.strip().isascii() and text.strip().isdigit() else -1
    if not 0 <= value <= LONGEST_PACKET:
        raise ArgumentTypeError(f"'{text}' is not a number of bytes from 0 to {LONGEST_PACKET}")
    return value


Number = TypeVar("Number", int, float)


def _ordered(text: str, bounds: list[Number]) -> list[Number]:
    if bounds[0] > bounds[1]:
        raise ArgumentTypeError(f"'{text}' is not a range: its first end is larger than its last")
    return bounds
