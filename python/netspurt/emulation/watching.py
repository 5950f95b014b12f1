"""The live table of a host's connections: as much of each as a terminal has room for, like ``ss -i``.

Lives here: rows to a table. Must not live here: where rows come from, or when they are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

Row = Mapping[str, Any]

GAP = 2
"""Between columns."""

FRAME = 4
"""Lines beside those of connections: the head, what has no line, a line of the shell, and one to spare."""

MOST_SHOWN = 50


@dataclass(frozen=True)
class Column:
    """What is shown of a connection: the head, what to write, and how soon it gives way; 0 stays always."""

    head: str
    text: Callable[[Row], str]
    yields: int


def number(value: float | None, digits: int = 4) -> str:
    """With so many digits that count and no exponent; a dash for what is not known."""
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
"""In the order in which they stand; lengths in bytes."""

LEFT = ("remote", "state", "phase", "waits for")


class Watch:
    """What has to be remembered from one look to the next: bytes carried, and how wide columns were."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], tuple[float, int]] = {}
        self._widths: dict[str, int] = {}

    def table(
        self, rows: Sequence[Row], counts: Mapping[str, int], size: tuple[int, int], now: float | None = None
    ) -> Table:
        """One line for each connection, none of them broken, in a terminal of so many columns and lines.

        Columns that have no room are left out, the least wanted first. No column becomes narrower, or all would jump.
        """
        from rich.table import Table
        from rich.text import Text

        now = time.monotonic() if now is None else now
        width, height = size
        fit = max(1, min(MOST_SHOWN, height - FRAME))
        told = [{**row, "mbps": self._rate(row, now)} for row in rows[:fit]]
        self._before = {key: value for key, value in self._before.items() if value[0] == now}
        cells = {column.head: [column.text(row) for row in told] for column in COLUMNS}
        for head, texts in cells.items():
            self._widths[head] = max(self._widths.get(head, len(head)), *map(len, texts), 0)
        drawn = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
        shown = self._fitting(width)
        for column in shown:
            side = "left" if column.head in LEFT else "right"
            wide = self._widths[column.head]
            drawn.add_column(column.head, justify=side, min_width=wide, no_wrap=True)  # type: ignore[arg-type]
        for place in range(len(told)):
            drawn.add_row(*(Text(cells[column.head][place]) for column in shown))
        drawn.caption = _rest(counts, len(rows) - len(told))
        drawn.caption_justify = "left"
        return drawn

    def _fitting(self, width: int) -> list[Column]:
        """The columns for which there is room."""
        shown = list(COLUMNS)
        while sum(self._widths[column.head] + GAP for column in shown) - GAP > width:
            last = max(shown, key=lambda column: column.yields)
            if last.yields == 0:
                break
            shown = [column for column in shown if column.yields < last.yields]
        return shown

    def _rate(self, row: Row, now: float) -> float | None:
        """Megabits per second since the last look at this connection."""
        who = (row["local"], row["remote"])
        carried = row["bytes_sent"] + row["bytes_received"]
        then, before = self._before.get(who, (now, carried))
        self._before[who] = (now, carried)
        return 8e-6 * (carried - before) / (now - then) if now > then else None


def _rest(counts: Mapping[str, int], hidden: int) -> str:
    """What has no line of its own."""
    parts = [f"{hidden} more connections"] if hidden > 0 else []
    parts += [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return ", ".join(parts) or "waiting for connections"
