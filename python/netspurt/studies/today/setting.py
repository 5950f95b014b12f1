"""What the parts of the study share: published files, and cells made of samples."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from netspurt.analysis.statistics import mean_interval
from netspurt.studies.experiment import DATA
from netspurt.studies.model import Cell, Label, Origin, Picture, Table
from netspurt.studies.verdict import Bar

if TYPE_CHECKING:
    from netspurt.plot.chart import Axis, Chart

MSS_BYTES = 1448


def published(file: str) -> list[dict[str, str]]:
    """The lines of a file of published figures, by column."""
    with (DATA / "today" / "published" / file).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def cell(
    row: Mapping[str, Label],
    quantity: str,
    unit: str,
    printed: float | None,
    values: Sequence[float] | None,
    *,
    origin: Origin,
    bar: Bar | None = None,
    bar_reason: str = "",
    decimals: int | None = None,
    null: float | None = None,
    reason: str = "",
    cause: str = "",
) -> Cell:
    """A predicted cell: the mean of ``values``, one for each seed, with its 95 % interval.

    ``cause`` becomes its reason if it lies outside of its bar. A miss with a reason is a known one.
    """
    estimate = None if values is None else mean_interval(values)
    judged = Cell(
        row=row,
        quantity=quantity,
        unit=unit,
        published=printed,
        measured=None if estimate is None else estimate.mean,
        decimals=decimals,
        bar=bar,
        interval=None if estimate is None else estimate.interval,
        null_model=null,
        runs=0 if values is None else len(values),
        reason=reason,
        origin=origin,
        bar_reason=bar_reason,
    )
    if judged.verdict != "outside":
        return judged
    # A miss that is known, and stands with its cause beside the cell, does not make the study fall short.
    known = cause or reason
    return replace(judged, reason=known, allowance=bool(known))


def left_out(
    row: Mapping[str, Label], quantity: str, unit: str, printed: float, *, origin: Origin, reason: str
) -> Cell:
    """A published number that no run is made for, with the reason."""
    return Cell(row, quantity, unit, printed, None, runs=0, reason=reason, origin=origin, left_out=True)


def _named(label: str, value: Label) -> str:
    """A label of a line: a text unchanged, a number with its unit."""
    if isinstance(value, str):
        return value
    words, unit = label.replace("_", " "), ""
    for ending, written in ((" mbps", " Mbit/s"), (" ms", " ms"), (" kb", " kB")):
        if words.endswith(ending):
            words, unit = words.removesuffix(ending), written
    return f"{words} {value:g}{unit}"


def curves_picture(
    table: Table,
    *,
    over: str,
    by: Sequence[str],
    x: Axis,
    y: Axis,
    caption: str,
) -> Picture:
    """The picture of a table: one measured line with published marks for each combination of the labels ``by``.

    Args:
        table: the cells.
        over: the label on the horizontal axis, a number.
        by: the labels that distinguish lines.
        x: the horizontal axis.
        y: the vertical axis.
        caption: what the picture shows.
    """

    def make() -> list[Chart]:
        from netspurt.plot import published_chart
        from netspurt.plot.studies.published import Point

        curves: dict[str, list[Point]] = {}
        for each in table.cells:
            name = ", ".join(_named(label, each.row[label]) for label in by) or "simulated"
            point = Point(float(each.row[over]), each.published, each.measured, each.interval)
            curves.setdefault(name, []).append(point)
        ordered = {name: sorted(points) for name, points in curves.items()}
        return [published_chart(f"today-{table.name}", table.title.split(":")[0], x, y, ordered)]

    return Picture(
        name=f"today-{table.name}",
        title=table.title,
        caption=f"{caption} Lines are measured, shading is the 95 % interval of the mean, marks are published.",
        alt=f"{table.title}: {caption}",
        make=make,
    )
