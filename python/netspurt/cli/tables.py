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
"""Columns of text where there is no terminal to say."""

MANY = 1000
"""More rows than this are printed without a layout, which would take milliseconds for each."""

FEW = 4
"""So many rows can stand side by side."""


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
    texts = [[escape(formats.text(row.get(column))) for column in columns] for row in rows]
    widths = [max(map(len, column)) + 2 for column in zip(columns, *texts, strict=True)]
    if len(rows) > MANY:
        _print_plain(console, columns, rows, widths)
        return
    lying = sum(widths) > console.width and len(rows) <= FEW
    lines = zip(columns, *texts, strict=True) if lying else texts
    table = Table(
        *(() if lying else columns), box=None, header_style="bold", pad_edge=False, show_header=not lying
    )
    for line in lines:
        table.add_row(*line)
    console.print(table)
    console.print()


def _print_plain(
    console: Console, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], widths: Sequence[int]
) -> None:
    lines = [columns, *([formats.text(row.get(column)) for column in columns] for row in rows)]
    for line in lines:
        console.file.write(
            "".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip() + "\n"
        )
    console.file.write("\n")
