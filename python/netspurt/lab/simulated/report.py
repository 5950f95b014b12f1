"""The report of what the page shows, as one file for a colleague: a run, or two settings side by side.

Lives here: the choice of the parts. Must not live here: the parts.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from netspurt import comparing
from netspurt.lab.simulated.asked import Asked
from netspurt.report import compare as compare_report
from netspurt.report import explained
from netspurt.report.blocks import Page
from netspurt.scenario import Scenario


def page_of(sides: Sequence[Asked], seeds: int) -> Page:
    """The page.

    Args:
        sides: one setting, or two to compare.
        seeds: the number of seeds from that of the first side.
    """
    scenarios = [Scenario(asked.scenario()) for asked in sides]
    which = range(sides[0].seed, sides[0].seed + seeds)
    options = ["--seed", str(sides[0].seed), "--seeds", str(seeds), "--report", "report.html"]
    if len(sides) == 1:
        return _one(sides[0], scenarios[0], which, options)
    return _two(sides, scenarios, which, options)


def _one(asked: Asked, scenario: Scenario, seeds: Sequence[int], options: Sequence[str]) -> Page:
    results = [scenario.run(seed, ["limits"] if seed == seeds[0] else ()) for seed in seeds]
    command = shlex.join(["netspurt", "run", *asked.words(), *asked.overrides(), *options])
    name = Path(asked.file()).name
    return replace(explained.page_of(scenario, results, command, dict(asked.settings), name), title=name)


def _two(
    sides: Sequence[Asked], scenarios: Sequence[Scenario], seeds: Sequence[int], options: Sequence[str]
) -> Page:
    """B against A, seed by seed."""
    found = comparing.compare(*scenarios, seeds=list(seeds))
    names = [
        ", ".join([asked.file(), *(f"{path} = {value}" for path, value in asked.settings)]) for asked in sides
    ]
    overrides = [*sides[0].overrides("--set-a"), *sides[1].overrides("--set-b")]
    files = [asked.file() for asked in sides]
    command = shlex.join(["netspurt", "compare", *files, *overrides, *options])
    return compare_report.page_of(replace(found, names=(names[0], names[1])), command)
