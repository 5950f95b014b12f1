"""Several seeds of one scenario: between which values a connection stays, and its result with each seed.

Time is cut into bins of equal width. In each bin, a quantity has a lowest and a highest value over all seeds. After the
end of its connection, a seed no longer counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from netspurt import _core
from netspurt.lab.simulated.pictures import (
    BINS,
    Columns,
    Floats,
    Key,
    Queue,
    belongs,
    chosen_of,
    queues_of,
    sends_more,
    series_of,
)

RECORD = ("cwnd", "srtt", "queue", "segments", "arrivals")

MOST_BINS = 4 * BINS
"""The bins of a seed whose connection lasts much longer than that of the first."""

SERIES = ("cwnd", "srtt")


@dataclass
class Spread:
    """The spread over seeds so far: ``add`` each run, then ``columns`` and ``head``."""

    wanted: Key | None
    """The connection to follow; by default the one that carried the most with the first seed."""
    key: Key | None = None
    begin: float = 0.0
    width: float = 0.0
    client_sends: bool = True
    queues: list[Queue] = field(default_factory=list)
    low: dict[str, Floats] = field(default_factory=dict)
    high: dict[str, Floats] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)

    def add(self, run: _core.Run) -> None:
        """Adds the run of one more seed, recorded with ``RECORD``."""
        document = json.loads(run.json())
        segments = run.segments()
        if self.key is None:
            self.key = chosen_of(segments, self.wanted)
        if self.key is None:
            return
        mine = np.flatnonzero(belongs(segments, self.key))
        if len(mine) < 2:
            return
        time, arrives = np.asarray(segments["time_s"])[mine], np.asarray(segments["arrives_s"])[mine]
        end = max(float(time[-1]), float(np.fmax.reduce(arrives)))
        if not self.results:
            self._begin(run, segments, mine, (float(time[0]), end))
        self.results.append(_result(document, self.key))
        bins = min(MOST_BINS, int(np.ceil((end - self.begin) / self.width)) + 1)
        edges: Floats = self.begin + self.width * np.arange(bins + 1, dtype=np.float64)
        rate = self._rate(segments, mine, edges)
        # The connection ends within its last bin, whose rate would be too low.
        rate[int((end - self.begin) / self.width + 1e-6) :] = np.nan
        self._widen("rate", rate, rate)
        for name in SERIES:
            self._widen(name, *envelope(*series_of(run, name, self.key, self.client_sends), edges))
        found = queues_of(run, self.queues)
        for place, queue in enumerate(self.queues):
            if queue in found:
                self._widen(f"queue{place}", *envelope(*found[queue], edges))

    def _begin(
        self, run: _core.Run, segments: Any, mine: npt.NDArray[np.int64], life: tuple[float, float]
    ) -> None:
        length, from_client = np.asarray(segments["length"])[mine], np.asarray(segments["from_client"])[mine]
        self.client_sends = sends_more(from_client, length)
        self.begin, end = life
        self.width = max((end - self.begin) / BINS, 1e-12)
        self.queues = list(queues_of(run))

    def _rate(self, segments: Any, mine: npt.NDArray[np.int64], edges: Floats) -> Floats:
        arrives = np.asarray(segments["arrives_s"])[mine]
        ours = (np.asarray(segments["from_client"])[mine] == self.client_sends) & ~np.isnan(arrives)
        carried, _ = np.histogram(arrives[ours], edges, weights=np.asarray(segments["length"])[mine][ours])
        rate: Floats = carried * 8 / self.width
        return rate

    def _widen(self, name: str, low: Floats, high: Floats) -> None:
        """Widens a band so that it contains the values of another seed."""
        for bounds, values, choose in ((self.low, low, np.fmin), (self.high, high, np.fmax)):
            before = bounds.get(name, np.empty(0))
            size = max(len(before), len(values))
            bounds[name] = choose(_padded(before, size), _padded(values, size))

    def columns(self) -> Columns:
        """For each quantity its lowest and highest value in each bin, NaN where there is none; and the middles."""
        columns: Columns = {}
        for name, low in self.low.items():
            columns[f"{name}_time"] = self.begin + self.width * (np.arange(len(low)) + 0.5)
            columns[f"{name}_low"], columns[f"{name}_high"] = low, self.high[name]
        return columns

    def head(self) -> dict[str, Any]:
        """The connection, its result with each seed, and the names of the queues."""
        return {"connection": self.key, "results": self.results, "queues": len(self.queues)}


def _result(document: dict[str, Any], key: Key) -> dict[str, Any]:
    flow = next(
        (each for each in document["flows"] if (each["flow"], each["index"]) == key[:2]), document["flows"][0]
    )
    end = flow["end_s"]
    return {
        "seed": document["seed"],
        "goodput_bps": flow["goodput_bps"],
        "took_s": end - flow["start_s"] if flow["completed"] and end is not None else None,
    }


def _padded(values: Floats, size: int) -> Floats:
    padded = np.full(size, np.nan)
    padded[: len(values)] = values
    return padded


def envelope(time: Floats, value: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest value of a staircase in each bin; NaN before its first point.

    A value holds until the next point, so that of the last point before a bin belongs to it too.
    """
    bins = len(edges) - 1
    low, high = np.full(bins, np.nan), np.full(bins, np.nan)
    places = np.searchsorted(time, edges)
    for place in range(bins):
        held = value[max(0, places[place] - 1) : places[place + 1]]
        held = held[~np.isnan(held)]
        if len(held):
            low[place], high[place] = held.min(), held.max()
    return low, high
