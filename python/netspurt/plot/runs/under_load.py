"""Latency under load as two charts: the rates of both directions, and the round trips of the probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netspurt.plot.chart import Axis, Chart, Floats, Trace
from netspurt.plot.palette import BLUE, GREEN, ORANGE
from netspurt.underload.measuring import DOWNLOAD, PROBE, UPLOAD

if TYPE_CHECKING:
    from netspurt.underload import UnderLoad

NEEDS = ("rtt", "segments", "arrivals")
"""What the run must have recorded."""

BINS = 175
"""Equal bins over the whole time."""

TIME = Axis("time (s)", "time_s")


def under_load_charts(found: UnderLoad) -> list[Chart]:
    """Throughput above, latency below; both have the same times."""
    return [_throughput(found), _latency(found)]


def _throughput(found: UnderLoad) -> Chart:
    end = found.test.idle_s + found.test.load_s
    edges: Floats = np.linspace(0.0, end, BINS + 1)
    arrived = found.result.segments.filter(pl.col("arrives_s").is_finite(), pl.col("length") > 0)
    traces = []
    for name, colour, dash in ((DOWNLOAD, BLUE, "-"), (UPLOAD, ORANGE, "--")):
        rows = arrived.filter(pl.col("flow") == name, pl.col("from_client"))
        lengths = rows["length"].to_numpy()
        bits, _ = np.histogram(rows["arrives_s"].to_numpy(), edges, weights=lengths * 8.0)
        rates = bits / np.diff(edges) / 1e6
        traces.append(Trace(name, edges, np.append(rates, rates[-1]), "steps", colour=colour, dash=dash))
    return Chart(
        name="throughput",
        title="Throughput of all transfers",
        x=TIME,
        y=Axis("arrived (Mbit/s)", "rate_mbps"),
        traces=traces,
        caption=f"{found.test.streams} transfers each way begin after {found.test.idle_s:g} s.",
        height=2.6,
    )


def _latency(found: UnderLoad) -> Chart:
    rows = found.result.series("rtt").filter(pl.col("flow") == PROBE, pl.col("end") == "client")
    times, values = rows["time_s"].to_numpy(), rows["value"].to_numpy() * 1e3
    return Chart(
        name="latency",
        title="Round trips of the probe",
        x=TIME,
        y=Axis("round trip (ms)", "rtt_ms"),
        traces=[Trace("probe", times, values, "line", colour=GREEN)],
        caption="Each point is the time from a request of 64 bytes to the ACK in its response.",
        height=2.6,
    )
