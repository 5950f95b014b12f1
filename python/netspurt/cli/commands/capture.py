"""``netspurt capture``: the TCP connections in captures."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.analysis import formats
from netspurt.analysis.capture import Capture, Reading, collect, schemas
from netspurt.analysis.capture_lines import (
    BOTH,
    COLUMNS,
    described,
    document,
    largest,
    line,
    rest,
    statistics,
    title,
)
from netspurt.cli.arguments import picture_options
from netspurt.cli.arguments.options import add_input, add_jobs, add_json, add_output, add_quiet
from netspurt.cli.arguments.reading import stepper, steps_of
from netspurt.cli.exits import FELL_SHORT, FINE, interrupted
from netspurt.cli.progress import progress
from netspurt.cli.views import tables
from netspurt.errors import FilterError, RequestError
from netspurt.files import output, places
from netspurt.files.places import Destination
from netspurt.inputs.capture_file import check_capture_file
from netspurt.inputs.typed import positive
from netspurt.threads import for_each

if TYPE_CHECKING:
    from netspurt.files.parquet import ParquetWriter

LARGEST = 50
"""Largest number of connections printed without `--all`."""

WIDE = 200
"""Width of tables in characters where output is not a terminal: addresses are long."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_input(
        command,
        "files",
        nargs="+",
        metavar="FILE",
        words="pcap or pcapng, uncompressed, gzip or zstd; - is standard input",
    )
    add_output(
        command, "--samples", places.SAMPLES, "FILE.parquet", "write every round-trip time, as Parquet"
    )
    add_output(
        command,
        "--events",
        places.EVENTS,
        "FILE.parquet",
        "write every retransmission, duplicate ACK and so on, as Parquet",
    )
    command.add_argument(
        "--connections",
        type=positive,
        default=100_000,
        metavar="N",
        help="follow at most N connections of each file to their end, and count the others (default: 100000)",
    )
    command.add_argument(
        "--all",
        action="store_true",
        help=f"print a line for each connection (default: the {LARGEST} largest, and a summary of the rest)",
    )
    command.add_argument(
        "-l",
        "--long",
        action="store_true",
        help="print all statistics of both directions of each connection, as tcptrace -l does",
    )
    command.add_argument(
        "--filter",
        metavar="EXPRESSION",
        help="read only these packets, in tcpdump's language: 'port 443', 'host 192.0.2.1 and not port 22'",
    )
    command.add_argument(
        "-w",
        "--write",
        type=partial(Destination, option="--write", form=places.CAPTURE),
        metavar="FILE",
        help="write the packets that are read as pcapng: one capture, with --filter a part of it",
    )
    add_jobs(command, "files")
    add_quiet(command)
    picture_options.report(command)


def command(options: argparse.Namespace) -> int:
    """Reads the captures and prints one row for each connection.

    A file that cannot be read, is damaged or holds no TCP does not keep the others from being read; the exit status
    is 1 then.

    Raises:
        RequestError: there is nothing to read at all, a filter that is not understood, or a place that cannot be
            written to.
    """
    if options.write and len(options.files) > 1:
        raise RequestError("--write copies one capture: give one file")
    captures: dict[int, Capture] = {}
    failures: dict[int, str] = {}
    whole = True
    with contextlib.suppress(output.DiscardedError), contextlib.ExitStack() as writing:
        writers = {
            name: writing.enter_context(_writer(Path(path), name))
            for name, path in (("samples", options.samples), ("events", options.events))
            if path
        }
        page = writing.enter_context(output.file(Path(options.report))) if options.report else None
        copy = writing.enter_context(output.file(Path(options.write))) if options.write else None
        advance = writing.enter_context(progress(sum(map(steps_of, options.files)), "reading"))

        def work(number: int) -> Capture | str:
            try:
                return _read(options.files[number], writers, options, copy, advance)
            except FilterError:
                raise
            except RequestError as error:
                return str(error)

        def keep(number: int, outcome: Capture | str) -> None:
            if isinstance(outcome, str):
                failures[number] = outcome
            else:
                captures[number] = outcome

        whole = for_each(range(len(options.files)), work, keep, options.jobs)
        if not whole and not captures and not failures:
            # Nothing is complete: what is being written is discarded.
            raise KeyboardInterrupt
        if not captures:
            raise output.DiscardedError
        if page is not None:
            from netspurt.report.capture import page_of
            from netspurt.report.page import write

            write(page, page_of([captures[number] for number in sorted(captures)], options.asked))
    _print(options, captures, failures)
    faults = failures | {n: fault for n, capture in captures.items() if (fault := capture.fault)}
    for number in sorted(faults):
        print(f"netspurt: {faults[number]}", file=sys.stderr)
    if not whole:
        return interrupted(len(captures) + len(failures), len(options.files), "files")
    return FELL_SHORT if faults else FINE


def _read(
    file: str,
    writers: dict[str, ParquetWriter],
    options: argparse.Namespace,
    copy: Path | None,
    advance: Callable[[str], None],
) -> Capture:
    import polars as pl

    check_capture_file(file)
    record = (*writers, "limits")
    reading = Reading(file, record, connections=options.connections, chosen=options.filter, copy=copy)

    def put(name: str) -> Callable[[pl.DataFrame], None]:
        return lambda frame: writers[name].write(frame.select(pl.lit(file).alias("file"), pl.all()))

    return collect(reading, stepper(reading, file, advance), {name: put(name) for name in writers})


@contextlib.contextmanager
def _writer(path: Path, name: str) -> Iterator[ParquetWriter]:
    from netspurt.files.parquet import ParquetWriter

    output.check_parquet(path, or_pipe=True)
    with output.file(path) as stage, ParquetWriter(stage, {"file": str, **schemas()[name]}) as writer:
        yield writer


def _print(options: argparse.Namespace, captures: dict[int, Capture], failures: dict[int, str]) -> None:
    if options.json:
        documents = [
            document(captures[number]) if number in captures else {"file": file, "error": failures[number]}
            for number, file in enumerate(options.files)
            if number in captures or number in failures
        ]
        print(json.dumps({"captures": documents}))
        return
    console = tables.console(WIDE)
    for number in sorted(captures):
        capture = captures[number]
        tally = capture.tally
        counts = (formats.counted(tally[f"{name}s"], name) for name in ("packet", "connection"))
        head = f"{capture.path}: {', '.join(counts)}"
        if capture.passed:
            head += f" ({capture.passed})"
        connections, streams = capture.connections, capture.streams
        cut = not options.all and connections.height > LARGEST
        if cut:
            connections, streams = largest(capture, LARGEST)
        rows = described(connections, streams)
        if options.long:
            console.print(head, highlight=False, markup=False, soft_wrap=True)
            for row in rows:
                tables.show(console, title(row), statistics(row), BOTH)
        else:
            tables.show(console, head, [line(row) for row in rows], COLUMNS)
        if cut:
            console.print(f"… and {rest(capture, connections)} (print each with --all)", soft_wrap=True)
        if tally["unlisted"]:
            console.print(
                f"… and {formats.counted(tally['unlisted'], 'more connection')} (--connections follows more)"
            )
