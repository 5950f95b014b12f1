"""Common parts of the plots of sweeps: the varied columns, and their values as numbers on an axis.

Lives here: the conversion of a sweep into rows and axes. Must not live here: drawing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.errors import RequestError, nearest

if TYPE_CHECKING:
    import polars as pl

    from netspurt.plot.chart import Floats
    from netspurt.sweeping import Sweep

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


@dataclass(frozen=True)
class Table:
    """Means over seeds of one quantity.

    Attributes:
        quantity: name of the quantity.
        rows: a column for each of ``varied``, and ``mean``, ``low``, ``high``, ``runs``.
        varied: columns with more than one value: paths, and ``flow``, ``link`` or ``direction`` if there are several.
    """

    quantity: str
    rows: pl.DataFrame
    varied: list[str]


def table_of(what: object, quantity: str, where: Mapping[str, object] | None = None) -> Table:
    """The means of a sweep, over the points that ``where`` selects.

    Args:
        what: a ``Sweep``, or the path of its folder.
        quantity: a column of the flows or links.
        where: for some of the varied paths (or ``flow``, ``link``, ``direction``) the required value.

    Raises:
        RequestError: no sweep, unknown quantity, unknown path, or no point left.
    """
    import polars as pl

    sweep = _sweep(what)
    rows = sweep.summary(quantity).filter(pl.col("mean").is_not_null())
    return _restricted(sweep, quantity, rows, where)


def samples_of(
    what: object, quantity: str, by: str | None, where: Mapping[str, object] | None = None
) -> dict[str, Floats]:
    """The quantity of every flow (or link) of every run, by the values of one path.

    Args:
        what: a ``Sweep``, or the path of its folder.
        quantity: a column of the flows or links.
        by: a varied path; by default the one with the fewest values.
        where: as for ``table_of``.

    Raises:
        RequestError: as for ``table_of``.
    """
    import polars as pl

    sweep = _sweep(what)
    _ = sweep.summary(quantity)  # raises an error for an unknown quantity
    rows = sweep.flows if quantity in sweep.flows.columns else sweep.links
    table = _restricted(sweep, quantity, rows.filter(pl.col(quantity).is_not_null()), where)
    path = axis_of(table, by) if by else min(table.varied, key=lambda name: table.rows[name].n_unique())
    values = table.rows[path]
    numbers = table.rows[quantity].cast(pl.Float64)
    return {
        f"{short(path)} {value_label(value)}": numbers.filter(values == value).to_numpy()
        for value in ordered(values.to_list())
    }


def _sweep(what: object) -> Sweep:
    from netspurt.sweeping import Sweep

    return what if isinstance(what, Sweep) else Sweep(Path(str(what)))


def _restricted(sweep: Sweep, quantity: str, rows: pl.DataFrame, where: Mapping[str, object] | None) -> Table:
    """The rows that ``where`` selects, and the columns that vary among them."""
    import polars as pl

    if rows.is_empty():
        raise RequestError(f"there is no {quantity} to draw: no run of the sweep is complete")
    known = [*sweep.varied, *(name for name in ("flow", "link", "direction") if name in rows.columns)]
    for path, value in (where or {}).items():
        if path not in known:
            raise RequestError(
                f"'{path}' is not varied{nearest(path, known)} (varied are: {', '.join(known)})"
            )
        there = ordered(rows[path].to_list())
        meant = [each for each in there if _alike(each, value)]
        if not meant:
            raise RequestError(f"{path} is never {value}; its values are: {', '.join(map(str, there))}")
        rows = rows.filter(pl.col(path).is_in(meant))
    varied = [name for name in known if rows[name].n_unique() > 1]
    if not varied:
        raise RequestError("nothing varies here: a plot needs at least two points")
    return Table(quantity, rows, varied)


def _alike(value: Any, wanted: object) -> bool:
    """Whether a value equals the requested one, whether written ``1e-7`` or ``0.0000001``."""
    if str(value).lower() == str(wanted).strip().lower():
        return True
    numbers = numbers_of([value]), numbers_of([wanted])
    return numbers[0] is not None and numbers[0] == numbers[1]


def axis_of(table: Table, name: str | None, taken: Sequence[str] = ()) -> str:
    """The column of an axis: the named one, or the one with the most values that is not taken.

    Raises:
        RequestError: the column does not vary, or no column is left.
    """
    free = [path for path in table.varied if path not in taken]
    if name is None:
        if not free:
            raise RequestError(f"only {', '.join(taken)} varies: draw curves instead of a map")
        return max(free, key=lambda path: (table.rows[path].n_unique(), -free.index(path)))
    if name not in free:
        raise RequestError(f"'{name}' does not vary{nearest(name, free)} (varied are: {', '.join(free)})")
    return name


def numbers_of(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Values of one path as numbers, and their unit; None if they are words, or have different units."""
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
    """A path as a label: its last words, which identify it."""
    return ".".join(path.split(".")[-2:])


def ordered(values: Sequence[Any]) -> list[Any]:
    """The distinct values: in numeric order if they are numbers, else in the given order."""
    once = list(dict.fromkeys(values))
    found = numbers_of(once)
    if found is None:
        return once
    return [value for _, value in sorted(zip(found[0], once, strict=True), key=lambda pair: pair[0])]


UNITS = {
    "_bps": ("Mbit/s", 1e-6),
    "_s": ("s", 1.0),
    "_ms": ("ms", 1.0),
    "_bytes": ("bytes", 1.0),
    "_packets": ("packets", 1.0),
}


def in_units(quantity: str) -> tuple[str, float]:
    """The label of a quantity, and the factor for its unit: columns end in their units."""
    if "." in quantity:  # a path of a scenario, which contains its unit
        return quantity, 1.0
    for ending, (unit, factor) in UNITS.items():
        if quantity.endswith(ending):
            return f"{formats.words(quantity.removesuffix(ending))} ({unit})", factor
    return formats.words(quantity), 1.0


def value_label(value: Any) -> str:
    """A value as a label, with only the digits that distinguish it."""
    found = numbers_of([value])
    if found is None:
        return str(value)
    (number,), unit = found
    return f"{formats.digits(number, 4)} {unit}".strip()
