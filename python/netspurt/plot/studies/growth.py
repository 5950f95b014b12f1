"""Congestion windows that grow by doubling (terabit paper)."""

from __future__ import annotations

from collections.abc import Mapping

from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.palette import STYLES


def cwnd_growth_chart(curves: Mapping[str, tuple[Floats, Floats]]) -> Chart:
    """Congestion windows over time (terabit paper, figure 1).

    Args:
        curves: for each name, times in seconds and windows in segments, each shape (n,).
    """
    return Chart(
        name="cwnd-growth",
        title="Congestion window at 1 Tbit/s",
        x=Axis("time since the client's SYN (µs)", "time_us"),
        y=Axis("congestion window (segments)", "cwnd_segments", "log"),
        traces=[
            Trace(name, time_s * 1e6, segments, "steps", colour=colour, dash=dash)
            for (name, (time_s, segments)), (colour, dash, _) in zip(curves.items(), STYLES, strict=False)
        ],
    )
