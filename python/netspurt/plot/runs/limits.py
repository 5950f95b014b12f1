"""The limits of a transfer over time, one row for each, and its time budget as bars."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netspurt.diagnosing import Diagnosis, why
from netspurt.diagnosing.diagnosis import main_direction
from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import limit_colour
from netspurt.scenario import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THICK = 9
"""Points that a row is thick."""


def limits(what: object, connection: int | None = None) -> Figure:
    """What limited one connection at each instant: a row for each limit.

    Args:
        what: a diagnosis, the result of a run with ``record=["limits"]``, or the path of a capture or a scenario.
        connection: its number; by default the one that lost most time. The direction with more bytes is drawn.

    Raises:
        ValueError: there is no such connection, or none at all.
    """
    return limits_chart(what, connection).draw()


def limits_chart(what: object, connection: int | None = None) -> Chart:
    """The same plot as data. Times are those of the capture."""
    diagnosis = diagnosis_of(what)
    if connection is None:
        numbers = diagnosis.connections["connection"]
        if numbers.is_empty():
            raise ValueError(f"{diagnosis.path} has no connection with data")
        connection = int(numbers[0])
    return chart_of(diagnosis.documents([connection])[0])


def diagnosis_of(what: object) -> Diagnosis:
    """A diagnosis, perhaps of a capture that is read now."""
    if isinstance(what, Diagnosis):
        return what
    return why(what if isinstance(what, Result) else Path(str(what)))


def chart_of(row: Mapping[str, Any]) -> Chart:
    """The limits of a connection of the document, the largest one in the highest row."""
    main = main_direction(row)
    start = row["start_s"]
    names = tuple(line["limit"] for line in reversed(main["budget"]))
    traces = []
    for line in main["budget"]:
        place = names.index(line["limit"])
        ends = np.array(
            [
                (start + each["from_s"], start + each["until_s"])
                for each in main["intervals"]
                if each["limit"] == line["limit"]
            ]
        ).reshape(-1, 2)
        # Each interval is a stretch of its row and a gap.
        times = ends[:, [0, 1, 1]].ravel()
        rows = np.tile([place, place, np.nan], len(ends))
        colour = limit_colour(line["limit"])
        traces.append(Trace(line["limit"], times, rows, "steps", colour=colour, width=THICK))
    return Chart(
        name="limits",
        title="Limits over time",
        x=Axis("time (s)", "time_s"),
        y=Axis("", "row", names=names),
        traces=traces,
        caption="Each instant has one limit: the condition whose removal would make the transfer faster.",
        height=1.6 + 0.22 * len(names),
    )
