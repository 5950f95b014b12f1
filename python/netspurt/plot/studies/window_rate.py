"""Transfer rate against window, with published points (RFC 1106)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import GREY, STYLES


class Cell(Protocol):
    """The properties of a study's cell that the plot uses."""

    @property
    def row(self) -> Mapping[str, object]:
        """Values by name; ``window`` is one such as ``"64K"``."""
        ...

    @property
    def published(self) -> float | None:
        """The number of the document."""
        ...

    @property
    def measured(self) -> float | None:
        """The simulated number."""
        ...

    @property
    def band(self) -> tuple[float, float] | None:
        """The 5 to 95 % range over seeds."""
        ...

    @property
    def null_model(self) -> float | None:
        """The number of a trivial rule."""
        ...


def rate_against_window_chart(columns: Mapping[str, Sequence[Cell]], variant: str) -> Chart:
    """Transfer rate against window for one error rate, with the published points (RFC 1106, section 7).

    Args:
        columns: the cells of each figure, by its title; rows named ``window`` as in ``"64K"``, KiB/s.
        variant: the error rate in words.
    """
    traces: list[Trace] = []
    null: dict[float, float] = {}
    for (title, cells), (colour, dash, marker) in zip(columns.items(), STYLES, strict=False):
        name = title.replace(":", ",")
        bands = [(_window(cell), *cell.band) for cell in cells if cell.band is not None]
        if bands:
            at, low, high = (np.array(column) for column in zip(*bands, strict=True))
            traces.append(Trace(f"{name}: simulated, 5–95 %", at, high, "band", low=low, colour=colour))
        done = [(_window(cell), cell.measured) for cell in cells if cell.measured is not None]
        told_of = [(_window(cell), cell.published) for cell in cells if cell.published is not None]
        for words, points, shape in ((name, done, "line"), (f"{name}, published", told_of, "points")):
            if points:
                x, y = (np.array(column) for column in zip(*points, strict=True))
                mark = marker if shape == "points" else ""
                traces.append(Trace(words, x, y, shape, colour=colour, dash=dash, marker=mark))  # type: ignore[arg-type]  # one of two shapes
        null.update({_window(cell): cell.null_model for cell in cells if cell.null_model is not None})
    if null:
        at, rate = np.array(sorted(null.items())).T
        traces.append(Trace("null model", at, rate, colour=GREY, dash=":", width=1.2))
    return Chart(
        name="window-rate",
        title=f"Transfer rate {variant}",
        x=Axis("window (KiB)", "window_kib"),
        y=Axis("transfer rate (KiB/s)", "rate_kib_per_s"),
        traces=traces,
    )


def _window(cell: Cell) -> float:
    return float(str(cell.row["window"])[:-1])
