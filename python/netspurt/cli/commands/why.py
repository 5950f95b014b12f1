"""``netspurt why``: what limited the connections of captures, of simulations or of this host, and for how long."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli import why_sockets
from netspurt.cli.arguments import picture_options
from netspurt.cli.arguments.ineffective import refuse
from netspurt.cli.arguments.options import add_input, add_jobs, add_json, add_output, add_quiet, add_settings
from netspurt.cli.arguments.reading import stepper, steps_of
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED, interrupted
from netspurt.cli.interrupt import Request, asked_to_end
from netspurt.cli.progress import progress
from netspurt.cli.views import tables
from netspurt.diagnosing.connection_filter import ConnectionFilter
from netspurt.diagnosing.diagnosis import MOST_CONNECTIONS, SCHEMAS, Diagnosis, collect
from netspurt.diagnosing.reading import Reading, simulate
from netspurt.diagnosing.time_range import TimeRange, time_range
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.typed import moment, natural
from netspurt.threads import for_each

if TYPE_CHECKING:
    import polars as pl

    from netspurt.diagnosing.remedies_text import Advice
    from netspurt.files.parquet import ParquetWriter

SHOWN = 20
"""Largest number of connections listed for each file without `--all`."""

OF_FILES = {
    "settings": "--set",
    "seed": "--seed",
    "connections": "--connection",
    "min_bytes": "--min-bytes",
    "begin": "--begin",
    "end": "--end",
    "report": "--report",
}
"""Options that only captures and scenarios have, by their place in the namespace."""

INTERVALS = {"file": str, "client": str, "server": str, **SCHEMAS["intervals"]}
"""The columns of ``--out``."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_quiet(command)
    add_input(
        command,
        "files",
        nargs="*",
        metavar="FILE",
        words="pcap or pcapng, uncompressed, gzip or zstd; - is standard input, which 'tcpdump -w -' may feed; "
        "or a scenario, which is simulated",
    )
    add_settings(command)
    command.add_argument("--seed", type=natural, metavar="N", help="seed of a scenario (default: 1)")
    command.add_argument(
        "--connection",
        action="append",
        type=natural,
        metavar="N",
        dest="connections",
        help="only the connection with this number; may be repeated",
    )
    command.add_argument(
        "--filter",
        metavar="TEXT",
        help="only connections that pass a filter of tcpdump: host, net, port, portrange, src (client), dst (server), "
        "and, or, not; of sockets also state, process, pid",
    )
    command.add_argument(
        "--min-bytes",
        type=natural,
        metavar="N",
        help="leave out connections with fewer acknowledged bytes (default: 1)",
    )
    for name, words in (
        (
            "begin",
            "diagnose only the time from here on, since the first packet or the begin of the simulation",
        ),
        ("end", "diagnose only the time until here"),
    ):
        command.add_argument(f"--{name}", type=moment, metavar="TIME", help=words)
    command.add_argument(
        "--all", action="store_true", help=f"list all connections (default: the {SHOWN} that lost most time)"
    )
    add_output(
        command, "--out", places.LIMITS, "FILE.parquet", "write each interval with its limit, as Parquet"
    )
    add_jobs(command, "files")
    picture_options.report(command)
    why_sockets.declare(command)


def command(options: argparse.Namespace) -> int:
    """Diagnoses captures, scenarios or sockets, and prints the connections, those that lost most time first.

    A file that cannot be read, is damaged or holds no TCP does not keep the others from being read; the exit status
    is 1 then.

    Raises:
        RequestError: nothing to look at was named, the filter is wrong, a connection is missing, or a place cannot be
            written to.
    """
    if options.sockets:
        if options.files:
            raise RequestError("--sockets watches this host: name no file beside it")
        refuse(options, OF_FILES, "does not apply to --sockets")
        return why_sockets.watch(options)
    if not options.files:
        raise RequestError(
            "name what to look at: captures, scenarios, or --sockets for the TCP sockets of this host"
        )
    refuse(options, why_sockets.OF_SOCKETS, "applies only to --sockets")
    if options.files.count("-") > 1:
        raise RequestError("standard input (-) can be read only once: name it once")
    return _diagnose(options)


