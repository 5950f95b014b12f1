"""The report of a sweep: the varied paths, the means, and their dependence on these paths.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt import plot
from netspurt.analysis import formats
from netspurt.errors import RequestError
from netspurt.plot.swept import in_units, numbers_of, ordered, value_label
from netspurt.report.blocks import (
    Block,
    Code,
    Facts,
    Files,
    Mapped,
    Page,
    Section,
    Zoomable,
    csv,
    parquet,
    table,
)
from netspurt.report.page import facts

if TYPE_CHECKING:
    from netspurt.sweeping import Sweep

FOLDED = 24
"""From this number of rows on, a table is folded: the plots show more."""

MOST_ROWS = 2000


def page_of(sweep: Sweep, quantity: str, command: str) -> Page:
    """The page of a sweep, complete or not.

    Args:
        sweep: the sweep.
        quantity: the column of flows or links whose means are shown.
        command: the command line, for the page.

    Raises:
        RequestError: the quantity does not exist.
    """
    about = sweep.about
    summary = sweep.summary(quantity)
    rows = summary.to_dicts()
    places = [name for name in ("flow", "link", "direction") if name in summary.columns]
    failed, missing = sweep.failed, sweep.missing
    words = in_units(quantity)[0]
    done = about["tasks"] - failed.height - missing
    lead = f"{formats.counted(about['points'], 'point')}, {formats.counted(done, 'run')}; the page shows {words}."
    if missing or failed.height:
        lead += (
            f" Missing: {formats.counted(missing, 'run')}; failed: {formats.counted(failed.height, 'run')}."
        )
    shown = [{**row, **{path: value_label(row[path]) for path in sweep.varied}} for row in rows[:MOST_ROWS]]
    columns = [*sweep.varied, *places, "runs", "mean", "low", "high"]
    note = f"Mean over seeds of {words}, with its 95 % interval (Student's t)."
    if len(rows) > MOST_ROWS:
        note += f" {len(rows) - MOST_ROWS} more rows in the CSV file."
    title = f"Mean {words} of each point"
    results: list[Block] = [
        table(title, shown, columns, note=note, folded=len(rows) > FOLDED, scale=quantity),
        Files(
            [
                csv("means.csv", rows),
                parquet("flows.parquet", sweep.flows, "every flow of every run (Parquet)"),
            ]
        ),
    ]
    if failed.height:
        results.append(table("Failed", failed.to_dicts(), ["settings", "seed", "error"]))
    sections = [
        Section("Pictures", _pictures(sweep, quantity)),
        Section("Results", results),
        Section("Varied paths", [Facts(_varied(sweep))]),
        Section("How it was made", _made(sweep, command)),
    ]
    return Page(
        "sweep",
        f"{Path(about['scenario']).name}: {words}",
        [lead],
        [each for each in sections if each.blocks],
    )


def _pictures(sweep: Sweep, quantity: str) -> list[Block]:
    """The plots that the varied paths allow: a line needs numbers, a map needs two paths."""
    blocks: list[Block] = []
    with contextlib.suppress(RequestError):
        blocks.append(Zoomable("curves", plot.curves_chart(sweep, quantity)))
    with contextlib.suppress(RequestError):
        blocks.append(Mapped("heat-map", plot.heat_map_data(sweep, quantity)))
    with contextlib.suppress(RequestError):
        blocks.append(Zoomable("distribution", plot.spread_chart(sweep, quantity)))
    return blocks


def _varied(sweep: Sweep) -> list[tuple[str, str]]:
    """Each path with its values; only the ends of long lists."""
    pairs = []
    for path in sweep.varied:
        values = ordered(sweep.tasks[path].to_list())
        if len(values) > 12 and numbers_of(values) is not None:
            pairs.append(
                (path, f"{len(values)} values from {value_label(values[0])} to {value_label(values[-1])}")
            )
        else:
            pairs.append((path, ", ".join(map(value_label, values))))
    return pairs


def _made(sweep: Sweep, command: str) -> list[Block]:
    about = sweep.about
    seeds = about["seeds"]
    pairs = [
        *facts(command),
        ("scenario", str(about["scenario"])),
        ("runs of", f"netspurt {about['netspurt']}"),
        ("seeds", f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])),
        ("folder", str(sweep.path)),
    ]
    settings = "\n".join(f"{path} = {value}" for path, value in about["settings"].items())
    return [Facts(pairs), *([Code("Settings of all points", settings)] if settings else [])]
