"""Transfer rate against window, beside published points (RFC 1106)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from netspurt.plot.looks import entitle, figure_of, legend_of
from netspurt.plot.palette import GREY, STYLES

if TYPE_CHECKING:
    from netspurt.studies.model import Cell


def rate_against_window(columns: Mapping[str, Sequence[Cell]], told: str) -> Figure:
    """Transfer rate against window for one error rate, with the published points (RFC 1106, section 7).

    Args:
        columns: the cells of each figure, by its title; rows named ``window`` as in ``"64K"``, KiB/s.
        told: the error rate in words.
    """
    figure, axes = figure_of()
    null: dict[int, float] = {}
    handles: list[Any] = []
    for (_, cells), (colour, line, marker) in zip(columns.items(), STYLES, strict=False):
        done = [(int(str(cell.row["window"])[:-1]), cell) for cell in cells if cell.measured is not None]
        windows = [window for window, _ in done]
        (simulated,) = axes.plot(windows, [cell.measured or 0.0 for _, cell in done], line, color=colour)
        bands = [(window, cell.band) for window, cell in done if cell.band is not None]
        if bands:
            axes.fill_between(
                [window for window, _ in bands],
                [band[0] for _, band in bands],
                [band[1] for _, band in bands],
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
        (published,) = axes.plot(
            [int(str(cell.row["window"])[:-1]) for cell in cells],
            [np.nan if cell.published is None else cell.published for cell in cells],
            marker,
            color=colour,
            markerfacecolor="white",
            markeredgewidth=1.4,
            linestyle="none",
        )
        handles.append((simulated, published))
        null.update({window: cell.null_model for window, cell in done if cell.null_model is not None})
    handles += axes.plot(list(null), list(null.values()), ":", color=GREY, linewidth=1.2)
    axes.set(xlabel="window (KiB)", ylabel="transfer rate (KiB/s)")
    entitle(axes, f"Transfer rate {told}")
    axes.set_ylim(bottom=0)
    names = [f"{title}: simulated, published" for title in (title.replace(":", ",") for title in columns)]
    legend_of(figure, handles, [*names, "null model"], 1)
    return figure
