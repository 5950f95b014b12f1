"""The table of section 3.1: identities within its rows, and the replay over synthetic paths like each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from netspurt.analysis.statistics import mean_interval, percentile_band
from netspurt.studies.experiment import AnyExperiment, Floats, PathExperiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Table
from netspurt.studies.rfc889.bars import Cut, Within
from netspurt.studies.rfc889.published import Run, runs
from netspurt.studies.rfc889.setting import MILLS, PATH, SYMMETRIC, native, replay, run_settings
from netspurt.studies.verdict import Bar, Fraction

QUICK_SEEDS, FULL_SEEDS = 60, 200

EFFICIENCY = Cut(2, 0.03)
RETRANSMISSIONS = Within(2.0, "within 2 packets")
LOST_TIME = Fraction(0.15)
TOTAL = Within(1.0, "total within 1 s of its parts")

ENOUGH_LOSSES = 3
"""The least number of losses for which their time cost is judged."""

MUST_REACH = {"efficiency": 49, "rtx_packets": 46, "lost_time": 19}

NULL_PER_LOSS = 2.3
"""The null model: no superfluous retransmission, and this many mean delays for each loss."""

BETTER, WORSE = ("FOE", "ISID", "ISIA"), ("FACC", "UCL")
"""Hosts on whose runs two values of F did better, or worse, than one of 7/8, according to section 3.3."""

Outcome = dict[str, dict[str, float]]


def measure(path: Mapping[str, Floats]) -> Outcome:
    """The document's timer, and the usual timer of 1983, over one synthetic run."""
    delays = native(path)
    return {name: replay(delays, words) for name, words in (("mills", MILLS), ("symmetric", SYMMETRIC))}


class Results:
    """All 52 runs."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """Many runs for each row: runs of 512 delays with two glitches vary widely."""
        for run in runs():
            yield PathExperiment(
                key=("run", run.name),
                scenario=PATH,
                settings=run_settings(run),
                seeds=plan.choose(QUICK_SEEDS, FULL_SEEDS),
                measure=measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The table, its bars, the gains of section 3.3, and the null model."""
        outcomes = {run.name: samples.all(("run", run.name)) for run in runs()}
        cells = [cell for run in runs() for cell in (*_identities(run), *_synthetic(run, outcomes[run.name]))]
        table = Table(
            "rto_results",
            "Table of section 3.1: its own identities, and the replay over synthetic runs",
            tuple(cells),
            note=(
                "Each synthetic run has the mean, the coefficient of variation and the losses of its row as inputs. "
                "Values are means over seeds. The null model has no timer: no retransmission is superfluous, a loss "
                f"costs {NULL_PER_LOSS} mean delays."
            ),
        )
        counts = tuple(_count(cells, quantity) for quantity in MUST_REACH)
        return Findings(
            tables=(table, _gains_table(outcomes)),
            checks=(*_identity_checks(cells), *counts, _null_check(cells), *_gain_checks(outcomes)),
        )


def _row(run: Run) -> dict[str, str]:
    return {"run": run.name}


def _identities(run: Run) -> Iterable[Cell]:
    """Total = 0.512 · Mean + lost + rtx; Eff = 0.512 · Mean / Total."""
    total = run.good_s + run.wasted_s
    yield Cell(_row(run), "total_from_row", "s", run.total.value, total, decimals=0, bar=TOTAL)
    yield Cell(_row(run), "efficiency_from_row", "", run.efficiency.value, run.good_s / total, bar=Cut(2))


def _synthetic(run: Run, outcomes: Sequence[Outcome] | None) -> Iterable[Cell]:
    null_lost_s = NULL_PER_LOSS * run.lost * run.good_s / (512 - run.lost)
    null = {
        "efficiency": run.good_s / (run.good_s + null_lost_s),
        "rtx": 0.0,
        "lost_s": null_lost_s,
        "rtx_s": 0.0,
    }
    published = {
        "efficiency": run.efficiency,
        "rtx": None,
        "lost_s": run.lost_s,
        "rtx_s": run.rtx_s,
    }
    lost_bar = LOST_TIME if run.lost >= ENOUGH_LOSSES else None
    bars: dict[str, tuple[str, str, Bar | None]] = {
        "efficiency": ("efficiency", "", EFFICIENCY),
        "rtx": ("rtx_packets", "packets", RETRANSMISSIONS),
        "lost_s": ("lost_time", "s", lost_bar),
        "rtx_s": ("rtx_time", "s", None),
    }
    for name, (quantity, unit, bar) in bars.items():
        printed = published[name]
        values = None if outcomes is None else [outcome["mills"][name] for outcome in outcomes]
        yield Cell(
            _row(run),
            quantity,
            unit,
            float(run.rtx) if printed is None else printed.value,
            None if values is None else fmean(values),
            bar=bar,
            role="fitted" if name == "rtx" else "predicted",
            interval=None if values is None else mean_interval(values).interval,
            band=None if values is None else percentile_band(values),
            null_model=null[name],
            runs=0 if values is None else len(values),
            allowance=True,
            reason=_reason(run, name),
        )


