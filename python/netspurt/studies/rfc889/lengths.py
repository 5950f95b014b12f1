"""Delay against length (section 2): the published rates, and regressions on paths generated from the lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netspurt.studies.experiment import AnyExperiment, Floats, PathExperiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Picture, Table
from netspurt.studies.rfc889.bars import AllowedByRounding
from netspurt.studies.rfc889.published import FIRST_LONG, LONG, RICE, ROUND_TRIP, SHORT, Host, hosts, runs
from netspurt.studies.rfc889.setting import PATH, line_settings

if TYPE_CHECKING:
    from netspurt.analysis.regression import Characteristic

RATES = "every printed rate follows from the printed delays, which are rounded to 1 ms"
DOUBLED = "the row of RICE is a round trip: table 1 gives about twice the delays of table 2"

KINDS = {
    "FORD1": "a line of 9600 bit/s",
    "ISID-L": "ARPANET",
    "BERK": "ARPANET and a slow local net",
    "UCL": "SATNET",
}
"""The four kinds of path that the pictures show."""

RUNS = 100
"""Runs of 512 packets for the share of regressions that recover the rate of the path."""

FOUND = "a regression of 512 packets recovers the rate of the path within its 95 % interval"
AT_LEAST = 0.9
"""The noise grows with the delay, which the interval does not assume: a little less than 95 % is expected."""


class Rates:
    """The table of section 2.1."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """No experiments: rates follow from delays."""
        return ()

    def evaluate(self, samples: Samples) -> Findings:
        """49 rates, and the two delays of RICE that table 2 contradicts."""
        cells = [cell for host in hosts() for cell in _rates(host)]
        good = sum(cell.verdict in ("exact", "within bar") for cell in cells)
        table = Table(
            "delay_vs_length",
            "Table of section 2.1: rates from delays, RICE beside table 2",
            (*cells, *_rice()),
            note=ROUND_TRIP + ".",
        )
        ratios = [cell.published / cell.measured for cell in _rice() if cell.published and cell.measured]
        return Findings(
            tables=(table,),
            checks=(
                Check(RATES, good == len(cells), f"{good} of {len(cells)}"),
                Check(
                    DOUBLED,
                    all(1.8 < ratio < 2.1 for ratio in ratios),
                    "ratios " + " and ".join(f"{ratio:.2f}" for ratio in ratios),
                ),
            ),
        )


def _rates(host: Host) -> Iterable[Cell]:
    for line in host.lines:
        yield Cell(
            {"host": host.host, "octets": f"{line.octets[0]}–{line.octets[1]}"},
            "rate",
            "bit/s",
            line.rate_bps,
            line.rate,
            decimals=0,
            bar=AllowedByRounding(*line.rate_range),
            reason=ROUND_TRIP if host.host == RICE else "",
        )


def _rice() -> list[Cell]:
    """Delays of table 1, compared with the means of the runs with packets of that length."""
    lines = next(host.lines for host in hosts() if host.host == RICE)
    means = {run.octets: run for run in runs() if run.host.startswith(RICE) and run.octets}
    cells = []
    for octets, delay in ((SHORT, lines[0].delay_ms[0]), (LONG, lines[1].delay_ms[1])):
        row = {"host": RICE, "octets": str(octets)}
        mean = means[octets].mean_ms.value
        cells.append(
            Cell(row, "delay", "ms", delay, mean, decimals=0, reason=f"not comparable: {ROUND_TRIP}")
        )
    return cells


class Lines:
    """Paths generated from the published lines plus noise, measured and fitted as in the document."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """The four kinds of path, without glitches: the document's lines describe ordinary delays."""
        for host in KINDS:
            lines = next(each.lines for each in hosts() if each.host == host)
            yield PathExperiment(
                key=("lines", host),
                scenario=PATH,
                settings={**line_settings(lines), "glitch.height": 0.0},
                seeds=plan.choose(RUNS, RUNS),
                measure=partial(fit, FIRST_LONG if len(lines) > 1 else None),
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The spread of the regressions, the share of correct ones, and the scatter plots."""
        cells: list[Cell] = []
        right: list[bool] = []
        panels: dict[str, tuple[Floats, Floats, Characteristic | None]] = {}
        for host, kind in KINDS.items():
            fits = samples.all(("lines", host))
            if fits is None:
                return Findings(checks=(Check(FOUND, None),))
            lines = next(each.lines for each in hosts() if each.host == host)
            panels[f"{host}, {kind}"] = fits[0]
            for place, line in enumerate(lines):
                found = [each[2].lines[place] for each in fits]
                rates = np.array([each.rate_bps for each in found])
                right += [
                    each.rate_interval_bps[0] <= line.rate <= each.rate_interval_bps[1] for each in found
                ]
                row = {"host": host, "octets": f"{line.octets[0]}–{line.octets[1]}"}
                # A flat or falling line has an infinite rate, which cannot be averaged.
                low, high = np.percentile(rates, [2.5, 97.5], method="nearest")
                cells.append(
                    Cell(
                        row,
                        "rate",
                        "bit/s",
                        None,
                        float(np.median(rates)),
                        interval=(float(low), float(high)),
                        runs=len(fits),
                        reason="beyond the document",
                    )
                )
        share = sum(right) / len(right)
        table = Table(
            "beyond_regression",
            "Regressions on synthetic paths generated from the published lines: median, and 95 % of runs",
            tuple(cells),
            kind="beyond",
            note="A rate is the reciprocal of a slope: on a nearly flat line, 512 packets determine it poorly.",
        )
        found_words = f"in {share:.0%} of {len(right)} lines"
        return Findings(
            tables=(table,),
            checks=(Check(FOUND, share >= AT_LEAST, found_words),),
            pictures=(_picture(panels),),
        )


def fit(split: int | None, run: Mapping[str, Floats]) -> tuple[Floats, Floats, Characteristic | None]:
    """Lengths, delays and the lines through them."""
    from netspurt.analysis.regression import characteristic

    octets = run["length_octets"].astype(np.float64)
    return octets, run["delay_s"], characteristic(octets, run["delay_s"], split)


def _picture(panels: Mapping[str, tuple[Floats, Floats, Characteristic | None]]) -> Picture:
    from netspurt.plot import delays as plot_delays

    return Picture(
        name="rfc889-lengths",
        title="Delay against length on four kinds of path",
        caption=(
            "One synthetic run of 512 packets for each path, generated from the published lines, with regression lines "
            "and their 95 % intervals. Paths over the ARPANET show two characteristics with a step at 126 octets; over "
            "a satellite the length has little effect."
        ),
        alt="Delay rises with length along one line on the local path and along two with a step on the other three.",
        make=partial(plot_delays.delay_against_length_charts, dict(panels)),
        shared=False,
    )
