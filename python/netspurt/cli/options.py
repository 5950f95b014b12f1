"""Options that several commands have, and their values, checked as they are typed.

Lives here: text to plain values, with a sentence where that is wrong. Must not live here: what the values are for, or
any heavy import: every command loads this.
"""

from __future__ import annotations

import os
import re
from argparse import (
    Action,
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
    _SubParsersAction,  # argparse gives the type no public name
)
from typing import TypeVar

UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}
"""Seconds; a bare number is seconds, as every ping has it."""

Parser = TypeVar("Parser", bound=ArgumentParser)


class Help(RawDescriptionHelpFormatter):
    """Keeps the lines of a description, and sets a list of commands in two columns."""

    def add_argument(self, action: Action) -> None:
        """Makes the first column as wide as the longest of the commands below."""
        super().add_argument(action)
        if isinstance(action, _SubParsersAction):
            longest = max(map(len, action.choices))
            self._action_max_length = max(self._action_max_length, longest + 2 * self._indent_increment + 2)


LONGEST_S = 1e6
LONGEST_PACKET = 65535


def add_command(
    commands: _SubParsersAction[Parser], name: str, words: str, example: str, more: str = ""
) -> Parser:
    """A parser below another, whose help is a sentence, perhaps more, and an example."""
    return commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.{more}",
        epilog=f"example: {example}",
        formatter_class=Help,
        allow_abbrev=False,
    )


def add_json(command: ArgumentParser) -> None:
    """``--json``, which every command has."""
    command.add_argument("--json", action="store_true", help="one JSON document on standard output")


def add_settings(command: ArgumentParser) -> None:
    """``--set``: pairs of a path and a value."""
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        type=setting,
        metavar="PATH=VALUE",
        help="override a path of the scenario, as often as wanted; a list index is a number",
    )


def add_algorithms(command: ArgumentParser) -> None:
    """``--algorithm``: classes of the user's own, by name."""
    command.add_argument(
        "--algorithm",
        action="append",
        default=[],
        dest="algorithms",
        type=algorithm,
        metavar="NAME=FILE.py:CLASS",
        help="a class that the scenario names python:NAME, from a file or MODULE:CLASS, as often as wanted",
    )


def add_jobs(command: ArgumentParser, what: str = "simulations") -> None:
    """``--jobs``: how many of them at once."""
    command.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help=f"{what} at once"
    )


def add_records(command: ArgumentParser) -> None:
    """Files of recorded delays, and the seed of those that are made from a few numbers."""
    command.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="CSV (time_s, delay_ms or rtt_ms, length_octets, host; empty: lost), Parquet, a capture "
        "(pcap or pcapng, also packed), a trace of 'run', or a synthetic path (.toml)",
    )
    command.add_argument(
        "--seed", type=natural, default=1, metavar="N", help="of synthetic paths (default: 1)"
    )


def positive(text: str) -> int:
    """A whole number of at least 1."""
    return at_least(1, text)


def natural(text: str) -> int:
    """A whole number of at least 0."""
    return at_least(0, text)


def at_least(least: int, text: str) -> int:
    """A whole number that is no smaller."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
    return value


def port(text: str) -> int:
    """A port of TCP."""
    value = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= value <= 65535:
        raise ArgumentTypeError(f"'{text}' is not a port from 1 to 65535")
    return value


def setting(text: str) -> tuple[str, str]:
    """``PATH=VALUE``, apart."""
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
        raise ArgumentTypeError(f"'{text}' is not a time such as 0.2, 200ms or 2min")
    return value


def lengths(text: str) -> tuple[str, list[int]]:
    """``L``, ``L,L,…`` or ``LOW..HIGH``, in octets."""
    low, dots, high = text.partition("..")
    if dots:
        return "uniform", _ordered(text, [_octets(low), _octets(high)])
    return "listed", [_octets(each) for each in text.split(",")]


def pace(text: str) -> tuple[str, list[float]]:
    """``T``, ``LOW..HIGH`` (a unit at the end is for both) or ``reply``."""
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
        raise ArgumentTypeError(f"'{text}' is no part of a whole such as 1/8, 2/8, … 8/8")
    return int(found[1]), int(found[2])


def capture_place(text: str) -> tuple[str, str]:
    """``NODE=FILE``."""
    host, equals, file = text.partition("=")
    if not equals or not host or not file:
        raise ArgumentTypeError(f"'{text}' is not of the form NODE=FILE")
    return host, file


def _octets(text: str) -> int:
    value = int(text) if text.strip().isascii() and text.strip().isdigit() else -1
    if not 0 <= value <= LONGEST_PACKET:
        raise ArgumentTypeError(f"'{text}' is not a number of octets from 0 to {LONGEST_PACKET}")
    return value


Number = TypeVar("Number", int, float)


def _ordered(text: str, bounds: list[Number]) -> list[Number]:
    if bounds[0] > bounds[1]:
        raise ArgumentTypeError(f"'{text}' is no range: its first end is larger than its last")
    return bounds
