"""Sockets and what limits them, on a terminal: a live table, and the table at the end.

Lives here: layout. Must not live here: polls, the choice of sockets, or sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from netspurt.analysis import formats
from netspurt.sockets.watching import budget, worst_first
from netspurt.sockets.words import sentence

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, Group
    from rich.table import Table

SHOWN = 20
"""Sockets listed at the end."""

EXPLAINED = 3
"""Sockets with a sentence at the end."""

LEAST_SHARE = 0.02
"""Limits with a smaller share are not listed."""

MARGIN = 4
"""Lines of a terminal that the live table leaves free."""


class View(Protocol):
    """What shows the sockets while they are watched."""

    def update(self, table: pl.DataFrame, missed: int | None) -> None:
        """Shows the sockets that exist."""


class Silent:
    """Shows nothing."""

    def update(self, table: pl.DataFrame, missed: int | None) -> None:
        """Does nothing."""


class Live:
    """Shows a table. The sockets that were limited for the longest time recently come first."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._left_out = 0
        self._missed: int | None = None

    def update(self, table: pl.DataFrame, missed: int | None) -> None:
        """Takes the sockets that the next picture shows."""
        order = ("recent_held_s", "recent_bytes_acked", "recent_bytes_received")
        self._rows = worst_first(table, order).head(100).to_dicts()
        self._left_out, self._missed = max(0, table.height - 100), missed

    def picture(self, height: int) -> Group:
        """The table, for a terminal of this height."""
        from rich.console import Group
        from rich.text import Text

        shown = self._rows[: max(1, height - MARGIN)]
        more = len(self._rows) - len(shown) + self._left_out
        below = [f"{more} more sockets"] if more else []
        below += [f"{self._missed} opened and closed between two polls"] if self._missed else []
        return Group(
            _table([_now(row) for row in shown]), Text("; ".join([*below, "Ctrl-C ends it"]), style="dim")
        )


@contextmanager
def on_terminal(console: Console) -> Iterator[View]:
    """Draws while the block runs, and leaves nothing behind."""
    from rich import live

    view = Live()
    picture = live.Live(
        console=console,
        get_renderable=lambda: view.picture(console.height),
        refresh_per_second=2,
        transient=True,
    )
    with picture:
        yield view


def show(console: Console, table: pl.DataFrame) -> None:
    """Prints the sockets, those that were held longest first, and sentences for the first of them."""
    from rich.text import Text

    rows = worst_first(table).to_dicts()
    console.print(_table([_whole(row) for row in rows[:SHOWN]]))
    if len(rows) > SHOWN:
        console.print(f"{len(rows) - SHOWN} more sockets", highlight=False)
    console.print()
    for row in rows[:EXPLAINED]:
        who = f"{row['local']} → {row['remote']}"
        console.print(Text.assemble((who, "bold"), f": {sentence(row)}."), soft_wrap=True)


def _now(row: Mapping[str, Any]) -> dict[str, str]:
    seconds = row["recent_s"] or 1.0
    held = row["recent_held_s"] / seconds
    limit = f"{row['recent_limit']} ({formats.share(held)} held)" if row["recent_s"] else "–"
    return _who(row) | {
        "limit now": limit,
        "sent/s": formats.rate(8 * row["recent_bytes_acked"] / seconds),
        "received/s": formats.rate(8 * row["recent_bytes_received"] / seconds),
        "RTT": formats.span(row["rtt_s"]),
        "budget": _budget(row),
    }


def _whole(row: Mapping[str, Any]) -> dict[str, str]:
    return _who(row) | {
        "seen": formats.span(row["duration_s"]),
        "sent": formats.size(row["bytes_acked"]),
        "received": formats.size(row["bytes_received"]),
        "RTT": formats.span(row["rtt_s"]),
        "budget": _budget(row),
    }


def _who(row: Mapping[str, Any]) -> dict[str, str]:
    process = f"{row['process']}[{row['pid']}]" if row["pid"] is not None else f"uid {row['uid']}"
    return {"process": process, "local": row["local"], "remote": row["remote"], "state": row["state"]}


def _budget(row: Mapping[str, Any]) -> str:
    lines = [line for line in budget(row) if line["share"] >= LEAST_SHARE]
    return ", ".join(f"{line['limit']} {100 * line['share']:.0f} %" for line in lines) or "–"


def _table(rows: Sequence[Mapping[str, str]]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in rows[0] if rows else ("no TCP connection",):
        table.add_column(head, overflow="fold" if head == "budget" else "ellipsis", no_wrap=head != "budget")
    for row in rows:
        table.add_row(*map(escape, row.values()))
    return table