def _diagnose(options: argparse.Namespace) -> int:
    """Diagnoses captures and scenarios."""
    wanted = None if options.filter is None else ConnectionFilter(options.filter)
    simulated = {file for file in options.files if _is_scenario(file)}
    _check(options, simulated)
    within = time_range(options.begin, options.end)
    seed = 1 if options.seed is None else options.seed
    min_bytes = 1 if options.min_bytes is None else options.min_bytes
    found: dict[int, Diagnosis] = {}
    failures: dict[int, str] = {}
    chosen: dict[int, list[int]] = {}
    whole = True
    with contextlib.suppress(output.DiscardedError), contextlib.ExitStack() as writing:
        writer = writing.enter_context(_writer(Path(options.out))) if options.out else None
        page = writing.enter_context(output.file(Path(options.report))) if options.report else None
        advance = writing.enter_context(progress(sum(map(steps_of, options.files)), "reading"))
        # Ctrl-C also ends the tcpdump that writes to standard input. The packets that it has written are diagnosed.
        asked = writing.enter_context(asked_to_end()) if "-" in options.files else None

        def work(number: int) -> Diagnosis | str:
            try:
                file = options.files[number]
                if file in simulated:
                    return collect(simulate(file, options.settings, seed, min_bytes, within))
                return _read(file, (min_bytes, within), wanted, asked, advance)
            except RequestError as error:
                return str(error)

        def keep(number: int, outcome: Diagnosis | str) -> None:
            if isinstance(outcome, str):
                failures[number] = outcome
            else:
                found[number] = outcome

        # Not in this thread, which must handle signals while standard input is read.
        whole = for_each(range(len(options.files)), work, keep, max(options.jobs, 2))
        if not whole and not found and not failures:
            # Nothing is complete: what is being written is discarded.
            raise KeyboardInterrupt
        chosen = {number: _chosen(found[number], options) for number in sorted(found)}
        if options.connections and not any(chosen.values()) and not failures:
            raise RequestError(_missing(options.connections[0], [found[number] for number in sorted(found)]))
        if not found:
            raise output.DiscardedError
        if writer is not None:
            for number, connections in chosen.items():
                writer.write(_intervals(options.files[number], found[number], connections))
        if page is not None:
            _write_report(page, options, seed, found, chosen)
    _print(options, found, chosen, failures)
    faults = failures | {n: fault for n, diagnosis in found.items() if (fault := diagnosis.fault)}
    for number in sorted(faults):
        print(f"netspurt: {faults[number]}", file=sys.stderr)
    if not whole:
        return interrupted(len(found) + len(failures), len(options.files), "files")
    if asked and asked.is_set():
        return INTERRUPTED
    return FELL_SHORT if faults else FINE


def _is_scenario(file: str) -> bool:
    """Whether the file is a scenario; a file that cannot be read is none, and reading it later reports the error."""
    try:
        return file != "-" and kind_of(Path(file)) is Kind.SCENARIO
    except RequestError:
        return False


def _check(options: argparse.Namespace, simulated: set[str]) -> None:
    """Refuses options that a simulation does not have.

    Raises:
        RequestError: in a sentence.
    """
    for file in sorted(simulated):
        if options.filter:
            raise RequestError(f"{file} is a scenario: its flows have names, so --filter does not apply")
    if options.settings and not simulated:
        raise RequestError("--set changes a scenario, and none is given")
    if options.seed is not None and not simulated:
        raise RequestError("--seed is that of a scenario, and none is given")


def _read(
    file: str,
    least_and_range: tuple[int, TimeRange | None],
    wanted: ConnectionFilter | None,
    asked: Request | None,
    advance: Callable[[str], None],
) -> Diagnosis:
    reading = Reading(file, *least_and_range)
    moved = stepper(reading, file, advance)

    def stepped() -> None:
        moved()
        if asked and asked.is_set():
            reading.stop()

    return collect(reading, stepped, wanted)


def _chosen(diagnosis: Diagnosis, options: argparse.Namespace) -> list[int]:
    """The numbers of the connections to list, in their order."""
    numbers: list[int] = diagnosis.connections["connection"].to_list()
    if options.connections:
        return [number for number in numbers if number in options.connections]
    return numbers


def _write_report(
    page: Path,
    options: argparse.Namespace,
    seed: int,
    found: dict[int, Diagnosis],
    chosen: dict[int, list[int]],
) -> None:
    from netspurt.inputs.run import Simulated
    from netspurt.report.page import write
    from netspurt.report.why import Subject, page_of
    from netspurt.scenario import load

    subjects = []
    for number, connections in chosen.items():
        run = None
        if _is_simulated(found[number]):
            # The plots need more records than the limits.
            run = Simulated(load(options.files[number]).set(dict(options.settings)), seed)
        subjects.append(Subject(found[number], connections, run))
    write(page, page_of(subjects, options.asked))


