"""A remedy carried out with the kernel's TCP on the emulated path, beside the original.

Lives here: the repeats, and when they are enough. Must not live here: how the kernel is set up (``kernel``).
"""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Callable
from typing import Any

from netspurt.analysis.paired import paired
from netspurt.emulation.emulating import Emulated, NotPossible, emulated
from netspurt.errors import RequestError
from netspurt.remedies.answer import WhatIf
from netspurt.remedies.outcome import Outcome, Proven
from netspurt.remedies.proof import kernel, timing
from netspurt.remedies.situation import Situation
from netspurt.scenario import Scenario

FOR_S = 60.0
"""No further pair of runs begins after this time."""

FEWEST, MOST = 2, 20
"""Pairs of runs."""

NARROW = 0.05
"""Half the interval of the difference as a share of the original's time: enough."""

LONGEST_S = 600.0
"""Time limit of one run."""

Runner = Callable[[int], tuple[float, float]]
"""From a seed to seconds and the largest lateness."""


def prove(
    found: WhatIf,
    number: int,
    *,
    program: str | None = None,
    server: str | None = None,
    for_s: float = FOR_S,
    report: Callable[[str], None] = lambda _: None,
) -> Proven:
    """Carries out the original and remedy ``number`` with the kernel's TCP; fills in ``proven`` of the remedy.

    Args:
        found: the answer of ``what_if``.
        number: which remedy, from 1.
        program: a command of your own instead of the transfer; it runs on the node that opens the connection.
        server: a command that serves it, on the other node.
        for_s: no further pair of runs begins after this time; there are at least two.
        report: receives progress messages.

    Raises:
        RequestError: there is no such remedy, the kernel cannot do it, or this machine cannot emulate.
    """
    if not 1 <= number <= len(found.remedies):
        many = len(found.remedies)
        raise RequestError(
            f"there is no remedy {number}: "
            + (f"they are numbered 1 to {many}" if many else "none was tried")
        )
    outcome = found.remedies[number - 1]
    original, changed = (_runner(found, name, program, server) for name in ("original", outcome.name))
    outcome.proven = _repeat(original, changed, outcome, for_s, report)
    return outcome.proven


def _runner(found: WhatIf, name: str, program: str | None, server: str | None) -> Runner:
    scenario = found.scenarios[name]
    situation = dataclasses.replace(found.situation, scenario=scenario)
    if program is not None:
        return _own(situation, scenario, program, server)
    exchanges = found.situation.app.get("exchanges")
    plan = kernel.plan_of(situation, exchanges if isinstance(exchanges, int) else None)
    if not timing.by_capture(situation):
        return lambda seed: _run(
            scenario, plan.tasks, plan.words, seed, lambda done: plan.seconds(done.found)
        )
    client = str(situation.entry["from"])

    def run(seed: int) -> tuple[float, float]:
        def timed(done: Emulated) -> float:
            return timing.seconds(done.captures[client], situation)

        return _run(scenario, plan.tasks, plan.words, seed, timed, (client,))

    return run


def _own(situation: Situation, scenario: Scenario, program: str, server: str | None) -> Runner:
    """Runs the user's program, which finds the other host by its name."""
    kernel.refuse(situation)
    client, other = str(situation.entry["from"]), str(situation.entry["to"])
    try:
        task = {"program": "run", "words": shlex.split(program)}
    except ValueError as error:
        raise RequestError(f"'{program}' cannot be split into words: {str(error).lower()}") from None
    options = [*kernel.words(situation), "--congestion", kernel.congestion(situation)]
    if server is not None:
        options += ["--on", other, server]

    def seconds(done: Emulated) -> float:
        outcome = done.found
        if outcome[client]["status"]:
            last = (outcome[client]["error"].strip().splitlines() or ["no message"])[-1]
            raise RequestError(f"'{program}' failed with exit status {outcome[client]['status']}: {last}")
        return float(outcome[client]["seconds"])

    tasks = {client: task} if server is not None else {client: task, other: {"program": "rest"}}
    return lambda seed: _run(scenario, tasks, tuple(options), seed, seconds)


def _run(
    scenario: Scenario,
    tasks: Any,
    words: tuple[str, ...],
    seed: int,
    seconds: Callable[[Emulated], float],
    captures: tuple[str, ...] = (),
) -> tuple[float, float]:
    """Seconds, and the largest lateness."""
    try:
        with emulated(
            scenario.merged(), tasks, limit_s=LONGEST_S, seed=seed, words=words, captures=captures
        ) as done:
            return seconds(done), done.latest_s
    except NotPossible as reason:
        raise RequestError(f"the remedy cannot be proven on this machine: {reason}") from None


def _repeat(
    original: Runner, changed: Runner, outcome: Outcome, for_s: float, report: Callable[[str], None]
) -> Proven:
    before: list[float] = []
    after: list[float] = []
    late_s, began = 0.0, time.monotonic()
    while True:
        seed = len(before) + 1
        report(f"pair {seed}: the original and {outcome.name} on the emulated path")
        for run, seconds in ((original, before), (changed, after)):
            took, late = run(seed)
            seconds.append(took)
            late_s = max(late_s, late)
        pairs = paired(before, after)
        if seed < FEWEST:
            continue
        low, high = float(pairs.low or 0.0), float(pairs.high or 0.0)
        if (high - low) / 2 <= NARROW * pairs.mean_a or seed == MOST or time.monotonic() - began > for_s:
            return Proven(before, after, (low, high), late_s)
