"""Rows of results as text, for the terminal, for pipes and for files.

Lives here: the layout of a plain table. Must not live here: what is in it.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 160
"""Columns of text where there is no terminal to say."""

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
    texts = [[escape(text(row.get(column))) for column in columns] for row in rows]
    widths = [max(map(len, column)) + 2 for column in zip(columns, *texts, strict=True)]
    lying = sum(widths) > console.width and len(rows) <= FEW
    lines = zip(columns, *texts, strict=True) if lying else texts
    table = Table(
        *(() if lying else columns), box=None, header_style="bold", pad_edge=False, show_header=not lying
    )
    for line in lines:
        table.add_row(*line)
    console.print(table)
    console.print()


def text(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {cause}" for cause, count in value.items() if count) or "0"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)


def arrows(words: str) -> str:
    """With each arrow as one character: a line may break behind a hyphen, and an arrow must not be broken."""
    return words.replace("->", "→")


def digits(value: float, count: int) -> str:
    """A number with so many digits that count, such as ``1e-7``."""
    mantissa, e, exponent = f"{value:.{count}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def percent(share: float) -> str:
    """A change with its sign, such as ``+5.2 %``; large ones in full, such as ``+45\u202f200 %``."""
    rounded = float(f"{100 * share:.3g}")
    if abs(rounded) >= 1000:
        return f"{rounded:+,.0f} %".replace(",", "\u202f")
    return f"{rounded:+g} %" if rounded else "0 %"


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Nested counts as columns of their own, such as ``drops_queue``."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            columns.update({f"{name}_{inner}": count for inner, count in value.items()})
        else:
            columns[name] = value
    return columns


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Flat rows as CSV with full precision. They may differ in which causes of loss they met."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO(newline="")
    lines = csv.DictWriter(written, names)
    lines.writeheader()
    lines.writerows(rows)
    return written.getvalue()
