"""Progress of two transfers: new data sent against time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.palette import STYLES


def progress_of(segments: Mapping[str, npt.NDArray[Any]]) -> tuple[Floats, Floats]:
    """Cumulative bytes sent for the first time, of all flows together, against time in seconds.

    Args:
        segments: columns of ``Result.segments``, each shape (n,).
    """
    data = segments["length"] > 0
    time, length, seq = (segments[name][data] for name in ("time_s", "length", "seq"))
    _, who = np.unique(
        np.char.add(
            np.char.add(segments["flow"][data].astype(str), segments["index"][data].astype(str)),
            np.char.add(segments["connection"][data].astype(str), segments["from_client"][data].astype(str)),
        ),
        return_inverse=True,
    )
    new = np.zeros(time.size)
    for stream in range(int(who.max()) + 1 if who.size else 0):
        own = np.flatnonzero(who == stream)
        edge = np.maximum.accumulate(seq[own] + length[own])
        new[own] = np.diff(edge, prepend=seq[own][0])
    return np.asarray(time, dtype=np.float64), np.cumsum(new)


def transfers_chart(sides: Mapping[str, tuple[Floats, Floats]]) -> Chart:
    """The progress of each side.

    Args:
        sides: label to times in seconds and bytes, as returned by ``progress_of``.
    """
    return Chart(
        name="transfers",
        title="Progress of the transfers",
        x=Axis("time (s)", "time_s"),
        y=Axis("new data sent (MB)", "sent_mb"),
        traces=[
            Trace(label, time, total / 1e6, "steps", colour=colour, dash=line)
            for (label, (time, total)), (colour, line, _) in zip(sides.items(), STYLES, strict=False)
        ],
        caption="Bytes sent for the first time, of all flows together.",
        height=4.2,
    )
