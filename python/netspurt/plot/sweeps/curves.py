"""A quantity of a sweep against a varied path, with confidence intervals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netspurt.analysis.formats import sentence_case
from netspurt.errors import RequestError
from netspurt.plot.chart import Axis, Chart, Scale, Trace
from netspurt.plot.palette import MANY
from netspurt.plot.swept import axis_of, in_units, numbers_of, ordered, short, table_of, value_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MARKED = 8
"""The maximal number of values labelled on an axis."""


def curves(
    what: object,
    quantity: str = "goodput_bps",
    x: str | None = None,
    where: Mapping[str, object] | None = None,
) -> Figure:
    """Means over seeds against one varied path, a line for each combination of the others; 95 % intervals as bands.

    Args:
        what: a sweep, or the path of its folder.
        quantity: a column of its flows or links.
        x: the path of the x axis; by default the one with the most numeric values.
        where: required values of some of the other paths.

    Raises:
        RequestError: no such data, or too many lines for one plot.
    """
    return curves_chart(what, quantity, x, where).draw()


def curves_chart(
    what: object,
    quantity: str = "goodput_bps",
    x: str | None = None,
    where: Mapping[str, object] | None = None,
) -> Chart:
    """The same plot as data."""
    table = table_of(what, quantity, where)
    along = axis_of(table, x) if x else _along(table.varied, table.rows)
    values = ordered(table.rows[along].to_list())
    found = numbers_of(values)
    if found is None:
        raise RequestError(
            f"the values of {along} are not numbers, so choose another path with x, or draw a map"
        )
    numbers, unit = found
    place = dict(zip(map(str, values), numbers, strict=True))
    others = [path for path in table.varied if path != along]
    groups = table.rows.partition_by(others, maintain_order=True) if others else [table.rows]
    if len(groups) > len(MANY):
        words = ", ".join(others)
        raise RequestError(
            f"one plot cannot show {len(groups)} lines ({words}): fix some paths with where, or draw a map"
        )
    words, factor = in_units(quantity)
    traces: list[Trace] = []
    for rows, (colour, dash, marker) in zip(groups, MANY, strict=False):
        at = np.array([place[str(value)] for value in rows[along]])
        order = np.argsort(at)
        at, mean, low, high = (
            column[order]
            for column in (at, *(rows[name].to_numpy() * factor for name in ("mean", "low", "high")))
        )
        label = ", ".join(f"{short(path)} {value_label(rows[path][0])}" for path in others) or quantity
        if rows["low"].null_count() < rows.height:
            traces.append(Trace(f"{label}: 95 %", at, high, "band", low=low, colour=colour))
        traces.append(Trace(label, at, mean, "line", colour=colour, dash=dash, marker=marker, width=1.5))
    runs: list[int] = table.rows["runs"].to_list()
    often = f"{min(runs)} to {max(runs)}" if min(runs) < max(runs) else str(max(runs))
    scale = _scale(numbers)
    return Chart(
        name="curves",
        title=f"{sentence_case(words.split(' (')[0])} against {short(along)}",
        x=Axis(f"{along} ({unit})" if unit else along, along, scale, ticks=_ticks(numbers, scale)),
        y=Axis(words, quantity),
        traces=traces,
        caption=f"Means over {often} runs; bands are 95 % intervals of the mean.",
    )


def _ticks(numbers: Sequence[float], scale: Scale) -> tuple[float, ...]:
    """The values as ticks of a logarithmic axis, if they are few and far enough apart; otherwise default ticks."""
    values = sorted(set(numbers))
    if scale != "log" or not 2 <= len(values) <= MARKED:
        return ()
    nearest = min(after / before for before, after in itertools.pairwise(values))
    return tuple(values) if nearest ** (2 * MARKED) > values[-1] / values[0] else ()


def _along(varied: list[str], rows: pl.DataFrame) -> str:
    """The path with the most numeric values; without any, the first path."""
    able = [path for path in varied if numbers_of(rows[path].to_list()) is not None]
    return max(able or varied[:1], key=lambda path: rows[path].n_unique())


def _scale(numbers: list[float]) -> Scale:
    return "log" if min(numbers) > 0 and max(numbers) > 30 * min(numbers) else "linear"