def _reason(run: Run, name: str) -> str:
    if name == "rtx_s":
        return "the inputs do not include the lengths of the few longest delays of one run"
    if name == "lost_s" and run.lost < ENOUGH_LOSSES:
        return "too few losses to judge" if run.lost else "no losses"
    return ""


def _identity_checks(cells: Iterable[Cell]) -> Iterable[Check]:
    for quantity, words in (
        ("total_from_row", "every printed total is within 1 s of 0.512 · mean + lost time + rtx time"),
        ("efficiency_from_row", "every printed efficiency is 0.512 · mean over that sum, cut to two digits"),
    ):
        mine = [cell for cell in cells if cell.quantity == quantity]
        good = sum(cell.verdict in ("exact", "within bar") for cell in mine)
        yield Check(words, good == len(mine), f"{good} of {len(mine)}")


def _count(cells: Iterable[Cell], quantity: str) -> Check:
    judged = [cell for cell in cells if cell.quantity == quantity and cell.bar is not None]
    least = MUST_REACH[quantity]
    bar = judged[0].bar
    reached = "" if bar is None else bar.words
    words = f"synthetic replay, {quantity.replace('_', ' ')}: {reached} in {least} of {len(judged)} runs"
    if any(cell.measured is None for cell in judged):
        return Check(words, None)
    outside = [str(cell.row["run"]) for cell in judged if cell.verdict == "outside"]
    found = f"{len(judged) - len(outside)} of {len(judged)}; not {', '.join(outside)}"
    return Check(words, len(judged) - len(outside) >= least, found)


def _null_check(cells: Iterable[Cell]) -> Check:
    """The value of the agreement, compared with a null model."""
    words = "the replay matches more efficiencies than the null model does"
    judged = [cell for cell in cells if cell.quantity == "efficiency"]
    if any(cell.measured is None for cell in judged):
        return Check(words, None)
    ours = sum(cell.verdict != "outside" for cell in judged)
    null = sum(
        cell.null_model is not None and EFFICIENCY.reached(cell.published, cell.null_model, None)
        for cell in judged
    )
    return Check(words, ours > null, f"{ours} against {null} of {len(judged)} within 0.03")


def _gain(outcomes: Mapping[str, Sequence[Outcome] | None], host: str) -> list[float] | None:
    """Efficiency of two values of F minus that of one, for each seed, averaged over the host's runs."""
    mine = [outcomes[run.name] for run in runs() if run.host.split("-")[0] == host]
    if any(each is None for each in mine):
        return None
    whole = [each for each in mine if each is not None]
    return [
        fmean(outcome["mills"]["efficiency"] - outcome["symmetric"]["efficiency"] for outcome in seed)
        for seed in zip(*whole, strict=True)
    ]


def _gain_checks(outcomes: Mapping[str, Sequence[Outcome] | None]) -> Iterable[Check]:
    for hosts, sign, word in ((BETTER, 1.0, "better"), (WORSE, -1.0, "worse")):
        words = f"F1 = 15/16 and F2 = 3/4 do {word} than F = 7/8 on {', '.join(hosts)} (section 3.3)"
        gains = {host: _gain(outcomes, host) for host in hosts}
        known = {host: fmean(gain) for host, gain in gains.items() if gain is not None}
        if len(known) < len(hosts):
            yield Check(words, None)
            continue
        found = (
            ", ".join(f"{host} {100 * gain:+.1f}" for host, gain in known.items()) + " points of efficiency"
        )
        yield Check(words, all(sign * gain > 0 for gain in known.values()), found)


def _gains_table(outcomes: Mapping[str, Sequence[Outcome] | None]) -> Table:
    hosts = dict.fromkeys(run.host.split("-")[0] for run in runs())
    cells = []
    for host in hosts:
        gain = _gain(outcomes, host)
        estimate = None if gain is None else mean_interval(gain)
        cells.append(
            Cell(
                {"host": host},
                "gain",
                "points",
                None,
                None if estimate is None else 100.0 * estimate.mean,
                interval=None
                if estimate is None or estimate.interval is None
                else (100.0 * estimate.interval[0], 100.0 * estimate.interval[1]),
                runs=0 if gain is None else len(gain),
                reason="the document gives the sign, and sizes of five and ten percent",
            )
        )
    return Table(
        "beyond_gain",
        "Efficiency gain of two values of F over one of 7/8, by host",
        tuple(cells),
        kind="beyond",
        note=(
            "The signs agree with the document, the sizes do not: ten points would need a coefficient of variation of "
            "0.75 or more and 25 to 40 bursts of long delays in a run."
        ),
    )
