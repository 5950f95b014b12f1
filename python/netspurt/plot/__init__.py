"""Plots: a result becomes a chart, which is data, and a chart becomes a matplotlib Figure.

For a run, a trace or a capture: ``time_sequence``, ``windows``, ``cwnds``, ``round_trips``, ``queues``,
``throughput``, ``round_trip_distribution``. For a diagnosis: ``limits``. For a sweep: ``curves``, ``heat_map``,
``spread``. For any numbers: ``distribution``. Each has a companion ``…_chart`` (``heat_map_data``) with the same
arguments that returns the data instead of a figure. ``save`` writes SVG, PDF or PNG.

Lives here: drawing. Must not live here: simulation (except to record data that a plot lacks), or the interpretation of
numbers. ``chart`` describes a plot, ``drawing`` draws it, ``thinning`` chooses its points, and ``recording`` provides
them.

Names are imported on first use: a caller that needs only the data of a plot needs no drawing library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netspurt.plot.chart import Axis as Axis
    from netspurt.plot.chart import Chart as Chart
    from netspurt.plot.chart import Trace as Trace
    from netspurt.plot.drawing import draw as draw
    from netspurt.plot.drawing import draw_panels as draw_panels
    from netspurt.plot.files import save as save
    from netspurt.plot.files import svg as svg
    from netspurt.plot.runs.distribution import distribution as distribution
    from netspurt.plot.runs.distribution import distribution_chart as distribution_chart
    from netspurt.plot.runs.distribution import round_trip_distribution as round_trip_distribution
    from netspurt.plot.runs.distribution import round_trip_distribution_chart as round_trip_distribution_chart
    from netspurt.plot.runs.limits import limits as limits
    from netspurt.plot.runs.limits import limits_chart as limits_chart
    from netspurt.plot.runs.queues import queues as queues
    from netspurt.plot.runs.queues import queues_chart as queues_chart
    from netspurt.plot.runs.round_trips import round_trips as round_trips
    from netspurt.plot.runs.round_trips import round_trips_chart as round_trips_chart
    from netspurt.plot.runs.throughput import throughput as throughput
    from netspurt.plot.runs.throughput import throughput_chart as throughput_chart
    from netspurt.plot.runs.time_sequence import sequence_charts as sequence_charts
    from netspurt.plot.runs.time_sequence import time_sequence as time_sequence
    from netspurt.plot.runs.time_sequence import time_sequence_chart as time_sequence_chart
    from netspurt.plot.runs.time_sequence import time_sequence_of as time_sequence_of
    from netspurt.plot.runs.time_sequence import time_sequences as time_sequences
    from netspurt.plot.runs.windows import cwnds as cwnds
    from netspurt.plot.runs.windows import cwnds_chart as cwnds_chart
    from netspurt.plot.runs.windows import windows as windows
    from netspurt.plot.runs.windows import windows_chart as windows_chart
    from netspurt.plot.studies.error_rate import error_rate_chart as error_rate_chart
    from netspurt.plot.studies.growth import cwnd_growth_chart as cwnd_growth_chart
    from netspurt.plot.studies.initial_window import against_window_charts as against_window_charts
    from netspurt.plot.studies.policy_bars import bars_by_policy as bars_by_policy
    from netspurt.plot.studies.published import published_chart as published_chart
    from netspurt.plot.studies.window_rate import rate_against_window_chart as rate_against_window_chart
    from netspurt.plot.sweeps.curves import curves as curves
    from netspurt.plot.sweeps.curves import curves_chart as curves_chart
    from netspurt.plot.sweeps.heat_map import HeatMap as HeatMap
    from netspurt.plot.sweeps.heat_map import heat_map as heat_map
    from netspurt.plot.sweeps.heat_map import heat_map_data as heat_map_data
    from netspurt.plot.sweeps.spread import spread as spread
    from netspurt.plot.sweeps.spread import spread_chart as spread_chart

_FILES = {
    "chart": ("Axis", "Chart", "Trace"),
    "sweeps.curves": ("curves", "curves_chart"),
    "runs.distribution": (
        *("distribution", "distribution_chart"),
        *("round_trip_distribution", "round_trip_distribution_chart"),
    ),
    "drawing": ("draw", "draw_panels"),
    "studies.error_rate": ("error_rate_chart",),
    "files": ("save", "svg"),
    "studies.growth": ("cwnd_growth_chart",),
    "sweeps.heat_map": ("HeatMap", "heat_map", "heat_map_data"),
    "studies.initial_window": ("against_window_charts",),
    "studies.policy_bars": ("bars_by_policy",),
    "runs.limits": ("limits", "limits_chart"),
    "runs.queues": ("queues", "queues_chart"),
    "runs.round_trips": ("round_trips", "round_trips_chart"),
    "sweeps.spread": ("spread", "spread_chart"),
    "runs.throughput": ("throughput", "throughput_chart"),
    "runs.time_sequence": (
        *("time_sequence", "time_sequence_chart"),
        *("time_sequence_of", "time_sequences"),
        *("sequence_charts",),
    ),
    "studies.published": ("published_chart",),
    "studies.window_rate": ("rate_against_window_chart",),
    "runs.windows": ("cwnds", "cwnds_chart", "windows", "windows_chart"),
}
_HOME = {name: file for file, names in _FILES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'netspurt.plot' has no attribute {name!r}")
    return getattr(importlib.import_module(f"netspurt.plot.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
