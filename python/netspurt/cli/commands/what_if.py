"""``netspurt what-if``: what would help a transfer, by how much, and how to do it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.cli.arguments import picture_options
from netspurt.cli.arguments.ineffective import refuse
from netspurt.cli.arguments.options import add_input, add_jobs, add_json, add_quiet, add_settings
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.progress import Gauge
from netspurt.cli.views import tables
from netspurt.errors import RequestError
from netspurt.files import output
from netspurt.inputs.typed import natural, positive, seconds

if TYPE_CHECKING:
    from netspurt.remedies import WhatIf

EARLY_S = 4.0
"""If all answers take longer, the first one is printed to standard error."""

SEEDS = 10

FOR_S = 60.0
"""Time for --prove."""

OF_PROOFS = {"program": "--with", "server": "--with-server", "for_s": "--for"}
"""Options that only --prove has, by their place in the namespace."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_input(
        command,
        "what",
        metavar="WHAT",
        words="a capture (pcap or pcapng), a scenario (.toml), a folder of 'run --out', or the table of "
        "'why --sockets --out'",
    )
    add_settings(command)
    command.add_argument(
        "--try",
        action="append",
        default=[],
        dest="tries",
        metavar="KEY=VALUE",
        help="a remedy of your own; 'key=value; key=value' changes several settings together; may be repeated",
    )
    command.add_argument(
        "--flow",
        metavar="NAME",
        help="the flow to improve, by its name or its number in the file (default: the one that lost most time)",
    )
    command.add_argument(
        "--prove",
        type=positive,
        metavar="N",
        help="carry out the original and remedy N with the kernel's TCP on the emulated path, and print predicted "
        "beside proven",
    )
    command.add_argument(
        "--with",
        dest="program",
        metavar="COMMAND",
        help="with --prove: run this command on the node that opens the connection, instead of the transfer",
    )
    command.add_argument(
        "--with-server",
        dest="server",
        metavar="COMMAND",
        help="with --with: runs on the other node, like --server of 'emulate'",
    )
    command.add_argument(
        "--for",
        type=seconds,
        dest="for_s",
        metavar="TIME",
        help=f"with --prove: begin no further pair of runs after this time (default: {FOR_S:g} s)",
    )
    command.add_argument(
        "--connection", type=natural, metavar="N", help="of a capture: fit the connection of this number"
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

    After Ctrl-C the first answer is printed, or the predictions where only a proof is not complete.

    Raises:
        KeyboardInterrupt: Ctrl-C before there was an answer.
        RequestError: what is named cannot be read, or a remedy has no such number.
        ScenarioError: the scenario, or a remedy of one's own, is wrong.
    """
    from netspurt.remedies import what_if

    if options.prove is None:
        refuse(options, OF_PROOFS, "applies only to a proof: give --prove N too")
    if options.server and not options.program:
        raise RequestError("--with-server serves the command of --with: give that too")
    began = time.monotonic()
    kept: list[WhatIf] = []
    missing = ""
    with Gauge("simulating remedies") as gauge:

        def early(answer: WhatIf) -> None:
            kept.append(answer)
            if time.monotonic() - began > EARLY_S / 2 and not options.quiet:
                print(f"netspurt: first answer, from one seed: {answer.verdict}", file=sys.stderr)

        try:
            found = what_if(
                options.what,
                tries=options.tries,
                flow=options.flow,
                connection=options.connection,
                seeds=options.seeds,
                jobs=options.jobs,
                settings=options.settings,
                report=gauge.show,
                first=early,
            )
        except KeyboardInterrupt:
            if not kept:
                raise
            found, missing = kept[0], "the results are those of one seed, without the effect on others"
    if options.prove is not None and not missing:
        try:
            _prove(found, options)
        except KeyboardInterrupt:
            missing = "the predictions are complete, the proof is not"
    if options.report:
        from netspurt.report.page import write
        from netspurt.report.what_if import page_of

        with output.file(Path(options.report)) as stage:
            write(stage, page_of(found, options.asked))
    if options.json:
        print(json.dumps(found.document()))
    else:
        from netspurt.cli.views import what_if_view

        what_if_view.show(tables.console(), found)
    if missing:
        print(f"netspurt: interrupted; {missing}", file=sys.stderr)
        return INTERRUPTED
    return FINE if found.explains else FELL_SHORT


def _prove(found: WhatIf, options: argparse.Namespace) -> None:
    from netspurt.remedies.proof.proving import prove

    def say(sentence: str) -> None:
        if not options.quiet:
            print(f"netspurt: {sentence}", file=sys.stderr)

    prove(
        found,
        options.prove,
        program=options.program,
        server=options.server,
        for_s=FOR_S if options.for_s is None else options.for_s,
        report=say,
    )
