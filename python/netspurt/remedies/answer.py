"""``what_if``: which remedies help a transfer, and by how much.

Lives here: the steps from a source to outcomes, and the object that holds them. Must not live here: the steps.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import display
from netspurt.analysis.formats import span
from netspurt.remedies.catalogue import FULL, candidates
from netspurt.remedies.measuring import QUANTITIES, measure_of
from netspurt.remedies.others import Others, beside
from netspurt.remedies.outcome import Outcome
from netspurt.remedies.own import given, own
from netspurt.remedies.proposals.queues import higher_rate
from netspurt.remedies.queue_range import on_range
from netspurt.remedies.remedy import Remedy
from netspurt.remedies.situation import Situation
from netspurt.remedies.source import Start, situation_of, start_of
from netspurt.remedies.trying import ORIGINAL, Report, Tried, prepare, simulate
from netspurt.scenario import Result, Scenario
from netspurt.settings import Value
from netspurt.threads import for_each

if TYPE_CHECKING:
    import polars as pl

    from netspurt.fitting import Fit

SEEDS = 10
"""Pairs of runs of each remedy."""

LIMIT_S = 40.0
"""No further seed begins after this time."""

MOSTLY = 0.5
"""A path that is full for a larger share of the time is called full."""

USED = 0.9
"""A transfer that uses a larger share of the rate fills the path."""

SMALL = 0.05
"""On a full path, a smaller gain is not worth a sentence."""

UNEXPLAINED = "The fitted path does not behave like the capture, so the times below are no promise."

DOUBTFUL = (
    "The capture does not show what another sender would meet (see the warning), so the times are uncertain."
)


@dataclass
class WhatIf:
    """Remedies for one flow, those that save most time first. Times are seconds.

    Attributes:
        name: the capture or scenario.
        flow: the name of the flow.
        quantity: what the seconds are.
        seconds: of the capture; of a scenario the simulated seconds.
        simulated_seconds: of the original, the mean over seeds.
        explains: whether the simulated path behaves like the capture; True for a scenario.
        warnings: sentences about the fit, and about what could not be tried.
        predicts: whether no warning about the fit says that another sender would meet another path.
        shares: the share of the time of each limit.
        seeds: pairs of runs.
        remedies: what was tried.
        higher_rate: what twice the rate would bring; None where the path is not full, or its rate not known.
    """

    name: str
    flow: str
    quantity: str
    seconds: float
    simulated_seconds: float
    explains: bool
    warnings: list[str]
    shares: Mapping[str, float]
    seeds: int
    remedies: list[Outcome]
    higher_rate: Outcome | None
    scenario: Scenario
    situation: Situation = field(repr=False)
    scenarios: Mapping[str, Scenario] = field(repr=False)
    """The scenario with each remedy, by its name."""
    predicts: bool = True

    def __repr__(self) -> str:
        return f"WhatIf({self.name!r}, {self.verdict!r})"

    def _repr_html_(self) -> str:
        return display.shown("what-if", self)

    @property
    def full(self) -> float:
        """The share of the time in which the path is full."""
        return sum(self.shares.get(limit, 0.0) for limit in FULL)

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        found = [UNEXPLAINED] if not self.explains else [] if self.predicts else [DOUBTFUL]
        best = next((each for each in self.remedies if each.helps), None)
        used = self.situation.used
        if (self.full >= MOSTLY or used >= USED) and (best is None or best.gain < SMALL):
            how_full = (
                f"The path is full for {100 * self.full:.0f} % of the time"
                if self.full >= MOSTLY
                else f"The path is full: the transfer uses {100 * used:.0f} % of its rate"
            )
            found.append(f"{how_full}; only more rate helps{self._more()}.")
            shorter = min((each for each in self.remedies if each.shortens), key=_delay, default=None)
            if shorter is not None:
                now, then = shorter.delays
                found.append(
                    f"{shorter.name} shortens the delay of others from {1e3 * now:.3g} to {1e3 * then:.3g} ms."
                )
        elif best is not None:
            found.append(
                f"{best.name}: {span(best.seconds)} instead of {span(best.original_seconds)} ({self.quantity})."
            )
        else:
            found.append("None of the remedies that were tried saves 1 % of the time.")
        return " ".join(found)

    def _more(self) -> str:
        more = self.higher_rate
        if more is None or not more.helps:
            return ""
        return f": with twice the rate it takes {span(more.seconds)} instead of {span(more.original_seconds)}"

    @property
    def table(self) -> pl.DataFrame:
        """One row per remedy.

        Columns: ``remedy``, ``limit``, ``seconds``, ``low`` and ``high`` (95 % interval, null for a single seed),
        ``gain`` (share of the time saved), ``distinguishable``, ``delay_now_s`` and ``delay_then_s`` (of others' short
        messages), ``proven_seconds``, ``how``.
        """
        import polars as pl

        rows = []
        for each in self.remedies:
            low, high = each.interval or (None, None)
            rows.append(
                (
                    *(each.name, each.limit, each.seconds, low, high, each.gain, each.distinct, *each.delays),
                    *(None if each.proven is None else each.proven.seconds, "\n".join(each.how)),
                )
            )
        numbers = dict.fromkeys(("seconds", "low", "high", "gain"), pl.Float64)
        schema = {"remedy": pl.String, "limit": pl.String, **numbers, "distinguishable": pl.Boolean}
        schema |= dict.fromkeys(("delay_now_s", "delay_then_s", "proven_seconds"), pl.Float64)
        return pl.DataFrame(rows, schema={**schema, "how": pl.String}, orient="row")

    def document(self) -> dict[str, Any]:
        """The JSON document of ``netspurt what-if --json``."""
        proven = next((each.proven for each in self.remedies if each.proven is not None), None)
        return {
            "file": self.name,
            "flow": self.flow,
            "quantity": self.quantity,
            "baseline": {
                "seconds": self.seconds,
                "simulated_seconds": self.simulated_seconds,
                "explains": self.explains,
                "predicts": self.predicts,
                "proven_seconds": None if proven is None else proven.original_seconds,
            },
            "verdict": self.verdict,
            "full_share": self.full,
            "limits": dict(sorted(self.shares.items(), key=lambda each: -each[1])),
            "seeds": self.seeds,
            "warnings": self.warnings,
            "remedies": [each.document() for each in self.remedies],
            "higher_rate": None if self.higher_rate is None else self.higher_rate.document(),
        }


def _delay(outcome: Outcome) -> float:
    return outcome.delays[1]


def what_if(
    source: str | Path | Scenario | Result | Fit,
    *,
    tries: str | Mapping[str, Value] | Sequence[str | Mapping[str, Value]] = (),
    flow: str | None = None,
    connection: int | None = None,
    seeds: int = SEEDS,
    jobs: int | None = None,
    limit_s: float = LIMIT_S,
    settings: Sequence[tuple[str, str]] = (),
    report: Report | None = None,
    first: Callable[[WhatIf], None] | None = None,
) -> WhatIf:
    """Simulates the remedies that the time budget of a transfer suggests, each with paired seeds.

    Args:
        source: a scenario, a run (folder or result), a capture, to which a path is fitted first, or the result of
            ``fit``.
        tries: remedies of your own, or one: settings as for ``Scenario.set``, or text ``"key=value; key=value"``.
        flow: the name of the flow, or its number in the file; by default the one that lost most time.
        connection: of a capture, the number of the connection; by default as for ``fit``.
        seeds: pairs of runs of each remedy; fewer if there is no randomness, or no time.
        jobs: runs at once; by default one for each processor.
        limit_s: no further seed begins after this time.
        settings: dotted path and text, which override values of the scenario.
        report: receives the progress: runs that are done, runs in all, the remedy.
        first: receives a first answer, from one seed.

    Raises:
        RequestError: the source cannot be read, or has no such flow.
        ScenarioError: the scenario, or a remedy of your own, is wrong.
        ValueError: ``seeds`` is below 1.
    """
    if seeds < 1:
        raise ValueError(f"seeds is {seeds}; it must be at least 1")
    jobs = jobs or os.cpu_count() or 1
    start = start_of(source, connection)
    scenario = Scenario(start.scenario.native.set(list(settings))) if settings else start.scenario
    result = scenario.run(1, record=["limits"])
    situation = situation_of(scenario, result, flow)
    if start.for_remedies is not None:
        # The capture's own losses show what limited it; a remedy meets other ones.
        scenario = Scenario(start.for_remedies.native.set(list(settings))) if settings else start.for_remedies
        situation = replace(situation, scenario=scenario)
    asked = [tries] if isinstance(tries, str | Mapping) else tries
    mine = [own(each) if isinstance(each, str) else given(each) for each in asked]
    tried, warnings = _tried(scenario, situation, mine)
    measure = measure_of(situation.tree, situation.flow, result)

    def answer() -> WhatIf:
        return _answer(start, scenario, situation, tried, QUANTITIES[measure.kind], warnings)

    simulate(
        tried,
        measure,
        range(1, seeds + 1),
        jobs=jobs,
        limit_s=limit_s,
        report=report or (lambda _done, _total, _name: None),
        first=lambda: first(answer()) if first else None,
    )
    found = answer()
    if start.waited is not None:
        said = on_range(found.remedies, tried, start.waited, measure, jobs)
        found.warnings += [said] if said else []
    _add_others(found, tried, situation, jobs)
    found.remedies.sort(key=lambda each: each.rank)
    return found


def _tried(scenario: Scenario, situation: Situation, mine: Sequence[Remedy]) -> tuple[list[Tried], list[str]]:
    """The original, the remedies of one's own, the proposed ones and a higher rate; and what does not fit."""
    from netspurt.remedies.changing import changed

    for each in mine:
        changed(scenario, each)
    more = higher_rate(situation) if situation.share(*FULL) > 0 or situation.used >= USED else None
    remedies = [ORIGINAL, *mine, *candidates(situation), *([] if more is None else [more])]
    tried, unfit = prepare(scenario, remedies)
    return tried, [f"{name} could not be tried: {why}" for name, why in unfit.items()]


