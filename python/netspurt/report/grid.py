"""A table as the page shows it: what all its cells share stands above it, and what matters most comes first.

Lives here: which columns a table has on the page. Must not live here: the wording of numbers (``words``).
"""

from __future__ import annotations

from dataclasses import dataclass

from netspurt.studies import words
from netspurt.studies.model import Cell, Table

NUMBERS = ("published", "measured", "simulated", "off by", "95 % interval", "null")
"""Columns that are set flush right, so that digits stand below digits."""

MORE = ("unit", "off by", "95 % interval", "null", "bar", "role")
"""Columns that a narrow screen leaves out; turned on its side it has room for them."""

LAST = ("off by", "95 % interval", "null", "bar", "role")
"""Columns that come behind the verdict."""

SHARED = ("unit", "role", "bar", "95 % interval", "null", "off by")
"""Columns that are said once, above the table, where all cells agree in them."""


@dataclass(frozen=True)
class Column:
    """One column of the page: its head and the classes of its cells."""

    head: str
    classes: str


@dataclass(frozen=True)
class Grid:
    """A table ready to be written down; ``shared`` is what holds for all of its cells, in words."""

    shared: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, dict[str, str]], ...]

    @property
    def has_more(self) -> bool:
        """Whether a narrow screen leaves something out."""
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
    return Grid(_in_words(shared), columns, tuple(zip(table.cells, lines, strict=True)))


def _classes(head: str) -> str:
    return " ".join(name for name, holds in (("number", head in NUMBERS), ("more", head in MORE)) if holds)


def _in_words(shared: dict[str, str]) -> str:
    """Such as ``in KiB/s, all predicted, bar: printed digits``; what is absent from all cells is not mentioned."""
    told = []
    for head, text in shared.items():
        if text == "–":
            continue
        told.append({"unit": f"in {text}", "role": f"all {text}"}.get(head, f"{head}: {text}"))
    return ", ".join(told)
