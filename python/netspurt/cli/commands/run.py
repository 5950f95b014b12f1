"""``netspurt run``: simulates a scenario with one seed or many."""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import version
from netspurt.cli.arguments import path_options, picture_options
from netspurt.cli.arguments.options import (
    add_algorithms,
    add_jobs,
    add_json,
    add_output,
    add_quiet,
    add_seed,
    add_seeds,
    add_settings,
    deprecated,
)
from netspurt.cli.exits import FINE, interrupted
from netspurt.cli.progress import progress, simulated_time
from netspurt.cli.views import tables
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.files.places import Destination
from netspurt.files.rows import csv_of, flat
from netspurt.inputs.typed import positive
from netspurt.threads import for_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netspurt import _core

SENDERS = "senders"
"""Where each flow is captured at the host that sends its data."""

TRACED = ("cwnd", "ssthresh", "srtt", "rto", "rtt", "flight", "window", "queue")


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    path_options.add_scenario(command)
    add_settings(command)
    add_seed(command, "first seed (default: 1)")
    add_seeds(command)
    add_algorithms(command)
    add_jobs(command)
    command.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="threads of one run (default: one for each processor if there is one seed and the run is long and has "
        "at most 100,000 flows, else 1); the result is the same for each N",
    )
    command.add_argument(
        "--capture",
        action="append",
        default=[],
        type=_capture,
        metavar="WHERE=FILE",
        help="capture packets at these places as pcapng; may be repeated. WHERE is NODE, LINK@NODE, several with "
        "commas, all, or senders (each flow where its data is sent)",
    )
    add_output(command, "--pcap", places.CAPTURE, "FILE", "short for --capture senders=FILE")
    command.add_argument("--snaplen", type=positive, metavar="BYTES", help="bytes captured of each packet")
    add_output(command, "--trace", places.TRACE, "FILE.parquet", "write all series and segments, as Parquet")
    add_output(
        command, "--out", places.RUN_FOLDER, "DIR", "write the merged scenario, versions, result and tables"
    )
    picture_options.report(command)
    command.add_argument("-a", "--all", action="store_true", help="print every flow, however many there are")
    add_quiet(command)


def _capture(text: str) -> tuple[str, Destination | None]:
    """``WHERE=FILE``; without a file it is an old spelling, whose file ``--pcap`` names."""
    where, equals, file = text.partition("=")
    if not equals:
        return text, None
    if not where or not file:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form WHERE=FILE")
    return where, Destination(file, "--capture", places.CAPTURE)


def _captures(options: argparse.Namespace) -> dict[str, list[str]]:
    """The places of each file; none for the ends of flows that send.

    Raises:
        RequestError: a place without a file.
    """
    found: dict[str, list[str]] = {} if options.pcap is None else {options.pcap: []}
    for where, file in options.capture:
        if file is not None:
            found[file] = [] if where == SENDERS else where.split(",")
        elif options.pcap is None:
            raise RequestError(f"--capture {where} names no file: write --capture {where}=FILE")
        else:
            deprecated(f"--capture {where} --pcap {options.pcap}", f"--capture {where}={options.pcap}")
            found[options.pcap].append(where)
    return found


def command(options: argparse.Namespace) -> int:
    """Runs the scenario and prints one result for each flow and link.

    The column ``completed`` shows whether a flow ended; the exit status does not depend on it.

    Raises:
        RequestError: options that exclude each other, a missing file, a place that cannot be written to.
        ScenarioError: the scenario is wrong.
    """
    captures = _captures(options)
    if options.seeds > 1 and (captures or options.trace):
        raise RequestError("--capture and --trace hold one run: leave out --seeds, or run the seed you want")
    if options.trace:
        output.check_parquet(Path(options.trace), or_pipe=True)
    if options.snaplen and not captures:
        raise RequestError(
            "--snaplen limits the bytes captured of each packet: name a place and a file with --capture"
        )
    from netspurt.algorithms import find
    from netspurt.inputs.length import is_short

    scenario = path_options.load(options)
    if options.algorithms:
        scenario = scenario.given(find(options.algorithms))
    with contextlib.ExitStack() as writing:
        # Every destination is tried before any work is done.
        out = (
            writing.enter_context(output.directory(Path(options.out), force=options.force))
            if options.out
            else None
        )
        stages = [(writing.enter_context(output.file(Path(file))), where) for file, where in captures.items()]
        trace = writing.enter_context(output.file(Path(options.trace))) if options.trace else None
        page = writing.enter_context(output.file(Path(options.report))) if options.report else None
        record: list[str] = []
        if options.seeds == 1:
            # On the main thread, where the native module sees Ctrl-C.
            record = [*TRACED, "segments", "arrivals", "drops"] if trace or page else []
            record += ["limits"] if page else []
            if not record and not options.json and options.threads is None and is_short(scenario.merged()):
                # For the 95th percentile of the queueing delay.
                record = ["queue"]
            run = _one(scenario, options, record, stages)
            runs, whole = {options.seed: run}, True
        else:
            runs, whole = _many(scenario, options)
            if not runs:
                raise KeyboardInterrupt
        ordered = [runs[seed] for seed in sorted(runs)]
        if trace is not None:
            write_trace(trace, ordered[0])
        if out is not None:
            _write_results(out, scenario, ordered)
        if page is not None:
            _report(page, scenario, ordered, options)
    _print(ordered, options, queues=options.seeds == 1 and "queue" in record)
    return FINE if whole else interrupted(len(runs), options.seeds, "seeds")


