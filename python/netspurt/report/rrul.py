"""The report of a test of latency under load.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from netspurt.analysis import formats
from netspurt.plot.chart import Chart
from netspurt.report.blocks import Code, Facts, Page, Section, Zoomable, table
from netspurt.report.page import facts
from netspurt.underload import UnderLoad

GROUP = "load"


def page_of(found: UnderLoad, charts: Sequence[Chart], command: str) -> Page:
    """The page of one test.

    Args:
        found: the result.
        charts: its charts, which zoom together.
        command: the command line, for the page.
    """
    rates = [
        {"direction": "download", "goodput_bps": found.download_bps},
        {"direction": "upload", "goodput_bps": found.upload_bps},
    ]
    latencies = [
        {"when": name, **asdict(each), "round_trips_per_minute": each.per_minute}
        for name, each in (("idle", found.idle), ("under load", found.loaded))
    ]
    added = "unknown" if found.added_s is None else formats.span(found.added_s)
    lead = (
        f"Down {formats.rate(found.download_bps)}, up {formats.rate(found.upload_bps)}; the load adds {added} to the "
        "median round trip."
    )
    made = [*facts(command), ("seed", str(found.result.seed)), ("digest", found.result.digest)]
    scenario = Code("The complete scenario with all defaults", found.result.scenario.merged())
    return Page(
        "rrul",
        found.result.scenario.name,
        [lead],
        [
            Section("Over time", [Zoomable(f"{GROUP}-{chart.name}", chart, GROUP) for chart in charts]),
            Section("Latency under load", [table("Round trips", latencies, list(latencies[0]))]),
            Section("Goodput", [table("Both directions", rates, list(rates[0]))]),
            Section("How it was made", [Facts(made), scenario]),
        ],
        None if found.added_s is None else (f"+{added}", "median round trip under load"),
    )
