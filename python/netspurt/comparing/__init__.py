"""Two of a kind side by side: runs, sweeps, captures or traces.

What can be compared: ``sides``. Which values belong together: ``pairs``, ``captures``. Where two histories part:
``history``. What the pairs mean: ``netspurt.analysis.paired``. The pictures: ``netspurt.plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netspurt import display
from netspurt.algorithms import Make
from netspurt.comparing import captures, history, pairs
from netspurt.errors import RequestError
from netspurt.inputs.capture import Captured
from netspurt.inputs.run import How, Runs
from netspurt.inputs.sides import KINDS, Side, side
from netspurt.inputs.sweep import Swept
from netspurt.inputs.trace import Traced

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from netspurt.plot.chart import Chart

__all__ = ["Comparison", "compare"]

CHANCE = 20
"""Of so many comparisons without any difference, one looks like one at 95 %."""


@dataclass
class Comparison:
    """What came of a comparison.

    Attributes:
        kind: "simulated runs", "a sweep", "a capture" or "a trace".
        names: of the two sides.
        rows: one for each quantity, see ``pairs.row`` and ``captures.rows``; none for traces.
        parting: the first event in which two simulated runs differ; None if they do not, or were not looked at.
        looked: whether their events were held against each other, and of which seed.
    """

    kind: str
    names: tuple[str, str]
    rows: list[dict[str, Any]]
    sides: tuple[Side, Side]
    parting: history.Parting | None = None
    looked: int | None = None

    def __repr__(self) -> str:
        """Both sides, and how many quantities differ."""
        differ = sum(row.get("verdict") == "distinguishable" for row in self.rows)
        return f"<Comparison of {self.names[0]} and {self.names[1]}: {differ} of {len(self.rows)} quantities differ>"

    def _repr_html_(self) -> str:
        """For notebooks: what differs, and where the two part."""
        return display.shown("comparison", self)

    @property
    def table(self) -> pl.DataFrame:
        """The rows as a polars DataFrame."""
        import polars as pl

        return pl.DataFrame(self.rows, infer_schema_length=None)

    @property
    def sentences(self) -> list[str]:
        """What it comes to, for people."""
        told = [row["sentence"] for row in self.rows if "sentence" in row]
        if self.looked is not None:
            seed = f"Seed {self.looked}: " if self.kind == KINDS[Runs] else ""
            told.append(seed + history.sentence(self.parting))
        unlike = [row for row in self.rows if row.get("verdict") not in (None, "same", "too few")]
        if len(unlike) >= CHANCE:
            told.append(
                f"Of {len(unlike)} comparisons some {len(unlike) / CHANCE:.0f} would look distinguishable "
                "by chance alone."
            )
        makers = [getattr(each, "made_by", None) for each in self.sides]
        if None not in makers and makers[0] != makers[1]:
            told.append(
                f"A was made by netspurt {makers[0]} and B by {makers[1]}: what differs may come of that."
            )
        if self.kind == KINDS[Captured]:
            told.append("One capture each: whether a difference is chance, they cannot say.")
        return told

    def plot(self) -> Figure:
        """Both sides over each other, as a matplotlib Figure; of sweeps, what changes.

        Raises:
            RequestError: there is nothing to draw.
        """
        return self.plot_differences() if isinstance(self.sides[0], Swept) else self.chart().draw()

    def chart(self) -> Chart:
        """Both sides over each other, as data: how far transfers have come, or how round trips are distributed.

        Raises:
            RequestError: there is nothing to draw: sweeps have no time in common.
        """
        from netspurt.plot.compared import compared_chart

        first, second = self.sides
        if isinstance(first, Swept) or isinstance(second, Swept):
            raise RequestError("two sweeps have no time in common: draw their differences")
        seed = self.looked if self.looked is not None else min(getattr(first, "documents", {1: None}))
        return compared_chart((first, second), self.names, seed)

    def plot_differences(self) -> Figure:
        """The change of each quantity with its interval, in per cent of A.

        Raises:
            RequestError: nothing was paired, or A is 0 everywhere.
        """
        from netspurt.plot.sweeps.differences import differences

        return differences([row for row in self.rows if "verdict" in row])


def compare(
    a: object,
    b: object,
    *,
    seeds: int | Sequence[int] = 1,
    quantities: Sequence[str] = (),
    jobs: int = 1,
    settings: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    algorithms: Mapping[str, Make] | None = None,
) -> Comparison:
    """Puts two results, runs or captures side by side, B against A.

    Args:
        a: a scenario, a result, a sweep, a capture, or the path of one: a scenario file, a folder of ``run --out`` or
            of a sweep, the JSON of ``run --json``, a trace, a capture.
        b: another one of the same kind.
        seeds: 1 to this, or these: scenarios are run with each, and runs of the same seed are pairs.
        quantities: columns of flows or links; a handful by default.
        jobs: simulations at once.
        settings: overrides of either scenario file, path to TOML.
        algorithms: classes that scenario files may name, see ``Scenario.with_algorithms``.

    Raises:
        RequestError: a path that holds nothing of the kind, or two that do not go together.
        ScenarioError: a scenario is wrong.
    """
    which = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    how = How(which, jobs, settings, algorithms or {})
    first, second = side(a, how, 0), side(b, how, 1)
    names = (first.name, second.name)
    if isinstance(first, Runs) and isinstance(second, Runs):
        rows = pairs.of_runs(first, second, quantities)
        parting, looked = _parting(first, second)
        return Comparison(KINDS[Runs], names, rows, (first, second), parting, looked)
    if isinstance(first, Swept) and isinstance(second, Swept):
        return Comparison(KINDS[Swept], names, pairs.of_sweeps(first, second, quantities), (first, second))
    if isinstance(first, Captured) and isinstance(second, Captured):
        return Comparison(
            KINDS[Captured], names, captures.rows(first.capture, second.capture), (first, second)
        )
    if isinstance(first, Traced) and isinstance(second, Traced):
        parting = history.part(_history(first), _history(second))
        return Comparison(KINDS[Traced], names, [], (first, second), parting, 0)
    raise RequestError(
        f"{names[0]} is {KINDS[type(first)]} and {names[1]} {KINDS[type(second)]}: compare two of a kind"
    )


def _parting(a: Runs, b: Runs) -> tuple[history.Parting | None, int | None]:
    """Of the first seed in which the two differ; of the first one if they differ in none."""
    seeds = sorted(a.documents.keys() & b.documents.keys())
    unlike = [seed for seed in seeds if a.documents[seed].get("digest") != b.documents[seed].get("digest")]
    if not unlike:
        return None, seeds[0]
    runs = [each.repeat(unlike[0], history.RECORD) for each in (a, b)]
    if runs[0] is None or runs[1] is None:
        return None, None
    return history.part(history.history(runs[0]), history.history(runs[1])), unlike[0]


def _history(trace: Traced) -> pl.DataFrame:
    import polars as pl

    rows = trace.table.filter(pl.col("record") == "segments")
    rows = rows.with_columns(pl.lit("segment").alias("event"))
    return rows.select([name for name in history.COLUMNS if name in rows.columns])
