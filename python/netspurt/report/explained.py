"""The report of the runs of a scenario, as a story: what came out, what limited it, its pictures, and then the tables.

Lives here: the order of the parts. Must not live here: the parts, which ``why`` and ``run`` make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from netspurt.diagnosing import why
from netspurt.errors import RequestError
from netspurt.inputs.run import Simulated
from netspurt.report import run as run_report
from netspurt.report import why as why_report
from netspurt.report.blocks import Page
from netspurt.scenario import Result, Scenario

MOST_FLOWS = 1000
"""With more flows their limits take longer than the rest of the page."""


def page_of(
    scenario: Scenario,
    results: Sequence[Result],
    command: str,
    settings: Mapping[str, str],
    name: str = "",
) -> Page:
    """The page of runs of one scenario; arguments as for ``run.page_of``, and the name of the scenario for readers.

    The limits are those of the first run, which is repeated if it has not recorded them. A run whose flows are too
    many, or have no connections, has a page without them.
    """
    first = results[0]
    if first.flows.height > MOST_FLOWS:
        return run_report.page_of(scenario, results, command, settings)
    limited = first if "limits" in first.recorded else scenario.run(first.seed, ["limits"])
    try:
        diagnosis = why(limited)
    except (RequestError, ValueError):
        return run_report.page_of(scenario, results, command, settings)
    numbers = diagnosis.connections["connection"].to_list()
    if not numbers:
        return run_report.page_of(scenario, results, command, settings)
    page = run_report.page_of(scenario, results, command, settings, streams=False)
    name = name or Path(scenario.name).name
    subject = why_report.Subject(diagnosis, numbers, Simulated.of(first))
    found = why_report.page_of([subject], command, name)
    sections = [each for each in found.sections if each.title != why_report.MADE]
    return replace(page, lead=[*found.lead, *page.lead], sections=[*sections, *page.sections])
