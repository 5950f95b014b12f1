"""A table as the page shows it: properties common to all cells appear above it, the important columns come first.

Lives here: the columns of a table on the page. Must not live here: the wording of numbers (``words``).
"""

from __future__ import annotations

from dataclasses import dataclass

from netspurt.studies import words
from netspurt.studies.model import Cell, Table

NUMBERS = ("published", "measured", "simulated", "off by", "95 % interval", "null")
"""Right-aligned columns."""

MORE = ("unit", "origin", "off by", "95 % interval", "null", "bar", "role")
"""Columns that a narrow screen omits; in landscape orientation it shows them."""

LAST = ("off by", "95 % interval", "null", "bar", "role")
"""Columns after the verdict."""

SHARED = ("unit", "role", "bar", "origin", "95 % interval", "null", "off by")
"""Columns that appear once, above the table, if all cells agree in them."""


@dataclass(frozen=True)
class Column:
    """One column of the page: its heading and the CSS classes of its cells."""

    head: str
    classes: str


@dataclass(frozen=True)
class Grid:
    """A table ready for the template; ``shared`` describes the properties common to all of its cells."""

    shared: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, dict[str, str]], ...]

    @property
    def has_more(self) -> bool:
        """Whether a narrow screen omits some columns."""
        return any("more" in column.classes for column in self.columns)


def grid_of(table: Table) -> Grid:
    """The table's columns in the order of the page."""
    lines = [words.line(table, cell) for cell in table.cells]
    if not lines:
        return Grid("", (), ())
    shared = {
        head: lines[0][head]
        for head in SHARED
        if head in lines[0] and len({line[head] for line in lines}) == 1
    }
    heads = [head for head in lines[0] if head not in shared]
    heads.sort(key=lambda head: LAST.index(head) if head in LAST else -1)
    columns = tuple(Column(head, _classes(head)) for head in heads)
    return Grid(_sentence_of(shared), columns, tuple(zip(table.cells, lines, strict=True)))


def _classes(head: str) -> str:
    return " ".join(name for name, holds in (("number", head in NUMBERS), ("more", head in MORE)) if holds)


def _sentence_of(shared: dict[str, str]) -> str:
    """Text such as ``in KiB/s, all predicted, bar: printed digits``; it omits properties that no cell has."""
    phrases = []
    for head, text in shared.items():
        if text == "–":
            continue
        phrases.append({"unit": f"in {text}", "role": f"all {text}"}.get(head, f"{head}: {text}"))
    return ", ".join(phrases)