def _one(
    scenario: _core.Scenario,
    options: argparse.Namespace,
    record: Sequence[str],
    captures: Sequence[tuple[Path | None, Sequence[str]]],
) -> _core.Run:
    """One run. The simulator writes one capture at a time, so the run is repeated for each further one."""
    first, *further = captures or [(None, [])]
    with simulated_time("simulating") as watch:
        run = scenario.run(
            options.seed,
            list(record),
            None if first[0] is None else str(first[0]),
            capture=list(first[1]),
            snaplen=options.snaplen,
            watch=watch,
            threads=options.threads,
        )
        for file, where in further:
            scenario.run(
                options.seed, [], str(file), capture=list(where), snaplen=options.snaplen, watch=watch
            )
    return run


def _report(path: Path, scenario: _core.Scenario, runs: list[_core.Run], options: argparse.Namespace) -> None:
    from netspurt.report.explained import page_of
    from netspurt.report.page import write
    from netspurt.scenario import Result, Scenario

    whole = Scenario(scenario)
    results = [Result(whole, run) for run in runs]
    write(path, page_of(whole, results, options.asked, dict(options.settings)))


def _many(scenario: _core.Scenario, options: argparse.Namespace) -> tuple[dict[int, _core.Run], bool]:
    seeds = range(options.seed, options.seed + options.seeds)
    threads = options.threads or 1
    runs: dict[int, _core.Run] = {}
    with progress(len(seeds), "simulating") as advance:

        def keep(seed: int, run: _core.Run) -> None:
            runs[seed] = run
            advance(f"seed {seed}")

        whole = for_each(seeds, lambda seed: scenario.run(seed, threads=threads), keep, options.jobs)
    return runs, whole


def _print(runs: list[_core.Run], options: argparse.Namespace, *, queues: bool) -> None:
    from netspurt.cli.views import run_tables

    several = options.seeds > 1
    if options.json:
        if several:
            print(json.dumps({"runs": [json.loads(run.json()) for run in runs], "summary": summary(runs)}))
        else:
            print(runs[0].json())
        return
    console = tables.console()
    if several:
        run_tables.show_summary(console, summary(runs), len(runs))
        return
    run_tables.show(
        console,
        runs[0],
        json.loads(runs[0].json()),
        each=options.all,
        queues=queues,
    )


def summary(runs: list[_core.Run]) -> list[dict[str, Any]]:
    """For each flow and each of its numbers: mean over seeds and its 95 % interval."""
    from netspurt.analysis.over_seeds import over_seeds

    return over_seeds([json.loads(run.json()) for run in runs])


def write_trace(path: Path, run: _core.Run) -> None:
    """Writes all series, segments and drops as one Parquet table.

    Columns: ``record`` ("segments", "drops" or the name of a series), ``time_s``, and those of the record; the columns
    of other records are null.
    """
    import polars as pl

    frames = []
    tables = {"segments": run.segments, "drops": run.drops}
    for name in (*TRACED, *tables):
        columns = tables[name]() if name in tables else run.series(name)
        frame = pl.DataFrame(dict(columns), strict=False)
        if name not in tables:
            frame = frame.with_columns(pl.col("value").cast(pl.Float64))
        frames.append(frame.select(pl.lit(name).alias("record"), pl.all()))
    pl.concat(frames, how="diagonal_relaxed").sort("time_s", maintain_order=True).write_parquet(path)


def _write_results(directory: Path, scenario: _core.Scenario, runs: list[_core.Run]) -> None:
    """The merged scenario, what ran it, and results for programs: JSON and one CSV each for flows, groups and links."""
    from netspurt import _core

    (directory / "scenario.toml").write_text(scenario.merged(), encoding="utf-8")
    about = {
        "netspurt": version.full(),
        "netspurt._core": _core.version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "seeds": [run.seed for run in runs],
    }
    (directory / "versions.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    documents = [json.loads(run.json()) for run in runs]
    whole = documents[0] if len(runs) == 1 else {"runs": documents, "summary": summary(runs)}
    (directory / "result.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    for name in ("flows", "groups", "links"):
        rows = [{"seed": d["seed"], **flat(row)} for d in documents for row in d.get(name, [])]
        (directory / f"{name}.csv").write_text(csv_of(rows), encoding="utf-8", newline="")
