"""``netspurt rto``: retransmission timers replayed over recorded delays."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.arguments.options import add_jobs, add_json, add_output, add_quiet, add_records
from netspurt.cli.exits import FELL_SHORT, FINE
from netspurt.errors import RequestError
from netspurt.files import places

if TYPE_CHECKING:
    from netspurt._core import Estimator
    from netspurt.analysis.delay_path import DelayPath
    from netspurt.analysis.rto_replay import Surface

WIDE = 160
"""Width of tables in characters where output is not a terminal."""

MOST_LINES = 4
"""So many timeouts are drawn in one picture at most."""

COLUMNS = {
    "estimator": "estimator",
    "total s": "total_s",
    "lost": "lost",
    "lost s": "lost_s",
    "rtx": "rtx",
    "rtx s": "rtx_s",
    "efficiency": "efficiency",
    "timeout p50 ms": "rto_p50_ms",
    "p95": "rto_p95_ms",
    "late p50 ms": "late_p50_ms",
    "p95 ": "late_p95_ms",
}
"""The columns on a terminal, by heading; ``--json`` has all columns."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_quiet(command)
    add_records(command)
    command.add_argument(
        "--estimator",
        action="append",
        default=[],
        dest="estimators",
        metavar="NAME[:KEY=VALUE,…]",
        help="an estimator as under tcp.rto of a scenario; may be repeated (default: five well-known ones)",
    )
    command.add_argument(
        "--grid",
        action="append",
        default=[],
        dest="grids",
        metavar="NAME[:KEY=LOW..HIGH/COUNT,…]",
        help="replay a family of estimators; its best one is tested against chance; values may also be A|B|C",
    )
    command.add_argument(
        "--rules",
        choices=("document", "connection"),
        default="document",
        help="every delay a sample, as in RFC 889 (default), or backoff and Karn's rule as in a connection",
    )
    add_jobs(command)
    add_output(
        command,
        "--plot",
        places.PICTURE,
        metavar="FILE.svg",
        words="draw delays and timeouts, and the grids (.svg, .pdf or .png)",
    )


def command(options: argparse.Namespace) -> int:
    """Prints a table for each path, and the result of a grid.

    A file that cannot be used is named on standard error; the others are done, and the exit status is 1.

    Raises:
        RequestError: an estimator or a grid that cannot be, a place that cannot be written to, or no file of use.
    """
    from netspurt.analysis import rto_replay
    from netspurt.inputs import delays

    estimators = [
        (words, rto_replay.estimator(words)) for words in options.estimators or rto_replay.ESTIMATORS
    ]
    specs = [rto_replay.grid_spec(words) for words in options.grids]
    for spec in specs:
        # A value that cannot be shows before any file is read.
        spec.estimators()
    paths, complaints = delays.gather(options.files, options.seed)
    if not paths:
        raise RequestError(complaints[0])
    for complaint in complaints:
        print(f"netspurt: {complaint}", file=sys.stderr)
    results: list[dict[str, Any]] = []
    grids: list[tuple[DelayPath, Surface]] = []
    for path in paths:
        results += rto_replay.table(path, estimators, options.rules)
        grids += [(path, rto_replay.surface(path, spec, options.rules, options.jobs)) for spec in specs]
    written = _draw(options, paths, estimators, options.rules, grids) if options.plot else []
    if options.json:
        print(json.dumps(_document(options.rules, results, grids, complaints)))
    else:
        _print(results, grids, written)
    return FELL_SHORT if complaints else FINE


def _document(
    rules: str, results: list[dict[str, Any]], grids: list[tuple[DelayPath, Surface]], complaints: list[str]
) -> dict[str, Any]:
    return {
        "rules": rules,
        "results": results,
        "grids": [
            {
                "file": path.file,
                "host": path.host,
                "estimator": surface.spec.name,
                "axes": {axis.key: list(axis.texts) for axis in surface.spec.axes},
                "best": surface.best_point,
                "efficiency": surface.efficiency.tolist(),
                "alike": surface.alike.tolist(),
                "statement": surface.statement(),
            }
            for path, surface in grids
        ],
        "errors": complaints,
    }


def _print(
    results: list[dict[str, Any]], grids: list[tuple[DelayPath, Surface]], written: list[Path]
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    for file, host in dict.fromkeys((row["file"], row["host"]) for row in results):
        rows = [row for row in results if (row["file"], row["host"]) == (file, host)]
        first = rows[0]
        console.print(
            f"[bold]{escape(f'{file} {host}'.strip())}[/]: {formats.counted(first['cycles'], 'packet')}, "
            f"{first['lost']} lost, mean {formats.text(first['received_mean_ms'], 4)} ms, "
            f"CoV {formats.text(first['received_cov'], 4)}, one way",
            highlight=False,
            soft_wrap=True,
        )
        table = Table(box=None, header_style="bold", pad_edge=False)
        for head in COLUMNS:
            table.add_column(head.strip(), justify="left" if head == "estimator" else "right")
        for row in rows:
            texts = [escape(formats.text(row.get(name), 4)) for name in COLUMNS.values()]
            table.add_row(*texts, style="dim" if row["bound"] else None)
        console.print(table)
        for path, surface in grids:
            if (path.file, path.host) == (file, host):
                console.print(escape(surface.statement()), highlight=False, soft_wrap=True)
        console.print()
    for name in written:
        console.print(f"picture: {name}", highlight=False, soft_wrap=True)


def _draw(
    options: argparse.Namespace,
    paths: list[DelayPath],
    estimators: list[tuple[str, Estimator]],
    rules: str,
    grids: list[tuple[DelayPath, Surface]],
) -> list[Path]:
    """One picture of delays and timeouts for each path, one for each surface, numbered where there are several."""
    from netspurt import plot
    from netspurt.analysis import rto_replay
    from netspurt.plot import delays as plot_delays

    figures = []
    for path in paths:
        native = rto_replay.native(path)
        lines = {name: native.timeouts(each, rules) for name, each in estimators[:MOST_LINES]}
        figures.append(plot_delays.timeouts(path.time_s, path.delay_s, lines, path.name))
    figures += [plot_delays.surface(surface, path.name) for path, surface in grids]
    destination = Path(options.plot)
    marks = [""] if len(figures) == 1 else [f"-{number}" for number in range(1, len(figures) + 1)]
    suffix = destination.suffix or ".svg"
    written = [destination.with_name(destination.stem + mark + suffix) for mark in marks]
    options.places.admit_several(options.plot, written)
    for name, figure in zip(written, figures, strict=True):
        plot.save(figure, name)
    return written
