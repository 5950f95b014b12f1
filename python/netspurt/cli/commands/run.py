"""``netspurt run``: simulates a scenario with one seed or many."""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import version
from netspurt.cli import path_options, picture_options, tables
from netspurt.cli.exits import FINE, INTERRUPTED
from netspurt.cli.options import (
    add_algorithms,
    add_jobs,
    add_json,
    add_output,
    add_settings,
)
from netspurt.cli.progress import progress
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.files.rows import csv_of, flat
from netspurt.inputs.typed import natural, positive
from netspurt.sweeping.threads import for_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netspurt import _core

TRACED = ("cwnd", "ssthresh", "srtt", "rto", "rtt", "flight", "window", "queue")

FLOW_COLUMNS = (
    *("flow", "index", "from", "to", "bytes_delivered", "start_s", "end_s", "goodput_bps"),
    *("segments_sent", "retransmitted", "timeouts", "rtt_mean_s", "completed"),
)
GROUP_COLUMNS = (
    *(
        "flow",
        "flows",
        "pages",
        "page_delay_median_s",
        "page_delay_p95_s",
        "transfers",
        "transfer_time_median_s",
    ),
    *("connections", "bytes_delivered", "goodput_bps"),
)
LINK_COLUMNS = ("link", "direction", "packets", "bytes", "drops", "utilisation", "queue_mean_packets")


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    path_options.add_scenario(command)
    add_settings(command)
    command.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    command.add_argument(
        "--seeds", type=positive, default=1, metavar="N", help="run so many seeds, with a summary"
    )
    add_algorithms(command)
    add_jobs(command)
    add_output(command, "--pcap", places.CAPTURE, "FILE", "capture each flow at its sender, as pcapng")
    command.add_argument(
        "--capture",
        action="append",
        default=[],
        metavar="PLACE",
        help="capture there instead, as often as wanted: NODE, LINK@NODE, or all",
    )
    command.add_argument("--snaplen", type=positive, metavar="BYTES", help="bytes captured of each packet")
    add_output(command, "--trace", places.TRACE, "FILE.parquet", "write all series and segments, as Parquet")
    add_output(
        command, "--out", places.RUN_FOLDER, "DIR", "write the merged scenario, versions, result and tables"
    )
    picture_options.report(command)


def command(options: argparse.Namespace) -> int:
    """Runs the scenario and prints one result for each flow and link.

    Whether a flow came to its end stands in its column ``completed``; a run that shows a failure has not failed.

    Raises:
        RequestError: options that exclude each other, a missing file, a place that cannot be written to.
        ScenarioError: the scenario is wrong.
    """
    if options.seeds > 1 and (options.pcap or options.trace):
        raise RequestError("--pcap and --trace hold one run: leave out --seeds, or run the seed you want")
    if not options.pcap and (options.capture or options.snaplen):
        raise RequestError("--capture and --snaplen say how to capture: name a file with --pcap")
    from netspurt.algorithms import find

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
        pcap = writing.enter_context(output.file(Path(options.pcap))) if options.pcap else None
        trace = writing.enter_context(output.file(Path(options.trace))) if options.trace else None
        page = writing.enter_context(output.file(Path(options.report))) if options.report else None
        if options.seeds == 1:
            # On the main thread, where the native module sees Ctrl-C.
            record = [*TRACED, "segments", "drops"] if trace or page else []
            run = scenario.run(
                options.seed,
                record,
                None if pcap is None else str(pcap),
                capture=options.capture,
                snaplen=options.snaplen,
            )
            runs, whole = {options.seed: run}, True
        else:
            runs, whole = _many(scenario, range(options.seed, options.seed + options.seeds), options.jobs)
            if not runs:
                raise KeyboardInterrupt
        ordered = [runs[seed] for seed in sorted(runs)]
        if trace is not None:
            write_trace(trace, ordered[0])
        if out is not None:
            _write_results(out, scenario, ordered)
        if page is not None:
            _report(page, scenario, ordered, options)
    _print(ordered, options)
    if not whole:
        return INTERRUPTED
    return FINE


def _report(path: Path, scenario: _core.Scenario, runs: list[_core.Run], options: argparse.Namespace) -> None:
    from netspurt.report.page import write
    from netspurt.report.run import page_of
    from netspurt.scenario import Result, Scenario

    whole = Scenario(scenario)
    results = [Result(whole, run) for run in runs]
    write(path, page_of(whole, results, options.asked, dict(options.settings)))


def _many(scenario: _core.Scenario, seeds: Sequence[int], jobs: int) -> tuple[dict[int, _core.Run], bool]:
    runs: dict[int, _core.Run] = {}
    with progress(len(seeds), "simulating") as advance:

        def keep(seed: int, run: _core.Run) -> None:
            runs[seed] = run
            advance(f"seed {seed}")

        whole = for_each(seeds, lambda seed: scenario.run(seed), keep, jobs)
    return runs, whole


def _print(runs: list[_core.Run], options: argparse.Namespace) -> None:
    several = options.seeds > 1
    if options.json:
        if several:
            print(json.dumps({"runs": [json.loads(run.json()) for run in runs], "summary": summary(runs)}))
        else:
            print(runs[0].json())
        return
    console = tables.console()
    if several:
        _show_summary(console, summary(runs), len(runs))
        return
    whole = json.loads(runs[0].json())
    title = f"{whole['scenario']}, seed {whole['seed']}, digest {whole['digest']}"
    tables.show(console, title, whole["flows"], FLOW_COLUMNS)
    fetching = [group for group in whole.get("groups", []) if "pages" in group]
    if fetching:
        tables.show(console, "", fetching, GROUP_COLUMNS)
    tables.show(console, "", whole["links"], LINK_COLUMNS)


def summary(runs: list[_core.Run]) -> list[dict[str, Any]]:
    """For each flow and each of its numbers: mean over seeds and its 95 % interval."""
    from netspurt.analysis.over_seeds import over_seeds

    return over_seeds([json.loads(run.json()) for run in runs])


def _show_summary(console: Any, rows: list[dict[str, Any]], seeds: int) -> None:
    from rich.table import Table

    table = Table("flow", "quantity", "mean", "95 % interval", box=None, header_style="bold", pad_edge=False)
    table.title = f"{seeds} seeds"
    for row in rows:
        interval = "–" if row["interval"] is None else " … ".join(f"{end:.6g}" for end in row["interval"])
        table.add_row(f"{row['flow']} {row['index']}", row["quantity"], f"{row['mean']:.6g}", interval)
    console.print(table)


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
