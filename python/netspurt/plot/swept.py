"""What sweeps' pictures share: which columns are varied, and their values as numbers on an axis.

Lives here: from a sweep to rows and axes. Must not live here: drawing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.errors import RequestError, nearest

if TYPE_CHECKING:
    import polars as pl

    from netspurt.sweeping import Sweep

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


@dataclass(frozen=True)
class Table:
    """Means over seeds of one quantity.

    Attributes:
        quantity: which.
        rows: a column for each of ``varied``, and ``mean``, ``low``, ``high``, ``runs``.
        varied: what has more than one value: paths, and ``flow``, ``link`` or ``direction`` where there are several.
    """

    quantity: str
    rows: pl.DataFrame
    varied: list[str]


def table_of(what: object, quantity: str, where: Mapping[str, object] | None = None) -> Table:
    """The means of a sweep, of its points at which ``where`` holds.

    Args:
        what: a ``Sweep``, or the path of its folder.
        quantity: a column of the flows or links.
        where: for some of the varied paths (or ``flow``, ``link``, ``direction``) the value that they must have.

    Raises:
        RequestError: no sweep, no such quantity, no such path, or no point left.
    """
    import polars as pl

    from netspurt.sweeping import Sweep

    sweep: Sweep = what if isinstance(what, Sweep) else Sweep(Path(str(what)))
    rows = sweep.summary(quantity)
    places = [name for name in rows.columns if name in ("flow", "link", "direction")]
    for path, value in (where or {}).items():
        if path not in (*sweep.varied, *places):
            known = [*sweep.varied, *places]
            raise RequestError(f"'{path}' is not varied{nearest(path, known)}; there are: {', '.join(known)}")
        values = rows[path].cast(pl.String)
        if str(value) not in values:
            there = ", ".join(values.unique(maintain_order=True))
            raise RequestError(f"{path} is never {value}; it is: {there}")
        rows = rows.filter(values == str(value))
    rows = rows.filter(pl.col("mean").is_not_null())
    if rows.is_empty():
        raise RequestError(f"there is no {quantity} to draw: nothing of the sweep is done")
    varied = [name for name in (*sweep.varied, *places) if rows[name].n_unique() > 1]
    if not varied:
        raise RequestError("nothing varies here: a picture of one point is a number")
    return Table(quantity, rows, varied)


def axis_of(table: Table, name: str | None, taken: Sequence[str] = ()) -> str:
    """The column to draw along: the one that is named, or the one with most values that is not taken.

    Raises:
        RequestError: it does not vary, or nothing is left.
    """
    free = [path for path in table.varied if path not in taken]
    if name is None:
        if not free:
            raise RequestError(f"only {', '.join(taken)} varies: draw curves instead of a map")
        return max(free, key=lambda path: (table.rows[path].n_unique(), -free.index(path)))
    if name not in free:
        raise RequestError(f"'{name}' does not vary{nearest(name, free)}; what does: {', '.join(free)}")
    return name


def numbers_of(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Values of one path as numbers, and their unit; None where they are words, or of different units."""
    numbers, units = [], []
    for value in values:
        if isinstance(value, bool) or value is None:
            return None
        found = re.fullmatch(r"\s*([-+\d.eE]+)\s*([A-Za-z/%]*)\s*", str(value))
        try:
            numbers.append(float(found[1]) if found else float("nan"))
        except ValueError:
            return None
        units.append(found[2] if found else "?")
    if "?" in units:
        return None
    if len(set(units)) > 1:
        if not set(units) <= set(SECONDS):
            return None
        return [number * SECONDS[unit] for number, unit in zip(numbers, units, strict=True)], "s"
    return numbers, units[0] if units else ""


def short(path: str) -> str:
    """A path as a label: its last words, which tell it from others."""
    return ".".join(path.split(".")[-2:])


def ordered(values: Sequence[Any]) -> list[Any]:
    """Each value once: by size where they are numbers, else as they come."""
    once = list(dict.fromkeys(values))
    found = numbers_of(once)
    if found is None:
        return once
    return [value for _, value in sorted(zip(found[0], once, strict=True), key=lambda pair: pair[0])]
