"""Comparisons of two inputs of one kind: runs, sweeps, captures or traces.

``sides`` reads the inputs; ``pairs`` and ``captures`` match their values; ``history`` finds the first divergence of
two runs. Statistics: ``netspurt.analysis.paired``. Plots: ``netspurt.plot``.
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
from netspurt.inputs.run import How, Runs, simulate
from netspurt.inputs.sides import KINDS, Side, side
from netspurt.inputs.sweep import Swept
from netspurt.inputs.trace import Traced
from netspurt.settings import several

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from netspurt.plot.chart import Chart

__all__ = ["Comparison", "compare"]

CHANCE = 20
"""Of this many comparisons without any difference, about one looks different at 95 %."""


@dataclass
class Comparison:
    """The result of a comparison.

    Attributes:
        kind: "simulated runs", "a sweep", "a capture" or "a trace".
        names: the names of the two sides.
        rows: one for each quantity, see ``pairs.row`` and ``captures.rows``; none for traces.
        divergence: the first event in which two runs differ; None if they do not differ, or were not compared.
        compared_seed: the seed whose events were compared, if any.
        pairs: the number of pairs of runs; None for other inputs.
        whole: False if Ctrl-C ended the simulations: the rows are of the pairs that were complete.
    """

    kind: str
    names: tuple[str, str]
    rows: list[dict[str, Any]]
    sides: tuple[Side, Side]
    divergence: history.Divergence | None = None
    compared_seed: int | None = None
    pairs: int | None = None
    whole: bool = True

    @property
    def parting(self) -> history.Divergence | None:
        """Deprecated: use ``divergence``."""
        return self.divergence

    @property
    def looked(self) -> int | None:
        """Deprecated: use ``compared_seed``."""
        return self.compared_seed

    def __repr__(self) -> str:
        """Both sides, and the number of quantities that differ."""
        differ = sum(row.get("verdict") == "distinguishable" for row in self.rows)
        return f"<Comparison of {self.names[0]} and {self.names[1]}: {differ} of {len(self.rows)} quantities differ>"

    def _repr_html_(self) -> str:
        """The HTML form for notebooks: the differences, and the first divergence."""
        return display.shown("comparison", self)

    @property
    def table(self) -> pl.DataFrame:
        """The rows as a polars DataFrame."""
        import polars as pl

        return pl.DataFrame(self.rows, infer_schema_length=None)

    @property
    def faults(self) -> list[str]:
        """A sentence on each capture that is damaged or holds no TCP."""
        captured = (each.capture for each in self.sides if isinstance(each, Captured))
        return [capture.fault for capture in captured if capture.fault is not None]

    @property
    def sentences(self) -> list[str]:
        """The result as sentences."""
        found = [row["sentence"] for row in self.rows if "sentence" in row]
        if self.compared_seed is not None:
            seed = f"Seed {self.compared_seed}: " if self.kind == KINDS[Runs] else ""
            found.append(seed + history.sentence(self.divergence))
        unlike = [row for row in self.rows if row.get("verdict") not in (None, "same", "too few")]
        if len(unlike) >= CHANCE:
            found.append(
                f"Of {len(unlike)} comparisons about {len(unlike) / CHANCE:.0f} would look distinguishable "
                "by chance alone."
            )
        makers = [getattr(each, "made_by", None) for each in self.sides]
        if None not in makers and makers[0] != makers[1]:
            found.append(
                f"netspurt {makers[0]} made A and {makers[1]} made B: the version may cause the differences."
            )
        if not self.whole:
            found.append(
                f"Ctrl-C ended the simulations: this is the result of {self.pairs} complete pairs of runs."
            )
        if self.kind == KINDS[Captured]:
            found.append("With one capture each, the comparison cannot separate a difference from chance.")
        return found

    def plot(self, round_trips: str | None = None) -> Figure:
        """Both sides in one matplotlib Figure; for sweeps, the changes.

        Args:
            round_trips: name of a flow of both runs, whose RTT distributions are drawn.

        Raises:
            RequestError: there are no data to draw.
        """
        if isinstance(self.sides[0], Swept) and round_trips is None:
            return self.plot_differences()
        return self.chart(round_trips).draw()

    def chart(self, round_trips: str | None = None) -> Chart:
        """Both sides in one plot, as data: the progress of transfers, or the RTT distributions.

        Args:
            round_trips: name of a flow of both runs, whose RTT distributions are drawn instead of the progress.

        Raises:
            RequestError: there are no data to draw: sweeps have no common time axis.
        """
        from netspurt.plot.compared import compared_chart

        first, second = self.sides
        if isinstance(first, Swept) or isinstance(second, Swept):
            raise RequestError("two sweeps have no common time axis: use plot_differences")
        seed = (
            self.compared_seed
            if self.compared_seed is not None
            else min(getattr(first, "documents", {1: None}))
        )
        return compared_chart((first, second), self.names, seed, round_trips)

    def plot_differences(self) -> Figure:
        """The change of each quantity with its interval, in per cent of A.

        Raises:
            RequestError: there are no pairs, or A is 0 everywhere.
        """
        from netspurt.plot.sweeps.differences import differences

        return differences([row for row in self.rows if "verdict" in row])


def compare(
    a: object,
    b: object,
    *,
    seeds: int | Sequence[int] = 1,
    quantities: str | Sequence[str] = (),
    jobs: int = 1,
    settings: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    algorithms: Mapping[str, Make] | None = None,
) -> Comparison:
    """Compares two results, runs or captures, B against A.

    Args:
        a: a scenario, a result, a sweep, a capture, or the path of one: a scenario file, a folder of ``run --out`` or
            of a sweep, the JSON of ``run --json``, a trace, a capture.
        b: another one of the same kind.
        seeds: the number of seeds from 1, or the seeds: scenarios run with each, and runs of the same seed are pairs.
        quantities: columns of flows or links; by default the usual ones.
        jobs: number of simulations at once.
        settings: overrides of either scenario file, path to TOML.
        algorithms: classes that scenario files may name, see ``Scenario.with_algorithms``.

    Raises:
        RequestError: a path has no such content, or the two are of different kinds.
        ScenarioError: a scenario is invalid.
        KeyboardInterrupt: Ctrl-C before a pair of runs was complete; later the comparison has those that were.
    """
    quantities = several(quantities)
    which = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not which:
        raise RequestError("there are no seeds: seeds must be at least 1, or a list of at least one seed")
    how = How(which, jobs, settings, algorithms or {})
    first, second = side(a, how, 0), side(b, how, 1)
    names = (first.name, second.name)
    if isinstance(first, Runs) and isinstance(second, Runs):
        return _of_runs(first, second, how, quantities)
    if isinstance(first, Swept) and isinstance(second, Swept):
        return Comparison(KINDS[Swept], names, pairs.of_sweeps(first, second, quantities), (first, second))
    if isinstance(first, Captured) and isinstance(second, Captured):
        return Comparison(
            KINDS[Captured], names, captures.rows(first.capture, second.capture), (first, second)
        )
    if isinstance(first, Traced) and isinstance(second, Traced):
        divergence = history.first_divergence(_history(first), _history(second))
        return Comparison(KINDS[Traced], names, [], (first, second), divergence, 0)
    raise RequestError(
        f"{names[0]} is {KINDS[type(first)]} and {names[1]} {KINDS[type(second)]}: compare two of the same kind"
    )


def _of_runs(first: Runs, second: Runs, how: How, quantities: Sequence[str]) -> Comparison:
    whole = simulate([each for each in (first, second) if each.scenario and not each.documents], how)
    complete = first.documents.keys() & second.documents.keys()
    if not whole and not complete:
        raise KeyboardInterrupt
    rows = pairs.of_runs(first, second, quantities)
    divergence, compared_seed = _divergence(first, second)
    return Comparison(
        KINDS[Runs],
        (first.name, second.name),
        rows,
        (first, second),
        divergence,
        compared_seed,
        len(complete),
        whole,
    )


def _divergence(a: Runs, b: Runs) -> tuple[history.Divergence | None, int | None]:
    """The divergence of the first seed in which the two differ, or the result of the first seed if none differs."""
    seeds = sorted(a.documents.keys() & b.documents.keys())
    unlike = [seed for seed in seeds if a.documents[seed].get("digest") != b.documents[seed].get("digest")]
    if not unlike:
        return None, seeds[0]
    runs = [each.repeat(unlike[0], history.RECORD) for each in (a, b)]
    if runs[0] is None or runs[1] is None:
        return None, None
    return history.first_divergence(history.history(runs[0]), history.history(runs[1])), unlike[0]


def _history(trace: Traced) -> pl.DataFrame:
    import polars as pl

    rows = trace.table.filter(pl.col("record") == "segments")
    rows = rows.with_columns(pl.lit("segment").alias("event"))
    return rows.select([name for name in history.COLUMNS if name in rows.columns])
