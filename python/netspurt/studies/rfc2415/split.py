"""Table 6: half of the clients with an initial window of one segment, half with three."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netspurt.analysis.statistics import mean_interval
from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Label, Table
from netspurt.studies.rfc2415.setting import (
    HTTP10,
    SEEDS,
    WEBS,
    Load,
    Measured,
    each,
    estimated,
    measure,
    published,
)

GOODPUT = "the document's goodput is not defined: see the note"
SHOWN = "shown, no bar"
OF_THREE = "web of three"
"""The name of the flows with three segments."""

LINE_MEGABYTES = 1.5e6 / 8 * 360 / 1e6
"""The capacity of the line in a run."""

HURT = 0.05
"""The tolerated increase of the page delay of users with one segment, as a share; runs scatter by this much."""


@dataclass(frozen=True)
class Mixture:
    """A number of clients: all with one window, or half with one segment and half with three."""

    webs: int
    window: int | None

    @property
    def load(self) -> Load:
        """The load, if all clients are alike."""
        return Load(HTTP10, self.webs, 0, self.window or 1)

    @property
    def key(self) -> Key:
        """Its key among the experiments; the grid's key if the grid contains the same run."""
        if self.in_grid:
            return self.load.key
        return ("split", self.webs, "mixed" if self.window is None else self.window)

    @property
    def in_grid(self) -> bool:
        """Whether tables 1 to 5 contain this run."""
        return self.window is not None and self.webs in WEBS

    def settings(self) -> dict[str, Value]:
        """The settings of this run, applied to the scenario file."""
        settings = self.load.settings()
        if self.window is None:
            for flow in (2, 3):
                settings[f"flow.{flow}.name"] = OF_THREE
                settings[f"flow.{flow}.tcp.initial_window"] = "3 segments"
        return settings


MIXTURES = tuple(Mixture(webs, window) for webs in (16, 32, 64) for window in (1, 3, None))


class Split:
    """Nine runs: 16, 32 and 64 clients, alike and mixed. Four of them belong to the grid."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """The runs that the grid does not contain."""
        for mixture in MIXTURES:
            if not mixture.in_grid:
                yield Experiment(
                    key=mixture.key,
                    scenario="web.toml",
                    settings=mixture.settings(),
                    seeds=plan.choose(2 if mixture.webs == 64 else SEEDS, SEEDS),
                    measure=measure,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The table, and whether the users with one segment are harmed."""
        cells: list[Cell] = []
        for row in published("table6"):
            mixed = row["split"] == "yes"
            for window in (1, 3):
                mixture = Mixture(int(row["web_clients"]), None if mixed else window)
                name = OF_THREE if mixed and window == 3 else "web"
                cells += _cells(samples.all(mixture.key), row, window, name)
        table = Table("table6", "Table 6: half with one segment, half with three", tuple(cells))
        return Findings(
            tables=(table,),
            checks=tuple(_unharmed(samples, webs) for webs in (16, 32)),
            notes=(_goodput_note(),),
        )


def _cells(runs: list[Measured] | None, row: dict[str, str], window: int, name: str) -> Iterable[Cell]:
    webs, mixed = int(row["web_clients"]), row["split"] == "yes"
    labels: dict[str, Label] = {
        "web_clients": f"{webs // 2}/{webs // 2}" if mixed else str(webs),
        "initial_window": window,
    }
    columns = {
        "median_page_delay": ("s", f"median_page_delay_s_iw{window}", 2, SHOWN),
        "goodput": ("MB", f"goodput_MB_iw{window}", 1, GOODPUT),
    }
    if window == 1 or not mixed:
        suffix = "iw1_or_mixed" if window == 1 else "iw3"
        columns["link_utilisation"] = ("%", f"link_utilization_pct_{suffix}", 0, SHOWN)
        columns["drop_rate"] = ("%", f"drop_pct_{suffix}", 1, SHOWN)
    for quantity, (unit, column, decimals, reason) in columns.items():
        values = None if runs is None else [_value(run, quantity, name) for run in runs]
        cell = Cell(labels, quantity, unit, float(row[column]), None, decimals=decimals, reason=reason)
        yield estimated(cell, values)


def _value(run: Measured, quantity: str, name: str) -> float:
    if quantity == "median_page_delay":
        return run.page_delay_s[name]
    if quantity == "goodput":
        return run.web_megabytes[name]
    return run.utilisation_pct if quantity == "link_utilisation" else run.drops_pct


def goodput_shares() -> list[float]:
    """Printed goodput over printed utilisation times capacity in 360 s, one number for each run of the table."""
    shares = []
    for row in published("table6"):
        runs = [("iw1_or_mixed", ("iw1", "iw3") if row["split"] == "yes" else ("iw1",))]
        if row["split"] == "no":
            runs.append(("iw3", ("iw3",)))
        for suffix, groups in runs:
            carried = float(row[f"link_utilization_pct_{suffix}"]) / 100 * LINE_MEGABYTES
            shares.append(sum(float(row[f"goodput_MB_{group}"]) for group in groups) / carried)
    return shares


def _goodput_note() -> str:
    shares = goodput_shares()
    return (
        f"Goodput of table 6: in each of the {len(shares)} runs of the original it is {min(shares):.2f} to "
        f"{max(shares):.2f} of the data that the printed utilisation carries in 360 s. Headers and retransmissions "
        "explain a few hundredths, so the original does not count a part of the run, or of the data. Our goodput "
        "counts every byte that the clients received."
    )


def _unharmed(samples: Samples, webs: int) -> Check:
    words = (
        f"with {webs // 2} users of three segments beside them, {webs // 2} users of one segment wait no longer than "
        f"among {webs} users of one segment (within {100 * HURT:g} %)"
    )
    alone, mixed = samples.all(Mixture(webs, 1).key), samples.all(Mixture(webs, None).key)
    if alone is None or mixed is None:
        return Check(words, None)
    before, after = (mean_interval(each(runs, "web")).mean for runs in (alone, mixed))
    return Check(words, after <= before * (1 + HURT), f"{after:.2f} s against {before:.2f} s")
