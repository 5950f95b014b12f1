"""Figure 1: the growth of the congestion window at 1 Tbit/s, without and with scaling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.studies.experiment import Experiment, Key, Plan, Samples, series_of
from netspurt.studies.model import Check, Findings, Picture
from netspurt.studies.terabit.setting import DELAY_S, MSS_BYTES, SCENARIO, settings

if TYPE_CHECKING:
    from netspurt import _core

RATE = "1 Tbit/s"
EQUAL_UNTIL_S = 15e-6
DIVERGED_BY_S = 17e-6
"""The paper's curves first differ in the round from a little after 15 µs to 17 µs."""
SLOPE_BAR = 0.1

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Growth:
    """A congestion window over time: from ``time_s[i]`` on it has ``segments[i]`` segments; both have shape (n,)."""

    time_s: Floats
    segments: Floats

    def at(self, time_s: Floats) -> Floats:
        """The window at the given times; none may be before the first sample."""
        place = np.searchsorted(self.time_s, time_s, side="right") - 1
        return self.segments[np.clip(place, 0, None)]


def growth(run: _core.Run) -> Growth:
    """The server's congestion window of a run that recorded ``cwnd``."""
    time_s, window = series_of(run, "cwnd", "server")
    return Growth(time_s, window / MSS_BYTES)


class Figure1:
    """Two transfers of table I with recorded congestion windows."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One transfer without and one with scaling."""
        for scaling in (False, True):
            yield Experiment(
                key=_key(scaling),
                scenario=SCENARIO,
                settings=settings(RATE, scaling),
                record=("cwnd",),
                measure=growth,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The first divergence of the curves, the growth of the lower one after it, and the picture."""
        without, scaled = samples.one(_key(False), Growth), samples.one(_key(True), Growth)
        if without is None or scaled is None:
            return Findings(checks=(Check(_DIVERGENCE, None), Check(_LINEAR, None)))
        divergence_s = first_divergence_s(without, scaled)
        slope = slope_per_round(without, divergence_s)
        from netspurt import plot

        curves = {
            "without scaling (ssthresh 65,535 bytes)": without,
            "with scaling (ssthresh 1.07 GB)": scaled,
        }
        picture = Picture(
            name="terabit-figure1",
            title="Figure 1: growth of the congestion window",
            caption=(
                "Congestion window of the server at 1 Tbit/s in the transfer of table I. Both curves double in each "
                "round of 2 µs until the window reaches 65,535 bytes, just after 15 µs; then the lower curve grows "
                "by one segment per round. In-flight data is capped at 100 segments in both."
            ),
            alt="Two staircase curves of window against time, equal to 15 µs, then one steep and one almost flat.",
            make=lambda: [
                plot.cwnd_growth_chart({name: (c.time_s, c.segments) for name, c in curves.items()})
            ],
        )
        return Findings(
            checks=(
                Check(
                    _DIVERGENCE,
                    EQUAL_UNTIL_S < divergence_s <= DIVERGED_BY_S,
                    f"the first divergence is at {divergence_s * 1e6:.2f} µs",
                ),
                Check(_LINEAR, abs(slope - 1.0) <= SLOPE_BAR, f"{slope:.3f} MSS for each 2 µs"),
            ),
            pictures=(picture,),
        )


_DIVERGENCE = "figure 1: the curves are equal until 15 µs and diverge in the 16 µs round"
_LINEAR = "figure 1: after that the window without scaling grows by one MSS for each 2 µs"


def _key(scaling: bool) -> Key:
    return ("figure1", "scaled" if scaling else "unscaled")


def first_divergence_s(one: Growth, other: Growth) -> float:
    """The first time at which two windows differ; infinite if they never differ."""
    times = np.union1d(one.time_s, other.time_s)
    times = times[times <= min(one.time_s[-1], other.time_s[-1])]
    different = np.flatnonzero(np.abs(one.at(times) - other.at(times)) > 1e-9)
    return float(times[different[0]]) if different.size else float("inf")


def slope_per_round(curve: Growth, after_s: float) -> float:
    """Mean growth in segments per RTT of 2 µs, starting one round after ``after_s``.

    The last rounds are excluded: at the end of the file they carry less than a window.
    """
    round_s = 2 * DELAY_S
    begin, end = after_s + round_s, float(curve.time_s[-1]) - 2 * round_s
    if not end > begin:
        return float("nan")
    low, high = curve.at(np.array([begin, end]))
    return float(high - low) / ((end - begin) / round_s)
