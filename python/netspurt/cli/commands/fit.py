"""``netspurt fit``: a scenario that behaves like a capture."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.analysis import formats
from netspurt.cli.arguments.options import add_input, add_json, add_output
from netspurt.cli.exits import FELL_SHORT, FINE
from netspurt.cli.progress import Gauge
from netspurt.cli.views import tables
from netspurt.files import output
from netspurt.files.places import SCENARIO, SCENARIO_MARK
from netspurt.inputs.capture_file import check_capture_file
from netspurt.inputs.typed import natural

if TYPE_CHECKING:
    from collections.abc import Callable

    from netspurt.fitting import Fit, Row

WORDS = {"rtt_median": "median RTT", "rtt_p95": "95 % RTT"}
"""Quantities of the check whose names in the JSON document are no words."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_input(
        command,
        "capture",
        metavar="CAPTURE",
        words="pcap or pcapng, uncompressed, gzip or zstd, best taken at the sender of the data; or the table of "
        "'why --sockets --out'",
    )
    add_output(command, "--out", SCENARIO, "FILE.toml", "write the scenario, with a comment for each value")
    command.add_argument(
        "--connection",
        type=natural,
        metavar="N",
        help="fit only the connection, or the socket, of this number (default: the largest, and those between the same "
        "hosts)",
    )
    command.add_argument(
        "--loss",
        choices=("script", "rate"),
        default="script",
        help="lose the packets that were lost in the capture, or the same share of them at random (default: script)",
    )
    command.add_argument(
        "--rate",
        choices=("constant", "trace"),
        help="one rate for the path, or its capacity over time as a recording, where others share it or it changes "
        "(default: constant, and a recording only if that explains the capture and a constant rate does not)",
    )


def command(options: argparse.Namespace) -> int:
    """Fits, writes the scenario and prints the check.

    Raises:
        RequestError: the file is no capture, or shows too little.
    """
    from netspurt.fitting import fit

    check_capture_file(options.capture)
    with Gauge("simulating") as gauge:
        found = fit(
            options.capture,
            connection=options.connection,
            loss=options.loss,
            rate=options.rate,
            advance=gauge.show,
        )
    if options.out:
        with output.file(Path(options.out)) as stage:
            stage.write_text(f"{SCENARIO_MARK} {options.asked}\n{found.text}", encoding="utf-8")
    if options.json:
        print(json.dumps(found.document()))
    else:
        _print(found, options.out)
    return FINE if found.explains else FELL_SHORT


def _print(found: Fit, out: str | None) -> None:
    console = tables.console()
    for warning in found.warnings:
        console.print(f"Warning: {warning}.", highlight=False, soft_wrap=True, markup=False)
    console.print(f"{found.source}: {found.summary}", highlight=False, soft_wrap=True, markup=False)
    console.print()
    rows = [_row(row) for row in found.check]
    tables.show(console, "", rows, ("quantity", "captured", "simulated", "agrees"))
    if out:
        console.print(f"{out}: try: netspurt run {out}", highlight=False, soft_wrap=True, markup=False)


def _row(row: Row) -> dict[str, str]:
    """The line as text, in words and units that people read."""
    forms: dict[str, Callable[[float], str]] = {
        "s": formats.span,
        "bit/s": formats.rate,
        "share": formats.share,
        "packets": lambda count: formats.counted(round(count), "packet"),
    }
    form = forms[row.unit]
    return {
        "quantity": WORDS.get(row.quantity, row.quantity),
        "captured": form(row.captured),
        "simulated": form(row.simulated),
        "agrees": "yes" if row.agrees else "no",
    }
