"""Beyond the document: later timers over its 52 runs, and over a simulated path with cross traffic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from netspurt.analysis.rto_replay import RULES, estimator
from netspurt.analysis.statistics import mean_interval
from netspurt.studies.experiment import (
    AnyExperiment,
    Experiment,
    Floats,
    PathExperiment,
    Plan,
    Samples,
    series_of_flow,
)
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.rfc889.published import runs
from netspurt.studies.rfc889.setting import MILLS, PATH, SYMMETRIC, native, replay, run_settings

if TYPE_CHECKING:
    from netspurt import _core

QUICK_SEEDS, FULL_SEEDS = 3, 40

TIMERS = {
    "RFC 793, F = 7/8, G = 2": SYMMETRIC,
    "RFC 889": MILLS,
    "Jacobson 1988, two deviations": "tahoe",
    "Jacobson, four deviations": "jacobson88",
    "RFC 6298": "rfc6298",
    "RFC 6298 without its floor of 1 s": "rfc6298:min=0s",
    "Linux": "linux",
    "fixed, 3 s": "fixed:rto=3s",
}

_REASON = "beyond the document"


def measure(run: Mapping[str, Floats]) -> dict[tuple[str, str], dict[str, float]]:
    """Every timer by both rules; the wait after a loss is in multiples of the mean delay of the run."""
    delays = native(run)
    return {
        (name, rules): replay(delays, words, rules) for (name, words), rules in product(TIMERS.items(), RULES)
    }


class Timers:
    """The table of section 3.1 with later timers."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """A few synthetic runs for each row."""
        for run in runs():
            yield PathExperiment(
                key=("timers", run.name),
                scenario=PATH,
                settings=run_settings(run),
                seeds=plan.choose(QUICK_SEEDS, FULL_SEEDS),
                measure=measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Means over the 52 rows."""
        outcomes = [samples.all(("timers", run.name)) for run in runs()]
        known = [each for each in outcomes if each is not None]
        whole = len(known) == len(outcomes)
        cells = []
        for (name, _), rules in product(TIMERS.items(), RULES):
            row = {"timer": name, "rules": rules}
            for quantity, key, unit in (
                ("efficiency", "efficiency", ""),
                ("rtx_packets", "rtx", "packets"),
                ("wasted_on_losses", "lost_s", "s"),
                ("late_median", "late_p50_s", "s"),
            ):
                seeds = zip(*known, strict=True) if whole else ()
                values = [fmean(run[name, rules][key] or 0.0 for run in seed) for seed in seeds]
                estimate = mean_interval(values) if values else None
                cells.append(
                    Cell(
                        row,
                        quantity,
                        unit,
                        None,
                        None if estimate is None else estimate.mean,
                        interval=None if estimate is None else estimate.interval,
                        runs=len(values),
                        reason=_REASON,
                    )
                )
        table = Table(
            "beyond_timers",
            "Later timers over synthetic runs of the 52 rows, means per run",
            tuple(cells),
            kind="beyond",
            note=(
                "Times are one way, as in the document. Late is the extra time that a lost packet waits for its "
                "retransmission, compared with the delay of an answer. By the rules of a connection, timeouts double "
                "until there is a sample, and a packet sent twice gives none. RTTs are seconds here, so floors of 0.2 "
                "or 1 s and ticks of half a second, which dominate on current paths, have little effect."
            ),
        )
        return Findings(tables=(table,))


CROSS = "cross.toml"


def samples_of(run: _core.Run) -> dict[str, Floats]:
    """The RTTs that the probing connection measured, halved."""
    time_s, rtt_s = series_of_flow(run, "rtt", "probe", "client")
    return {"time_s": time_s, "delay_s": rtt_s / 2.0}


class CrossTraffic:
    """A simulated path of 1983 on which transfers start and end."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """One run: it has no randomness."""
        yield Experiment(key=("cross",), scenario=CROSS, record=("rtt",), measure=samples_of)

    def evaluate(self, samples: Samples) -> Findings:
        """Every timer by both rules, and the picture."""
        path = samples.one(("cross",), dict)
        if path is None:
            return Findings()
        delays = native(path)
        cells = []
        for (name, words), rules in product(TIMERS.items(), RULES):
            found = replay(delays, words, rules)
            row = {"timer": name, "rules": rules}
            for quantity, key, unit in (
                ("efficiency", "efficiency", ""),
                ("rtx_packets", "rtx", "packets"),
                ("late_median", "late_p50_s", "s"),
                ("late_95th", "late_p95_s", "s"),
            ):
                cells.append(Cell(row, quantity, unit, None, found[key], reason=_REASON))
        table = Table(
            "beyond_cross_traffic",
            "Timers over a simulated line of 56 kbit/s with cross traffic",
            tuple(cells),
            kind="beyond",
            note=(
                f"{len(delays)} RTTs measured by the probing connection. Each transfer fills the queue within "
                "a few RTTs: the delay rises to sixteen times its former value until the transfer ends."
            ),
        )
        return Findings(tables=(table,), pictures=(_picture(path),))


def _picture(path: Mapping[str, Floats]) -> Picture:
    from netspurt.plot import delays as plot_delays

    delays = native(path)
    shown = np.asarray(path["time_s"]) < 140.0
    lines = {
        name: delays.timeouts(estimator(TIMERS[name]), "document")[shown]
        for name in ("RFC 889", "RFC 6298", "Linux")
    }
    return Picture(
        name="rfc889-cross",
        title="Timeouts on a simulated path with cross traffic",
        caption=(
            "A request every second over a line of 56 kbit/s; twice a transfer with a window of 8 KiB fills its queue. "
            "Each point is a delay, each line a timeout, all one way."
        ),
        alt="Delay jumps to a plateau while a transfer runs; the timeouts follow at different speeds.",
        make=lambda: [
            plot_delays.timeouts_chart(
                path["time_s"][shown], path["delay_s"][shown], lines, "Cross traffic, 56 kbit/s"
            )
        ],
    )
