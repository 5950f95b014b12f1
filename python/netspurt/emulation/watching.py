"""The live table of a host's connections, fitted to the terminal, like ``ss -i``.

Lives here: the conversion of rows to a table. Must not live here: the source of rows, or the time of display.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats

if TYPE_CHECKING:
    from rich.table import Table

Row = Mapping[str, Any]

GAP = 2
"""Width between columns."""

FRAME = 4
"""Lines other than connections: the heading, the summary, a line of the shell, and one spare line."""

MOST_SHOWN = 50


@dataclass(frozen=True)
class Column:
    """A column: its heading, its text, and the order in which it is dropped; 0 is never dropped."""

    head: str
    text: Callable[[Row], str]
    yields: int


def number(value: float | None, digits: int = 4) -> str:
    """A number with this many significant digits and no exponent; a dash if unknown."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    places = max(0, digits - len(str(int(abs(value)))))
    return f"{value:.{places}f}"


def _of(key: str) -> Callable[[Row], str]:
    return lambda row: number(row[key]) if not isinstance(row[key], str) else row[key]


STATES = {"SYN-RECEIVED": "SYN-RCVD", "ESTABLISHED": "ESTAB"}
"""Shorter names, as ``ss`` has them."""

COLUMNS = (
    Column("remote", lambda row: row["remote"], 0),
    Column("state", lambda row: STATES.get(row["state"], str(row["state"])), 0),
    Column("phase", _of("phase"), 10),
    Column("cwnd", _of("cwnd"), 1),
    Column("ssthresh", _of("ssthresh"), 6),
    Column("flight", _of("unacknowledged"), 3),
    Column("window", _of("peer_window"), 7),
    Column("srtt ms", _of("srtt_ms"), 2),
    Column("rto ms", _of("rto_ms"), 8),
    Column("resent", _of("retransmitted"), 4),
    Column("RTOs", _of("timeouts"), 11),
    Column("sendq", _of("send_queue"), 5),
    Column("recvq", _of("receive_queue"), 5),
    Column("waits for", _of("holding"), 9),
    Column("Mbit/s", lambda row: number(row["mbps"]), 0),
)
"""In the order of display; lengths in bytes."""

LEFT = ("remote", "state", "phase", "waits for")


class Watch:
    """The state between two displays: bytes carried, and column widths."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], tuple[float, int]] = {}
        self._widths: dict[str, int] = {}

    def table(
        self, rows: Sequence[Row], counts: Mapping[str, int], size: tuple[int, int], now: float | None = None
    ) -> Table:
        """One line per connection, without line breaks, for a terminal of this many columns and lines.

        Columns that do not fit are dropped in their order. A column never becomes narrower, so that columns do not
        move.
        """
        from rich.table import Table
        from rich.text import Text

        now = time.monotonic() if now is None else now
        width, height = size
        fit = max(1, min(MOST_SHOWN, height - FRAME))
        rated = [{**row, "mbps": self._rate(row, now)} for row in rows[:fit]]
        self._before = {key: value for key, value in self._before.items() if value[0] == now}
        cells = {column.head: [column.text(row) for row in rated] for column in COLUMNS}
        for head, texts in cells.items():
            self._widths[head] = max(self._widths.get(head, len(head)), *map(len, texts), 0)
        drawn = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
        shown = self._fitting(width)
        for column in shown:
            side = "left" if column.head in LEFT else "right"
            wide = self._widths[column.head]
            drawn.add_column(column.head, justify=side, min_width=wide, no_wrap=True)  # type: ignore[arg-type]
        for place in range(len(rated)):
            drawn.add_row(*(Text(cells[column.head][place]) for column in shown))
        drawn.caption = _rest(counts, len(rows) - len(rated))
        drawn.caption_justify = "left"
        return drawn

    def _fitting(self, width: int) -> list[Column]:
        """The columns that fit."""
        shown = list(COLUMNS)
        while sum(self._widths[column.head] + GAP for column in shown) - GAP > width:
            last = max(shown, key=lambda column: column.yields)
            if last.yields == 0:
                break
            shown = [column for column in shown if column.yields < last.yields]
        return shown

    def _rate(self, row: Row, now: float) -> float | None:
        """Megabits per second since the last display of this connection."""
        who = (row["local"], row["remote"])
        carried = row["bytes_sent"] + row["bytes_received"]
        then, before = self._before.get(who, (now, carried))
        self._before[who] = (now, carried)
        return 8e-6 * (carried - before) / (now - then) if now > then else None


def _rest(counts: Mapping[str, int], hidden: int) -> str:
    """A summary of the connections without a line."""
    parts = [formats.counted(hidden, "more connection")] if hidden > 0 else []
    parts += [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return ", ".join(parts) or "waiting for connections"
