"""The timeout over a glitch, and the start of the filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from netspurt.analysis.rto_replay import estimator
from netspurt.studies.experiment import AnyExperiment, Floats, PathExperiment, Plan, Samples
from netspurt.studies.model import Check, Findings, Picture
from netspurt.studies.rfc889.published import CYCLES, runs
from netspurt.studies.rfc889.setting import MILLS, PATH, SYMMETRIC, native, replay, run_settings

SHOWN = "ISID *"
"""A run with five superfluous retransmissions."""

BEFORE, AFTER = 25, 60
"""Number of cycles shown around the longest delay."""

START = "RICE-1"
_START = (
    "RICE-1 shows the start of the filter if the first packet is lost: from 50 ms one way, which costs .1 s and then "
    "three superfluous retransmissions, as printed"
)


def measure(run: Mapping[str, Floats]) -> dict[str, Floats]:
    """Delays around the longest one, and both timeouts."""
    delays, delay_s = native(run), run["delay_s"]
    peak = int(np.nanargmax(delay_s))
    shown = slice(max(0, peak - BEFORE), peak + AFTER)
    columns = {
        "time_s": run["time_s"],
        "delay_s": delay_s,
        "symmetric": delays.timeouts(estimator(SYMMETRIC), "document"),
        "asymmetric": delays.timeouts(estimator(MILLS), "document"),
    }
    return {name: column[shown] for name, column in columns.items()}


class Glitch:
    """One synthetic run, and one that is constant except for its start."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """The run in the picture."""
        run = next(run for run in runs() if run.name == SHOWN)
        yield PathExperiment(
            key=("glitch", run.name), scenario=PATH, settings=run_settings(run), measure=measure
        )

    def evaluate(self, samples: Samples) -> Findings:
        """The picture, and a check on the start."""
        columns = samples.one(("glitch", SHOWN), dict)
        return Findings(checks=(_start(),), pictures=() if columns is None else (_picture(columns),))


def _start() -> Check:
    """RICE-1: 512 packets of 40 octets, CoV .11, one lost at .1 s, 3 superfluous retransmissions at 2.3 s."""
    printed = next(run for run in runs() if run.name == START)
    received_s = printed.good_s / (CYCLES - 1)
    delay_s = np.full(CYCLES, received_s)
    delay_s[0] = np.nan
    found = replay(native({"delay_s": delay_s}), MILLS)
    holds = (
        abs(found["lost_s"] - printed.lost_s.value) < 0.05
        and found["rtx"] == printed.rtx
        and abs(found["rtx_s"] - printed.rtx_s.value) < 0.1 * printed.rtx_s.value
    )
    words = f"{found['lost_s']:.2f} s, {found['rtx']:.0f} packets, {found['rtx_s']:.2f} s; the document prints 2.3 s"
    return Check(_START, holds, words)


def _picture(columns: Mapping[str, Floats]) -> Picture:
    from netspurt.plot import delays as plot_delays

    panels = {
        title: {name: columns[name]}
        for title, name in (("F = 7/8", "symmetric"), ("F1 = 15/16, F2 = 3/4", "asymmetric"))
    }
    return Picture(
        name="rfc889-glitch",
        title="The timeout over a glitch",
        caption=(
            f"A synthetic run like {SHOWN}: each point is a delay, the line is its timeout. A point above the line "
            "is a superfluous retransmission. With one F (left) the timeout needs several long delays to rise. With "
            "two (right) it rises at once and falls slowly."
        ),
        alt="During a burst of long delays the asymmetric timeout rises faster and stays high for longer.",
        make=lambda: [
            plot_delays.timeouts_chart(columns["time_s"], columns["delay_s"], lines, title)
            for title, lines in panels.items()
        ],
    )
