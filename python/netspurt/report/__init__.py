"""Reports: self-contained HTML pages that need no network and no other file.

This module writes the report of studies, and the same numbers for programs. ``run``, ``sweep`` and ``compare`` contain
the reports of runs, sweeps and comparisons; ``blocks`` the elements of their pages; ``page`` and the
templates write a page. Must not live here: verdicts or drawing.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netspurt import __version__
from netspurt.report.blocks import Block, Mapped, Still, Zoomable
from netspurt.report.page import template, vendored, versions
from netspurt.studies.model import Picture, StudyResult, Table


def document(results: Sequence[StudyResult], quick: bool, seconds: float) -> dict[str, Any]:
    """The JSON document that ``reproduce --json`` prints."""
    return {
        "netspurt": __version__,
        "quick": quick,
        "seconds": seconds,
        "interrupted": any(result.interrupted for result in results),
        "versions": versions(),
        "studies": [result.as_json() for result in results],
    }


def write(directory: Path, results: Sequence[StudyResult], command: str, whole: dict[str, Any]) -> None:
    """Writes the page, the JSON document, a CSV for each table, the pictures and the merged scenarios.

    Args:
        directory: an existing, empty directory.
        results: results of the studies, in order.
        command: the command line, for the page.
        whole: the result of ``document``.

    Raises:
        OSError: a file cannot be written.
    """
    from netspurt import plot

    pictures: dict[str, list[Shown]] = {}
    (directory / "pictures").mkdir()
    for result in results:
        pictures[result.study] = []
        for picture in result.findings.pictures:
            svg = plot.svg(picture.draw(), picture.name)
            path = directory / "pictures" / f"{picture.name}.svg"
            path.write_text(svg + "\n", encoding="utf-8")
            pictures[result.study].append(Shown(picture, _blocks(picture, svg)))
    page = template("study.html.j2").render(
        results=results,
        seen={word for result in results for word in result.counts()},
        pictures=pictures,
        kinds={block.kind for each in pictures.values() for shown in each for block in shown.blocks},
        vendored=vendored(),
        command=command,
        whole=whole,
        date=time.strftime("%Y-%m-%d %H:%M %Z"),
    )
    (directory / "index.html").write_text(page, encoding="utf-8")
    (directory / "reproduce.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    for result in results:
        _write_study(directory, result)


@dataclass(frozen=True)
class Shown:
    """A picture, and its blocks on the page."""

    picture: Picture
    blocks: Sequence[Block]


def _blocks(picture: Picture, svg: str) -> list[Block]:
    """A chart for each panel, or a map, or otherwise the picture as for print."""
    from matplotlib.figure import Figure

    from netspurt.plot.sweeps.heat_map import HeatMap

    name, data = f"drawn-{picture.name}", picture.data
    if isinstance(data, HeatMap):
        return [Mapped(name, data)]
    if isinstance(data, Figure):
        return [Still(name, "", "", picture.alt, svg)]
    if len(data) == 1:
        return [Zoomable(name, replace(data[0], title=picture.title, caption=""), heading=False)]
    # Panels with shared axes zoom together and have the same y range.
    group = name if picture.shared else ""
    return [
        Zoomable(f"{name}-{number}", replace(chart, caption=""), group, alike=picture.shared)
        for number, chart in enumerate(data, 1)
    ]


def _write_study(directory: Path, result: StudyResult) -> None:
    tables, scenarios = directory / "tables", directory / "scenarios" / result.study
    tables.mkdir(exist_ok=True)
    scenarios.mkdir(parents=True)
    for table in result.findings.tables:
        write_csv(tables / f"{result.study}-{table.name}.csv", table)
    for name, text in result.scenarios.items():
        (scenarios / name).write_text(text, encoding="utf-8")


def write_csv(path: Path, table: Table) -> None:
    """One line for each cell, in full precision; the row's labels come first."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        for place, cell in enumerate(table.cells):
            flat = cell.as_json()
            names = flat.pop("row")
            low, high = flat.pop("interval") or (None, None)
            flat.pop("band_5_95", None)
            for name in ("reason", "null_model", "origin", "bar_reason"):
                flat.pop(name, None)
            band = cell.band or (None, None)
            line = {
                **names,
                **flat,
                "interval_low": low,
                "interval_high": high,
                "band_5": band[0],
                "band_95": band[1],
                "null_model": cell.null_model,
                "reason": cell.reason,
                "origin": cell.origin,
                "bar_reason": cell.bar_reason,
            }
            if place == 0:
                lines.writerow(line)
            lines.writerow(line.values())
