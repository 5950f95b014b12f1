"""Congestion windows that grow by doubling (terabit paper)."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from netspurt.plot.chart import Floats
from netspurt.plot.looks import entitle, figure_of, legend
from netspurt.plot.palette import STYLES


def cwnd_growth(curves: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Congestion windows in time (terabit paper, figure 1).

    Args:
        curves: for each name, times in seconds and windows in segments, each shape (n,).
    """
    figure, axes = figure_of()
    for (name, (time_s, segments)), (colour, line, _) in zip(curves.items(), STYLES, strict=False):
        axes.step(time_s * 1e6, segments, line, where="post", color=colour, label=name)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g}")
    axes.set(
        xlabel="time since the client's SYN (µs)",
        ylabel="congestion window (segments)",
    )
    entitle(axes, "Congestion window at 1 Tbit/s")
    legend(figure, axes, 1)
    return figure
