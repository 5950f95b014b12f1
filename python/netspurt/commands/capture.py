"""``netspurt capture``: what captures tell of their TCP connections."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import listing, output
from netspurt.capture import SCHEMAS, STEP, Capture, Reading, collect
from netspurt.cli import FELL_SHORT, FINE, INTERRUPTED
from netspurt.errors import RequestError
from netspurt.options import add_jobs, add_json, positive
from netspurt.parallel import for_each
from netspurt.terminal import progress

if TYPE_CHECKING:
    from netspurt.parquet import ParquetWriter

WIDE = 200
"""Columns of text where there is no terminal to say: addresses are long."""

COLUMNS = (
    *("client", "server", "from", "bytes", "start_s", "duration_s", "goodput_bps"),
    *("rtt_min_ms", "rtt_median_ms", "rtt_p95_ms", "retransmitted", "reordered", "notes"),
)

CAUSES = ("timeout", "fast", "tail_probe", "nak", "unexplained")


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument(
        "files", nargs="+", metavar="FILE", help="pcap or pcapng, plain, gzip or zstd; - is standard input"
    )
    command.add_argument("--samples", metavar="FILE.parquet", help="every round-trip time, as Parquet")
    command.add_argument(
        "--events", metavar="FILE.parquet", help="every retransmission, duplicate ACK and so on, as Parquet"
    )
    command.add_argument(
        "--connections",
        type=positive,
        default=100_000,
        metavar="N",
        help="connections listed at most for each file (default: 100000); more are counted",
    )
    add_jobs(command, "files")


def command(options: argparse.Namespace) -> int:
    """Reads the captures and prints one row for each connection.

    A file that cannot be read, is damaged or holds no TCP does not keep the others from being read; the exit status
    is 1 then.

    Raises:
        RequestError: there is nothing to read at all, or a place that cannot be written to.
    """
    captures: dict[int, Capture] = {}
    failures: dict[int, str] = {}
    with contextlib.ExitStack() as writing:
        writers = {
            name: writing.enter_context(_writer(Path(path), name))
            for name, path in (("samples", options.samples), ("events", options.events))
            if path
        }
        advance = writing.enter_context(progress(sum(map(_steps, options.files)), "reading"))

        def work(number: int) -> Capture | str:
            try:
                return _read(options.files[number], writers, options.connections, advance)
            except RequestError as error:
                return str(error)

        def keep(number: int, outcome: Capture | str) -> None:
            if isinstance(outcome, str):
                failures[number] = outcome
            else:
                captures[number] = outcome

        whole = for_each(range(len(options.files)), work, keep, options.jobs)
    _print(options, captures, failures)
    faults = failures | {n: fault for n, capture in captures.items() if (fault := capture.fault)}
    for number in sorted(faults):
        print(f"netspurt: {faults[number]}", file=sys.stderr)
    if not whole:
        return INTERRUPTED
    return FELL_SHORT if faults else FINE


def _steps(file: str) -> int:
    """How often the bar moves for a file; a pipe has no length."""
    path = Path(file)
    return path.stat().st_size // STEP + 1 if path.is_file() else 1


def _read(
    file: str, writers: dict[str, ParquetWriter], connections: int, advance: Callable[[str], None]
) -> Capture:
    import polars as pl

    reading = Reading(file, tuple(writers), connections=connections)
    shown = 0

    def stepped() -> None:
        nonlocal shown
        while shown < min(reading.octets // STEP + 1, _steps(file)):
            shown += 1
            advance(Path(file).name)

    def put(name: str) -> Callable[[pl.DataFrame], None]:
        return lambda frame: writers[name].write(frame.select(pl.lit(file).alias("file"), pl.all()))

    return collect(reading, stepped, {name: put(name) for name in writers})


@contextlib.contextmanager
def _writer(path: Path, name: str) -> Iterator[ParquetWriter]:
    from netspurt.parquet import ParquetWriter

    with output.file(path) as stage, ParquetWriter(stage, {"file": str, **SCHEMAS[name]}) as writer:
        yield writer


def document(capture: Capture) -> dict[str, Any]:
    """What ``--json`` prints of a capture."""
    streams = capture.streams.to_dicts()
    connections = [
        {**row, "from_client": _stream(streams[2 * n]), "from_server": _stream(streams[2 * n + 1])}
        for n, row in enumerate(capture.connections.to_dicts())
    ]
    return {"file": str(capture.path), **capture.tally, "connections": connections}


def _stream(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("connection", "from")}


def _print(options: argparse.Namespace, captures: dict[int, Capture], failures: dict[int, str]) -> None:
    if options.json:
        documents = [
            document(captures[number]) if number in captures else {"file": file, "error": failures[number]}
            for number, file in enumerate(options.files)
            if number in captures or number in failures
        ]
        print(json.dumps({"captures": documents}))
        return
    console = listing.console(WIDE)
    for number in sorted(captures):
        capture = captures[number]
        tally = capture.tally
        title = f"{capture.path}: {tally['packets']} packets, {tally['connections']} connections"
        if capture.passed:
            title += f" ({capture.passed})"
        rows = [_line(row) for row in document(capture)["connections"]]
        listing.show(console, title, rows, COLUMNS)
        if tally["unlisted"]:
            console.print(f"… and {tally['unlisted']} more connections (list them with --connections)")


def _line(row: dict[str, Any]) -> dict[str, Any]:
    """A connection in one line: the stream that carried more, and what is out of the ordinary."""
    stream = row[f"from_{row['sender']}"]
    times = {what: stream[f"rtt_{what}_s"] for what in ("min", "median", "p95")}
    resent = {cause.replace("_", " "): stream[f"retransmitted_{cause}"] for cause in CAUSES}
    return {
        "client": _address(row["client"], row["client_port"]),
        "server": _address(row["server"], row["server_port"]),
        "from": row["sender"],
        "bytes": stream["acknowledged_bytes"],
        "start_s": row["start_s"],
        "duration_s": row["duration_s"],
        "goodput_bps": stream["goodput_bps"],
        **{f"rtt_{what}_ms": None if time is None else 1000 * time for what, time in times.items()},
        "retransmitted": resent,
        "reordered": stream["reordered"],
        "notes": ", ".join(_notes(row, stream)) or None,
    }


def _address(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _notes(row: dict[str, Any], stream: dict[str, Any]) -> Iterator[str]:
    counted = {
        "spurious": "spurious",
        "duplicated": "duplicated",
        "zero_windows": "zero windows",
        "window_probes": "window probes",
        "keep_alives": "keep-alives",
        "marked": "congestion marks",
        "unseen_bytes": "bytes not captured",
    }
    yield from (f"{stream[name]} {words}" for name, words in counted.items() if stream[name])
    if row["opening"] != "whole":
        yield {"half": "not answered", "missing": "began before the capture"}[row["opening"]]
    if not row["closing"].endswith("-fin"):
        yield row["closing"].replace("-", " ")
