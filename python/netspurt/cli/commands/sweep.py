"""``netspurt sweep``: a scenario with many settings and seeds."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.arguments import picture_options
from netspurt.cli.arguments.options import (
    add_algorithms,
    add_input,
    add_jobs,
    add_json,
    add_output,
    add_quiet,
)
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.progress import duration
from netspurt.cli.views import tables
from netspurt.errors import EngineError, RequestError
from netspurt.files import output, places
from netspurt.inputs.typed import part, positive

if TYPE_CHECKING:
    import polars as pl

    from netspurt.sweeping import Report, Sweep
    from netspurt.sweeping.engines import Engine
    from netspurt.sweeping.plan import Plan

ROWS_SHOWN = 40
FAILURES_SHOWN = 10


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_input(command, "sweep", "FILE.toml", "the scenario, its values and seeds: see docs/sweeps.md")
    add_output(
        command,
        "--out",
        places.SWEEP_FOLDER,
        metavar="DIR",
        words="folder of the results (default: FILE.sweep beside FILE.toml)",
    )
    add_algorithms(command)
    add_jobs(command)
    place = command.add_mutually_exclusive_group()
    place.add_argument("--scheduler", metavar="ADDRESS", help="run on the workers of this Dask scheduler")
    place.add_argument(
        "--cluster", choices=("slurm",), help="run on workers that Slurm starts (dask-jobqueue)"
    )
    place.add_argument(
        "--slice",
        type=part,
        metavar="I/N",
        help="run only the I-th of N parts, for job arrays; a last run without --slice gathers the results",
    )
    command.add_argument(
        "--workers", type=positive, default=4, metavar="N", help="jobs of --cluster (default: 4)"
    )
    command.add_argument("--retry", action="store_true", help="run failed tasks again")
    command.add_argument(
        "--quantity",
        default="goodput_bps",
        metavar="COLUMN",
        help="the column of flows or links whose means are shown (default: goodput_bps)",
    )
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="run nothing: print the number of runs, and how long they take, from a few trial runs",
    )
    picture_options.report(command)
    add_quiet(command)


def command(options: argparse.Namespace) -> int:
    """Runs what is missing of the sweep and prints means over seeds for each point.

    Returns:
        ``FELL_SHORT`` where tasks have failed or the engine has broken down, ``INTERRUPTED`` after Ctrl-C.

    Raises:
        RequestError: the sweep file is wrong, no scheduler answers, or the folder cannot be written to.
        ScenarioError: the scenario is wrong.
    """
    path = Path(options.sweep)
    from netspurt.algorithms import find
    from netspurt.sweeping import execute, plan_of, read_sweep

    plan = plan_of(path, find(options.algorithms))
    options.places.read(plan.base.name)
    out = Path(options.out) if options.out else path.with_suffix(".sweep")
    if not options.out:
        options.places.admit(places.Destination(str(out), "--out", places.SWEEP_FOLDER))
    if options.dry_run:
        return _dry_run(plan, out, options)
    try:
        with _engine(options) as engine:
            report = execute(plan, out, engine, options.slice, retry=options.retry, force=options.force)
    except EngineError as error:
        print(f"netspurt: {error}", file=sys.stderr)
        return FELL_SHORT
    result = read_sweep(out)
    summary = None if options.slice else _summary(result, options.quantity, report)
    if options.report:
        _write_report(Path(options.report), result, options)
    if options.json:
        print(json.dumps(_document(report, result, summary)))
    else:
        _print(report, result, summary, options)
    if not report.whole:
        return INTERRUPTED
    return FELL_SHORT if report.failed else FINE


def _dry_run(plan: Plan, out: Path, options: argparse.Namespace) -> int:
    from netspurt.sweeping.estimate import estimate

    found = estimate(plan, out, options.jobs)
    if options.json:
        print(json.dumps({"sweep": str(out), "jobs": options.jobs, **asdict(found)}))
        return FINE
    seeds = f" with {found.seeds} seeds" if found.seeds > 1 else ""
    points, runs = formats.counted(found.points, "point"), formats.counted(found.runs, "run")
    print(f"{points}{seeds}: {runs}, of which {found.found} are done in {out}")
    if found.tried:
        least = "at least " if found.at_least else "about "
        early = "; less if points end early by [stop]" if found.may_stop else ""
        left = formats.span(found.left_s) if found.left_s < 1 else duration(found.left_s)
        print(
            f"{least}{left} with --jobs {options.jobs} ({least}{formats.span(found.run_s)} a run, from {found.tried} "
            f"trial runs){early}"
        )
    return FINE


def _write_report(path: Path, result: Sweep, options: argparse.Namespace) -> None:
    from netspurt.report.page import write
    from netspurt.report.sweep import page_of

    page = page_of(result, options.quantity, options.asked)
    with output.file(path) as stage:
        write(stage, page)


@contextlib.contextmanager
def _engine(options: argparse.Namespace) -> Iterator[Engine]:
    from netspurt.sweeping import engines

    if options.scheduler:
        chosen = engines.dask(options.scheduler)
    elif options.cluster:
        chosen = engines.slurm(options.workers)
    else:
        chosen = engines.threads(options.jobs or os.cpu_count() or 1)
    with chosen as engine:
        yield engine


def _summary(result: Sweep, quantity: str, report: Report) -> pl.DataFrame | None:
    if report.ran + report.found == 0:
        return None
    try:
        return result.summary(quantity)
    except RequestError as error:
        raise RequestError(f"--quantity: {error}; all results are in {result.path}") from error


def _document(report: Report, result: Sweep, summary: pl.DataFrame | None) -> dict[str, Any]:
    failures = {row["task"]: row for row in result.failed.iter_rows(named=True)}
    return {
        "sweep": str(report.path),
        "netspurt": result.about["netspurt"],
        "tasks": report.tasks,
        "found": report.found,
        "ran": report.ran,
        "failed": [failures[name] for name in report.failed if name in failures],
        "points_stopped_early": report.stopped,
        "complete": report.whole and not report.failed,
        "summary": [] if summary is None else summary.to_dicts(),
    }


def _row(row: dict[str, Any], quantity: str) -> dict[str, Any]:
    """A row with units."""
    values = {name: row[name] for name in ("mean", "low", "high")}
    texts = {
        name: None if value is None else formats.quantity(quantity, value) for name, value in values.items()
    }
    return row | texts


def _print(report: Report, result: Sweep, summary: pl.DataFrame | None, options: argparse.Namespace) -> None:
    console = tables.console()
    if summary is not None:
        who = [name for name in ("flow", "link", "direction") if name in summary.columns]
        title = f"{formats.name(options.quantity)}: mean over seeds, 95 % interval"
        rows = [_row(row, options.quantity) for row in summary.head(ROWS_SHOWN).to_dicts()]
        tables.show(console, title, rows, [*result.varied, *who, "runs", "mean", "low", "high"])
        if summary.height > ROWS_SHOWN:
            console.print(f"… {summary.height - ROWS_SHOWN} rows more in {report.path}", highlight=False)
    console.print(_sentence(report), highlight=False, soft_wrap=True)
    if report.failed:
        failed = result.failed.filter(result.failed["task"].is_in(report.failed))
        tables.show(console, "", failed.head(FAILURES_SHOWN).to_dicts(), ["settings", "seed", "error"])
        again = f"netspurt sweep {shlex.quote(options.sweep)} --retry"
        console.print(
            f"{formats.counted(len(report.failed), 'task')} failed; to try them again: {again}",
            highlight=False,
        )


def _sentence(report: Report) -> str:
    done = report.found + report.ran
    sentence = f"{done} of {report.tasks} tasks done, {report.ran} of them now, in {report.path}"
    if report.stopped:
        sentence += f"; {formats.counted(report.stopped, 'point')} needed fewer seeds than planned"
    if not report.whole:
        sentence += "; give the command again to go on"
    return sentence + "."