def _answer(
    start: Start,
    scenario: Scenario,
    situation: Situation,
    tried: Sequence[Tried],
    quantity: str,
    warnings: Sequence[str],
) -> WhatIf:
    original, *others = tried
    outcomes = [_outcome(each, original, situation) for each in others]
    more = next((each for each in outcomes if each.name == "higher-rate"), None)
    remedies = sorted((each for each in outcomes if each is not more), key=lambda each: each.rank)
    said = [*start.warnings, *warnings]
    if not original.whole:
        said.append(
            "The flow did not end within the duration of the scenario: its seconds are extrapolated from its goodput."
        )
    return WhatIf(
        name=start.name,
        flow=_name(situation),
        quantity=quantity,
        seconds=original.seconds if start.captured_s is None else start.captured_s,
        simulated_seconds=original.seconds,
        explains=start.explains,
        warnings=said,
        shares=situation.shares,
        seeds=len(original.runs),
        remedies=remedies,
        higher_rate=more,
        scenario=scenario,
        situation=situation,
        scenarios={each.remedy.name: each.scenario for each in tried},
        predicts=start.predicts,
    )


def _name(situation: Situation) -> str:
    return str(situation.entry.get("name") or situation.app["kind"])


def _outcome(tried: Tried, original: Tried, situation: Situation) -> Outcome:
    pairs = tried.pairs(original)
    interval, distinct = None, False
    if pairs is not None:
        if pairs.low is not None and pairs.high is not None:
            interval = (pairs.mean_a + pairs.low, pairs.mean_a + pairs.high)
        distinct = pairs.verdict == "distinguishable" or (
            pairs.verdict == "too few" and pairs.difference != 0
        )
    base = situation.base_rtt_s
    remedy = tried.remedy
    return Outcome(
        name=remedy.name,
        limit=remedy.limit,
        words=remedy.words,
        settings=remedy.settings,
        how=remedy.how,
        original_seconds=original.seconds,
        seconds=tried.seconds,
        interval=interval,
        distinct=distinct,
        queueing_s=(max(original.rtt_s - base, 0.0), max(tried.rtt_s - base, 0.0)),
        whole=tried.whole,
    )


def _add_others(found: WhatIf, tried: Sequence[Tried], situation: Situation, jobs: int) -> None:
    """Runs each scenario beside others."""
    costs: dict[str, Others | None] = {}
    for_each(
        tried,
        lambda each: beside(each, situation),
        lambda each, cost: costs.__setitem__(each.remedy.name, cost),
        jobs,
    )
    now = costs.get(ORIGINAL.name)
    for each in [*found.remedies, *([] if found.higher_rate is None else [found.higher_rate])]:
        then = costs.get(each.name)
        if now is not None and then is not None and math.isfinite(each.seconds):
            each.others = (now, then)
