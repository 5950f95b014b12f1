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


def compared_chart(
    sources: tuple[Source, Source], names: tuple[str, str], seed: int, round_trips: str | None = None
) -> Chart:
    """The progress of two transfers; for two captures, the distributions of their RTTs.

    Args:
        sources: two of the same kind.
        names: the names of both.
        seed: the seed of the runs.
        round_trips: name of a flow of both runs: the distributions of its RTTs instead of the progress.

    Raises:
        RequestError: there are no data to draw.
    """
    first, second = sources
    if round_trips is not None:
        samples = [_round_trips(each, seed, round_trips) * 1e3 for each in sources]
        axis = Axis("RTT (ms)", "round_trip_ms")
        of_flow = dict(zip(_labels(names), samples, strict=True))
        return distribution_chart(of_flow, axis, f"RTT distribution: {round_trips}")
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


def _round_trips(each: Source, seed: int, flow: str) -> npt.NDArray[np.float64]:
    """RTTs, in seconds, at the end of the flow that opened the connections."""
    import polars as pl

    result = each.repeat(seed, ["rtt"]) if isinstance(each, Runs) else None
    if result is None:
        raise RequestError(
            f"{each.name} has no scenario, so it has no flow '{flow}' to draw: compare scenarios"
        )
    rows = result.series("rtt")
    samples = rows.filter((pl.col("flow") == flow) & (pl.col("end") == "client"))["value"].to_numpy()
    if samples.size == 0:
        known = ", ".join(dict.fromkeys(map(str, result.flows["flow"])))
        raise RequestError(f"{each.name} has no RTTs of a flow '{flow}' to draw; its flows are: {known}")
    return np.asarray(samples, dtype=np.float64)


def _karn(each: Captured) -> npt.NDArray[np.float64]:
    import polars as pl

    samples = each.capture.samples.filter(pl.col("method") == "karn")["rtt_s"].to_numpy()
    if samples.size == 0:
        raise RequestError(f"{each.name} has no RTT samples to draw")
    return np.asarray(samples, dtype=np.float64)


def _labels(names: tuple[str, str]) -> tuple[str, str]:
    return f"A: {names[0]}", f"B: {names[1]}"