def _missing(number: int, found: list[Diagnosis]) -> str:
    """Why a connection cannot be shown."""
    names = " or ".join(str(diagnosis.path) for diagnosis in found)
    most = max((diagnosis.tally["connections"] for diagnosis in found), default=0)
    if number >= most:
        return f"there is no connection {number} in {names}: the last one has the number {most - 1}"
    ranged = any(diagnosis.within for diagnosis in found)
    rest = "the filter leaves it out" + (", or it is not open in this time" if ranged else "")
    return f"connection {number} of {names} carried too little data, or {rest}"


@contextlib.contextmanager
def _writer(path: Path) -> Iterator[ParquetWriter]:
    from netspurt.files.parquet import ParquetWriter

    output.check_parquet(path, or_pipe=True)
    with output.file(path) as stage, ParquetWriter(stage, INTERVALS) as writer:
        yield writer


def _intervals(file: str, diagnosis: Diagnosis, connections: list[int]) -> pl.DataFrame:
    import polars as pl

    ends = diagnosis.connections.select("connection", "client", "server")
    rows = diagnosis.intervals.filter(pl.col("connection").is_in(connections))
    rows = rows.join(ends, on="connection", how="left", maintain_order="left")
    return rows.select(pl.lit(file).alias("file"), pl.exclude("file")).select(*INTERVALS)


def _print(
    options: argparse.Namespace,
    found: dict[int, Diagnosis],
    chosen: dict[int, list[int]],
    failures: dict[int, str],
) -> None:
    if options.json:
        _print_json(options.files, found, chosen, failures)
        return
    from rich.markup import escape

    from netspurt.cli.views import why_view

    console = tables.console()
    for number, connections in chosen.items():
        diagnosis = found[number]
        console.print(f"[bold]{escape(why_view.title(diagnosis))}[/]", highlight=False, soft_wrap=True)
        console.print()
        shown = connections if options.all else connections[:SHOWN]
        known: dict[Advice, int] = {}
        for document in diagnosis.documents(shown):
            why_view.show(console, document, known)
        for sentence in _left_out(diagnosis, len(connections) - len(shown)):
            console.print(sentence, highlight=False, soft_wrap=True)


def _print_json(
    files: list[str], found: dict[int, Diagnosis], chosen: dict[int, list[int]], failures: dict[int, str]
) -> None:
    flows = [flow for number in sorted(found) for flow in _flows(found[number], chosen[number])]
    captures = [
        number for number in sorted(found.keys() | failures.keys()) if not _is_simulated(found.get(number))
    ]
    simulated = len(captures) < len(found.keys() | failures.keys())
    if simulated and not captures:
        print(json.dumps({"flows": flows}))
        return
    sys.stdout.write(f'{{"flows": {json.dumps(flows)}, "captures": [' if simulated else '{"captures": [')
    between = ""
    for number in captures:
        sys.stdout.write(between)
        if number in found:
            sys.stdout.writelines(found[number].json(chosen[number]))
        else:
            sys.stdout.write(json.dumps({"file": files[number], "error": failures[number]}))
        between = ", "
    sys.stdout.write("]}\n")


def _is_simulated(diagnosis: Diagnosis | None) -> bool:
    return diagnosis is not None and diagnosis.flows is not None


def _flows(diagnosis: Diagnosis, connections: list[int]) -> list[dict[str, Any]]:
    """The flows of a simulation, each connection once."""
    names = diagnosis.flows
    if names is None:
        return []
    rows = diagnosis.documents(connections)
    head: dict[str, Any] = {"file": str(diagnosis.path)}
    if diagnosis.within is not None:
        head["range"] = diagnosis.within.document()
    return [{**head, **names[row["connection"]], **row} for row in rows]


def _left_out(diagnosis: Diagnosis, more: int) -> list[str]:
    """Sentences about connections that are not listed."""
    tally = diagnosis.tally
    sentences = [
        (more, "more connection", "lost less time (list them with --all)"),
        (tally["small"], "connection", "carried no data or too little of it"),
        (tally["filtered"], "connection", "did not pass the filter"),
        (tally["outside"], "connection", "had ended before this time or began after it"),
        (tally["unlisted"], "further connection", f"could not be kept (the limit is {MOST_CONNECTIONS})"),
    ]
    return [f"{formats.counted(count, name)} {what}." for count, name, what in sentences if count]
