"""The live table of sockets and the table at the end."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
from rich.console import Console

from netspurt.cli.views.sockets_view import SHOWN, Live, show
from netspurt.sockets.watching import SHARES, TABLE


def table(count: int) -> pl.DataFrame:
    """So many sockets; each was held longer than the one before it, the last ones late in the watch."""
    empty: dict[str, Any] = {name: kind() for name, kind in TABLE.items()}
    rows = [
        empty
        | {
            "socket": number,
            "local": f"10.0.0.1:{1000 + number}",
            "remote": "10.0.0.2:443",
            "limit": "timeout",
        }
        | {"duration_s": 10.0, SHARES["timeout"]: number / 10, SHARES["application"]: 10 - number / 10}
        | {
            "recent_s": 2.0,
            "recent_limit": "bottleneck",
            "recent_held_s": 1.0 * (number == 0),
            "process": "nginx",
        }
        | {"recent_bytes_acked": 1_000_000}
        for number in range(count)
    ]
    return pl.DataFrame(rows, schema=dict(TABLE))


def drawn(what: Any) -> list[str]:
    """What a terminal shows."""
    console = Console(file=io.StringIO(), width=200)
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_live_table_fits_the_terminal_and_begins_with_what_is_held_now() -> None:
    live = Live()
    live.update(table(50), missed=7)
    lines = drawn(live.picture(height=20))
    assert len(lines) <= 20
    assert "10.0.0.1:1000" in lines[1]
    assert "bottleneck (50 % held)" in lines[1]
    assert "4 Mbit/s" in lines[1]
    assert lines[-1].startswith("34 more sockets; 7 opened and closed between two polls")


def test_the_live_table_reports_that_there_is_no_connection() -> None:
    assert "no TCP connection" in drawn(Live().picture(height=20))[0]


def test_the_table_at_the_end_begins_with_what_was_held_longest() -> None:
    console = Console(file=io.StringIO(), width=200)
    show(console, table(SHOWN + 5))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    lines = text.splitlines()
    assert f"10.0.0.1:{1000 + SHOWN + 4}" in lines[1]
    assert "application 76 %, timeout 24 %" in lines[1]
    assert "5 more sockets" in text
    assert f"10.0.0.1:{1000 + SHOWN + 4} → 10.0.0.2:443: 2.4 s of 10 s (24 %): the sender waited" in text
