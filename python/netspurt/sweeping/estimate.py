"""How long a sweep will take, from a few of its runs.

Lives here: the choice of runs, and the extrapolation. Must not live here: storing results, or words.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from netspurt.sweeping.plan import Plan

SAMPLES = 5
"""So many points are tried at most: the first, the last, and some between."""

MOST_S = 10.0
"""The largest total duration of all trial runs, in seconds."""


@dataclass(frozen=True)
class Estimate:
    """How much work a sweep is.

    Attributes:
        points: combinations of settings.
        seeds: seeds of each point, at most.
        runs: all runs.
        found: runs whose results exist already.
        tried: trial runs that the estimate is from.
        run_s: mean time of a run in seconds; a lower bound if ``at_least``.
        left_s: time for what is missing, in seconds, with so many jobs.
        at_least: a trial run was stopped because it took too long.
        may_stop: a rule may end points early, so that less is needed.
    """

    points: int
    seeds: int
    runs: int
    found: int
    tried: int
    run_s: float
    left_s: float
    at_least: bool
    may_stop: bool


class _TooLongError(Exception):
    pass


def estimate(plan: Plan, folder: Path, jobs: int) -> Estimate:
    """Tries a few runs; nothing is stored."""
    names = [task.name for task in plan]
    found = sum((folder / "tasks" / f"{name}.parquet").exists() for name in names)
    count = len(plan.points)
    chosen = sorted({round(step * (count - 1) / max(SAMPLES - 1, 1)) for step in range(SAMPLES)})
    began, spans, cut = time.perf_counter(), [], False
    if found == len(names):
        chosen = []

    def watch(_now_s: float, _end_s: float) -> None:
        if time.perf_counter() - began > MOST_S:
            raise _TooLongError

    for point in chosen:
        before = time.perf_counter()
        try:
            plan.scenario(point).run(plan.request.seeds[0], watch=watch)
        except _TooLongError:
            cut = True
        spans.append(time.perf_counter() - before)
        if cut or time.perf_counter() - began > MOST_S:
            break
    run_s = sum(spans) / len(spans) if spans else 0.0
    return Estimate(
        points=count,
        seeds=len(plan.request.seeds),
        runs=len(names),
        found=found,
        tried=len(spans),
        run_s=run_s,
        left_s=run_s * (len(names) - found) / max(jobs, 1),
        at_least=cut,
        may_stop=plan.request.stop is not None,
    )
