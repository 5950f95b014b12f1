"""``netspurt emulate``: real programs with a simulated network between them."""

from __future__ import annotations

import argparse
import contextlib
import shlex

from netspurt.cli import emulate_why, emulating
from netspurt.cli.arguments import path_options
from netspurt.cli.exits import INTERRUPTED
from netspurt.errors import RequestError
from netspurt.inputs.typed import interval


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    path_options.add_scenario(command, flow=False)
    # main removes the words after "--" first, because argparse would require them before all options: see _command.
    command.usage = "%(prog)s [SCENARIO.toml] [options] -- COMMAND…"
    command.add_argument(
        "--server",
        metavar="COMMAND",
        help="run this server on the last host; the command after -- starts when the server listens, or after 5 s",
    )
    command.add_argument(
        "--on",
        action="append",
        nargs=2,
        default=[],
        metavar=("HOST", "COMMAND"),
        help="run this command on HOST, like a server; may be repeated",
    )
    command.add_argument(
        "--client", metavar="HOST", help="the host of the command after -- (default: the first host)"
    )
    emulating.add_emulation(command)
    command.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print no remarks, and no tables of links and hosts at the end",
    )
    command.add_argument(
        "-i",
        "--interval",
        type=interval,
        default=0.0,
        metavar="TIME",
        help="print the rate and the queue of each link in each interval, such as 1s; 0 for none (default: 0)",
    )
    command.add_argument(
        "--why",
        action="store_true",
        help="print at the end what limited each connection of the programs, from the packets at every host",
    )


def command(options: argparse.Namespace) -> int:
    """Runs the commands and ends with the exit status of the one behind ``--``.

    What links and hosts did is printed on standard error, since standard output is the programs'. With ``--json`` it
    is the other way round: one document on standard output, and what the programs print on standard error.

    Raises:
        RequestError: no command, a host that is not there, no privileges, a program that does not exist.
        ScenarioError: the scenario is wrong.
    """
    if not options.program:
        raise RequestError("name the command to run behind '--', such as: -- curl http://server/")
    scenario = path_options.load(options, flow=False)
    hosts = scenario.hosts()
    beside = [(host, _words(text)) for host, text in options.on]
    if options.server is not None:
        beside.append((hosts[-1], _words(options.server)))
    client = options.client or hosts[0]
    if not beside:
        # The kernels of the other hosts answer.
        beside = [(host, []) for host in hosts if host != client]
    with contextlib.ExitStack() as kept:
        places = kept.enter_context(emulate_why.places(hosts, options.capture)) if options.why else {}
        captures = [*options.capture, *emulate_why.missing(places, options.capture)]
        with emulating.programs(options.program, path_options.words(options), as_json=options.json):
            report = emulating.run(
                scenario,
                (client, options.program),
                beside,
                options,
                captures=captures,
                interval_s=options.interval,
            )
        if options.why:
            report["why"] = emulate_why.connections(places)
    if options.json or not options.quiet:
        emulating.show(report, options)
    if options.why and not options.json:
        emulate_why.show(report["why"])
    status: int | None = report["status"]
    return INTERRUPTED if status is None else status


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"'{text}' cannot be split into words: {str(error).lower()}") from None
    if not words:
        raise RequestError("a command has no words: name a program")
    return words
