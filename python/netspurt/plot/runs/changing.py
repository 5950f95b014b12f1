"""Lines for links that change: their capacity and their delay, for other plots to draw behind what they show."""

from __future__ import annotations

import numpy as np

from netspurt.inputs.link_states import LinkState, Step
from netspurt.inputs.recording import Recording
from netspurt.inputs.run import Simulated
from netspurt.plot.chart import Trace
from netspurt.plot.palette import GREY, Dash

LOOKS: tuple[Dash, ...] = ("--", ":")
"""A dash for each line of this kind in one plot."""


def capacities(source: Recording, end: float) -> list[Trace]:
    """The rates of the directions that changed and carried most data, in Mbit/s."""
    states = [state for state in _states(source) if state.rate_bps]
    return [
        _line(f"capacity {state.link}, {state.direction}", state.rate_bps, 1e-6, end, dash)
        for state, dash in zip(states, LOOKS, strict=False)
    ]


def delays(source: Recording, end: float) -> list[Trace]:
    """The delays of links that changed, there and back, in ms."""
    states = [state for state in _states(source) if state.delay_s]
    sums = {}
    for name in dict.fromkeys(state.link for state in states):
        ways = [state.delay_s for state in states if state.link == name]
        if len(ways) == 2:
            sums[name] = _sum(ways[0], ways[1])
    return [
        _line(f"delay {name}, there and back", steps, 1e3, end, dash)
        for (name, steps), dash in zip(sums.items(), LOOKS, strict=False)
    ]


def _states(source: Recording) -> list[LinkState]:
    return source.changing_links() if isinstance(source, Simulated) else []


def _sum(there: tuple[Step, ...], back: tuple[Step, ...]) -> tuple[Step, ...]:
    times = sorted({time for time, _ in (*there, *back)})

    def at(steps: tuple[Step, ...], time: float) -> float:
        return [value for begin, value in steps if begin <= time][-1]

    return tuple((time, at(there, time) + at(back, time)) for time in times)


def _line(name: str, steps: tuple[Step, ...], unit: float, end: float, dash: Dash) -> Trace:
    kept = [step for step in steps if step[0] <= end]
    x, y = (np.array(column, dtype=np.float64) for column in zip(*kept, strict=True))
    return Trace(name, x, y * unit, "steps", colour=GREY, dash=dash, width=1).prolonged(end)
