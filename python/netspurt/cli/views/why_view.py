"""A diagnosis on a terminal: the sentence of each connection, its budget as bars, and what to try.

Lives here: the layout of this text. Must not live here: the choice of what to show (``commands.why``), or advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from rich.text import Text

from netspurt.analysis import formats
from netspurt.cli.views import why_transfers
from netspurt.diagnosing.contents import contents
from netspurt.diagnosing.diagnosis import main_direction
from netspurt.diagnosing.remedies_text import WHERE, Advice, advice
from netspurt.plot.palette import BLACK, BLUE, GREEN, ORANGE, RED, VIOLET, limit_colour

if TYPE_CHECKING:
    from rich.console import Console

    from netspurt.diagnosing import Diagnosis

BAR = 32
"""The width of the whole time in characters."""

NUMBERS_WIDTH = 40
"""The width of what is before a bar."""

ANSI = {BLUE: "blue", ORANGE: "yellow", GREEN: "green", VIOLET: "magenta", RED: "red", BLACK: "cyan"}
"""Colours of print as those of the terminal, which the user has chosen to be legible."""

WRAPPED = 110
"""Columns of advice."""

EIGHTHS = " ▏▎▍▌▋▊▉"

LEAST_SHARE = 0.005
"""Limits with a smaller share are summed up in one line."""

PLACES = {
    "sender": "at the sender",
    "receiver": "at the receiver",
    "between": "between sender and receiver",
    "unknown": "at an unknown place",
}

NUMBERS = {
    "window_bytes": ("window", "bytes"),
    "flight_bytes": ("in flight", "bytes"),
    "rtt_s": ("RTT", "seconds"),
    "queueing_s": ("queueing", "seconds"),
    "rate_bps": ("rate", "rate"),
    "retransmitted": ("retransmitted", "count"),
}
"""Names and kinds of the numbers of the evidence; a number that is missing here keeps its name."""


def title(diagnosis: Diagnosis) -> str:
    """The first line: the file and its contents."""
    name = "standard input" if str(diagnosis.path) == "-" else diagnosis.path
    return f"{name}: {contents(diagnosis)}"


def show(console: Console, row: Mapping[str, Any], known: dict[Advice, int]) -> None:
    """Prints a connection of the document; ``known`` is the advice that was printed, with its connection."""
    main = main_direction(row)
    who = f"connection {row['connection']}: {row['client']} → {row['server']}"
    place = PLACES.get(main["vantage"], main["vantage"])
    about = (
        f"{formats.counted(main['bytes'], 'byte')} from the {main['from']} in {formats.lasting(main['duration_s'])}, "
        + (f"captured {place}" if main["vantage"] in PLACES else "simulated")
    )
    if main["offload"]:
        about += ", above segmentation offload"
    console.print(Text.assemble((who, "bold"), f"  {about}"), soft_wrap=True)
    console.print(Text(f"  {main['sentence']}"), soft_wrap=True)
    for line in budget(main, console.width if console.is_terminal else None):
        console.print(line, soft_wrap=True)
    for words in (*why_transfers.hidden(main), *why_transfers.transfers(row)):
        console.print(Text(words), soft_wrap=True)
    other = next(each for each in row["directions"] if each["from"] != main["from"])
    if other["bytes"]:
        sent = f"  From the {other['from']}: {formats.counted(other['bytes'], 'byte')}. {other['sentence']}"
        console.print(Text(sent), soft_wrap=True)
    _show_advice(console, row["connection"], advice(main), known)
    console.print()


def budget(direction: Mapping[str, Any], width: int | None = None) -> list[Text]:
    """The lines of a budget: limit, seconds, share, bar, evidence.

    Where they would be longer than ``width``, the evidence has lines of its own.
    """
    lines = direction["budget"]
    shown = [line for line in lines if line["share"] >= LEAST_SHARE] or lines[:1]
    few = lines[len(shown) :]
    rows = [(line["limit"], line["seconds"], line["share"], evidence(line["evidence"])) for line in shown]
    if few:
        names = ", ".join(line["limit"] for line in few)
        seconds_left, share_left = (sum(line[name] for line in few) for name in ("seconds", "share"))
        rows.append((f"{len(few)} more", seconds_left, share_left, names))
    whole = [Text("  ").join([_numbers(*row[:3]), *([Text(row[3])] if row[3] else [])]) for row in rows]
    if width is None or max(line.cell_len for line in whole) <= width:
        return whole
    room = max(width - NUMBERS_WIDTH, 0)
    return [line for row in rows for line in (_numbers(*row[:3], min(BAR, room)), *_indented(row[3], width))]


def _numbers(limit: str, duration: float, share: float, length: int = BAR) -> Text:
    numbers = f"  {limit:<18} {formats.lasting(duration):>9} {100 * share:5.1f} %  "
    return Text.assemble(numbers, (bar(share, length), colour(limit))) if length else Text(numbers.rstrip())


def _indented(words: str, width: int) -> list[Text]:
    margin = " " * 4
    return [Text(line) for line in wrap(words, width, initial_indent=margin, subsequent_indent=margin)]


def colour(limit: str) -> str:
    """The colour of a limit on a terminal."""
    return ANSI.get(limit_colour(limit), "bright_black")


def bar(share: float, length: int = BAR) -> str:
    """A share as a bar of eighths of a character, padded to its full length; never empty."""
    eighths = max(round(share * length * 8), 1)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()).ljust(length)


def evidence(numbers: Mapping[str, Any]) -> str:
    """Packet numbers, then the other numbers with their units."""
    parts = []
    if (packets := numbers.get("packets")) is not None:
        first, last = (max(number, 1) for number in packets)
        parts.append(f"packets {first}–{last}" if first != last else f"packet {first}")
    parts += [
        _number(name, value) for name, value in numbers.items() if name != "packets" and value is not None
    ]
    return ", ".join(parts)


def _number(name: str, value: float) -> str:
    words, kind = NUMBERS.get(name, (name, "count"))
    return f"{words} {_UNITS[kind](value)}"


def _size(value: float) -> str:
    if value >= 1 << 20:
        return f"{value / (1 << 20):.1f} MiB"
    return f"{value / 1024:.0f} KiB" if value >= 1024 else f"{value:.0f} bytes"


def _rate(value: float) -> str:
    for unit, scale in (("Gbit/s", 1e9), ("Mbit/s", 1e6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e3:.3g} kbit/s"


_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": _size,
    "seconds": formats.lasting,
    "rate": _rate,
    "count": lambda value: f"{value:.6g}",
}


def _show_advice(console: Console, number: int, found: Sequence[Advice], known: dict[Advice, int]) -> None:
    """Prints advice in full the first time, and later where it stands."""
    fresh = [each for each in found if each not in known]
    if fresh:
        console.print(Text("  Worth trying:"))
    for each in fresh:
        known[each] = number
        head = f"  * {each.limit}, {WHERE[each.where]}: "
        text = Text(fill(head + each.words, min(WRAPPED, console.width), subsequent_indent="    "))
        text.stylize(colour(each.limit), 0, len(head))
        console.print(text, soft_wrap=True)
        for command in each.commands:
            console.print(Text(f"      {command}", style="bold"), soft_wrap=True)
    above = sorted({known[each] for each in found if known[each] != number})
    if above:
        also = " also" if fresh else ""
        names = " and ".join(f"connection {other}" for other in above)
        console.print(Text(f"  Worth trying{also}: as for {names}, above."), soft_wrap=True)
