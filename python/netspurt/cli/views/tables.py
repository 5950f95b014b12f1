"""Tables of results as text, for a terminal and for pipes.

Lives here: the layout of a plain table. Must not live here: the format of a value (``formats``), or what is in it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 160
"""Width of tables in characters where output is not a terminal."""

FEW = 4
"""So many rows can stand side by side."""

MANY = 1000
"""More rows than this are printed as plain lines: rich takes a millisecond and 14 KB for each."""


def console(wide: int = WIDE) -> Console:
    """Where results go. A file or a pipe has no width: what stands there is not cut."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=wide)


def show(console: Console, title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """One line for each row; or, where a few rows would be too wide so, one column for each."""
    from rich.markup import escape
    from rich.table import Table

    if title:
        console.print(f"[bold]{escape(title)}[/]", highlight=False, soft_wrap=True)
    texts = [[formats.text(row.get(column)) for column in columns] for row in rows]
    widths = [max(map(len, column)) + 2 for column in zip(columns, *texts, strict=True)]
    if len(rows) > MANY:
        for cells in [columns, *texts]:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            console.file.write("".join(padded).rstrip() + "\n")
        console.file.write("\n")
        return
    lying = sum(widths) > console.width and len(rows) <= FEW
    lines = zip(columns, *texts, strict=True) if lying else texts
    table = Table(
        *(() if lying else columns), box=None, header_style="bold", pad_edge=False, show_header=not lying
    )
    for line in lines:
        table.add_row(*map(escape, line))
    console.print(table)
    console.print()
