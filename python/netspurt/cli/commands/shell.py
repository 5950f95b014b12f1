"""``netspurt shell``: a shell, or a command, behind a path to this machine's own network."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from netspurt.cli import emulating
from netspurt.cli.arguments import path_options
from netspurt.cli.exits import INTERRUPTED
from netspurt.errors import RequestError


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    path_options.add_scenario(command, flow=False)
    command.usage = "%(prog)s [SCENARIO.toml] [options] [-- COMMAND…]"
    emulating.add_emulation(command)
    command.add_argument(
        "-v", "--verbose", action="store_true", help="print the results of links and hosts at the end"
    )
    command.add_argument("-q", "--quiet", action="store_true", help="print no remarks")


def command(options: argparse.Namespace) -> int:
    """Runs a shell on the first host of the path; the last one stands for this machine's network.

    Returns:
        The exit status of the shell.

    Raises:
        RequestError: no privilege, or a program that does not exist.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.emulation.outside import joined
    from netspurt.emulation.shells import shell

    scenario = path_options.load(options, flow=False)
    hosts = scenario.hosts()
    if len(hosts) != 2:
        raise RequestError(
            f"a shell needs a path with two ends, and this scenario has {len(hosts)}: use 'netspurt emulate' for the "
            "shell on one of its hosts"
        )
    program = options.program or shell()
    path = path_options.words(options)
    with joined(hosts[-1]) as outside, emulating.programs(program, path, as_json=options.json):
        for doubt in () if options.quiet else outside.doubts:
            print(f"netspurt: {doubt}", file=sys.stderr)
        report: dict[str, Any] = emulating.run(
            scenario, (hosts[0], program), [(hosts[-1], [])], options, outside.for_emulator()
        )
    if options.verbose or options.json:
        emulating.show(report, options)
    status: int | None = report["status"]
    return INTERRUPTED if status is None else status
