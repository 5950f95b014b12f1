"""The influence of F1, F2 and G (section 3.3): the surface over all 52 synthetic runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netspurt.analysis.rto_replay import Axis, GridSpec, Surface, alike
from netspurt.studies.experiment import AnyExperiment, Floats, PathExperiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Picture, Table
from netspurt.studies.rfc889.published import runs
from netspurt.studies.rfc889.setting import PATH, native, run_settings

if TYPE_CHECKING:
    from netspurt import _core

QUICK_SEEDS, FULL_SEEDS = 3, 20

F1 = ("0.75", "0.8125", "0.875", "0.90625", "0.9375", "0.96875")
F2 = ("0.5", "0.625", "0.75", "0.8125", "0.875", "0.9375")
G = ("1.5", "1.75", "2", "2.25", "2.5", "3")

SPEC = GridSpec("rfc889", (Axis("f1", F1), Axis("f2", F2), Axis("g", G)))

DOCUMENT = ("0.9375", "0.75", "2")
SYMMETRIC = ("0.875", "0.875", "2")
TOO_CLOSE = ("0.875", "0.875", "1.5")

SENSIBLE = (("0.875", "0.90625", "0.9375", "0.96875"), ("0.625", "0.75", "0.8125"), ("2", "2.25", "2.5"))
"""The neighbourhood of the document's values, which is expected to be flat."""

FLAT = 0.02
BAD = 0.05

_FLAT = f"F1, F2 and G matter little: near the document's values the mean efficiency varies by at most {FLAT}"
_BAD = f"one F = 7/8 with G = 1.5 is clearly bad: at least {BAD} below the document's values"


def measure(run: Mapping[str, Floats]) -> Floats:
    """The efficiency of each point of the grid over one synthetic run, in the grid's shape."""
    delays = native(run)
    columns = delays.grid(_estimators([("min", "0 s"), ("max", "0 s")]), "document")
    good_s = delays.summary()["good_s"]
    return np.asarray(good_s / (good_s + columns["lost_s"] + columns["rtx_s"])).reshape(SPEC.shape)


def _estimators(more: Sequence[tuple[str, str]]) -> list[_core.Estimator]:
    from netspurt import _core

    return [_core.Estimator(SPEC.name, [*point.items(), *more]) for point in SPEC.points()]


class Shape:
    """The grid over a few synthetic runs for each row of the table."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """All 52 rows."""
        for run in runs():
            yield PathExperiment(
                key=("surface", run.name),
                scenario=PATH,
                settings=run_settings(run),
                seeds=plan.choose(QUICK_SEEDS, FULL_SEEDS),
                measure=measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Checks for a flat neighbourhood, a bad region, and whether one optimum is significant."""
        by_run = [samples.all(("surface", run.name)) for run in runs()]
        known = [np.mean(each, axis=0) for each in by_run if each is not None]
        if len(known) < len(by_run):
            return Findings(checks=(Check(_FLAT, None), Check(_BAD, None)))
        efficiency = np.mean(known, axis=0)
        wasted = 1.0 - np.stack([each.ravel() for each in known], axis=1)
        best = int(wasted.mean(axis=1).argmin())
        surface = Surface(
            SPEC,
            efficiency,
            alike(wasted, best).reshape(SPEC.shape),
            tuple(int(at) for at in np.unravel_index(best, SPEC.shape)),
        )
        return Findings(
            tables=(_table(surface),),
            checks=(_flat(efficiency), _bad(efficiency)),
            pictures=(_picture(surface),),
            notes=(surface.statement("the 52 runs"),),
        )


def _at(point: tuple[str, str, str]) -> tuple[int, int, int]:
    f1, f2, g = (axis.texts.index(value) for axis, value in zip(SPEC.axes, point, strict=True))
    return f1, f2, g


def _flat(efficiency: Floats) -> Check:
    places = np.ix_(
        *([axis.texts.index(text) for text in texts] for axis, texts in zip(SPEC.axes, SENSIBLE, strict=True))
    )
    near = efficiency[places]
    spread = float(near.max() - near.min())
    return Check(_FLAT, spread <= FLAT, f"from {near.min():.3f} to {near.max():.3f} over {near.size} triples")


def _bad(efficiency: Floats) -> Check:
    good, bad = float(efficiency[_at(DOCUMENT)]), float(efficiency[_at(TOO_CLOSE)])
    return Check(_BAD, good - bad >= BAD, f"{bad:.3f} against {good:.3f} in the mean over 52 runs")


def _table(surface: Surface) -> Table:
    named = {"the document": DOCUMENT, "its day": SYMMETRIC, "its day, G = 1.5": TOO_CLOSE}
    best = surface.best_point
    named["best of the grid"] = (best["f1"], best["f2"], best["g"])
    cells = [
        Cell(
            {"values": name, "F1": point[0], "F2": point[1], "G": point[2]},
            "mean_efficiency",
            "",
            None,
            float(surface.efficiency[_at(point)]),
            reason="beyond the document",
        )
        for name, point in named.items()
    ]
    return Table(
        "beyond_surface",
        "Mean efficiency over 52 synthetic runs",
        tuple(cells),
        kind="beyond",
        note=surface.statement("the 52 runs"),
    )


def _picture(surface: Surface) -> Picture:
    from netspurt.plot import delays as plot_delays

    return Picture(
        name="rfc889-surface",
        title="Mean efficiency over F1 and F2",
        caption=(
            "Over the synthetic runs of all 52 rows, with the best G for each point. The star is the best point of the "
            "grid; dots mark points that do not differ significantly from it (95 %, bootstrap over the 52 runs)."
        ),
        alt="Efficiency changes little over most of the map.",
        make=partial(plot_delays.surface_map, surface, "Mean efficiency"),
    )
