"""``netspurt what-if``: what would help a transfer, by how much, and how to do it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.cli import picture_options, tables
from netspurt.cli.exits import FELL_SHORT, FINE
from netspurt.cli.options import add_input, add_jobs, add_json, add_quiet, add_settings
from netspurt.cli.progress import Gauge
from netspurt.errors import RequestError
from netspurt.files import output
from netspurt.inputs.typed import positive

if TYPE_CHECKING:
    from netspurt.remedies import WhatIf

EARLY_S = 4.0
"""If all answers take longer, the first one is printed to standard error."""

SEEDS = 10


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_input(
        command,
        "what",
        metavar="WHAT",
        words="a capture (pcap or pcapng), a scenario (.toml), or a folder of 'run --out'",
    )
    add_settings(command)
    command.add_argument(
        "--try",
        action="append",
        default=[],
        dest="tries",
        metavar="KEY=VALUE",
        help="a remedy of your own, as often as wanted; 'key=value; key=value' changes several settings together",
    )
    command.add_argument(
        "--flow",
        metavar="NAME",
        help="the flow to improve, by its name or its number in the file (default: the one that lost most time)",
    )
    command.add_argument(
        "--seeds",
        type=positive,
        default=SEEDS,
        metavar="N",
        help=f"pairs of runs of each remedy (default: {SEEDS}; fewer where nothing is random)",
    )
    add_jobs(command)
    picture_options.report(command)
    add_quiet(command)


def command(options: argparse.Namespace) -> int:
    """Prints the remedies, those that save most time first. Exit status 1: the fit does not explain its capture.

    Raises:
        RequestError: what is named cannot be read, or a remedy has no such number.
        ScenarioError: the scenario, or a remedy of one's own, is wrong.
    """
    from netspurt.remedies import what_if

    began = time.monotonic()
    with Gauge("simulating remedies") as gauge:

        def early(answer: WhatIf) -> None:
            if time.monotonic() - began > EARLY_S / 2 and not options.quiet:
                print(f"netspurt: first answer, from one seed: {answer.verdict}", file=sys.stderr)

        found = what_if(
            options.what,
            tries=options.tries,
            flow=options.flow,
            seeds=options.seeds,
            jobs=options.jobs,
            settings=options.settings,
            report=gauge.show,
            first=early,
        )
    if options.report:
        from netspurt.report.page import write
        from netspurt.report.what_if import page_of

        with output.file(Path(options.report)) as stage:
            write(stage, page_of(found, options.asked))
    if options.json:
        print(json.dumps(found.document()))
    else:
        from netspurt.cli import what_if_view

        what_if_view.show(tables.console(), found)
    return FINE if found.explains else FELL_SHORT


def chosen(found: WhatIf, number: int) -> int:
    """The position of remedy ``number``, which counts from 1.

    Raises:
        RequestError: there is no such remedy.
    """
    if not 1 <= number <= len(found.remedies):
        raise RequestError(
            f"there is no remedy {number}: "
            + (f"they are numbered 1 to {len(found.remedies)}" if found.remedies else "none was tried")
        )
    return number - 1
