"""Two runs, traces or captures in one plot, as data.

Lives here: the points of both. Must not live here: their differences (``comparing``), drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.errors import RequestError
from netspurt.inputs.capture import Captured
from netspurt.inputs.run import Runs
from netspurt.inputs.trace import Traced
from netspurt.plot.chart import Axis, Chart
from netspurt.plot.runs.distribution import distribution_chart
from netspurt.plot.runs.transfers import progress_of, transfers_chart

Source: TypeAlias = Runs | Traced | Captured


def compared_chart(sources: tuple[Source, Source], names: tuple[str, str], seed: int) -> Chart:
    """The progress of two transfers; for two captures, the distributions of their RTTs.

    Args:
        sources: two of the same kind.
        names: the names of both.
        seed: the seed of the runs.

    Raises:
        RequestError: there are no data to draw.
    """
    first, second = sources
    if isinstance(first, Captured) and isinstance(second, Captured):
        samples = [_karn(each) * 1e3 for each in (first, second)]
        axis = Axis("RTT (ms)", "round_trip_ms")
        return distribution_chart(dict(zip(_labels(names), samples, strict=True)), axis, "RTT distribution")
    progress = [progress_of(_segments(each, seed)) for each in sources]
    return transfers_chart(dict(zip(_labels(names), progress, strict=True)))


def _segments(each: Source, seed: int) -> Mapping[str, npt.NDArray[Any]]:
    import polars as pl

    if isinstance(each, Traced):
        rows = each.table.filter(pl.col("record") == "segments")
    elif isinstance(each, Runs) and (result := each.repeat(seed, ["segments"])) is not None:
        rows = result.segments
    else:
        raise RequestError(
            f"{each.name} has no scenario, so its run cannot be repeated to draw it: compare scenarios or run folders"
        )
    return {
        name: rows[name].to_numpy()
        for name in ("time_s", "flow", "index", "connection", "from_client", "seq", "length")
    }


def _karn(each: Captured) -> npt.NDArray[np.float64]:
    import polars as pl

    samples = each.capture.samples.filter(pl.col("method") == "karn")["rtt_s"].to_numpy()
    if samples.size == 0:
        raise RequestError(f"{each.name} has no RTT samples to draw")
    return np.asarray(samples, dtype=np.float64)


def _labels(names: tuple[str, str]) -> tuple[str, str]:
    return f"A: {names[0]}", f"B: {names[1]}"
