"""Options that describe a path on one line, instead of a scenario file.

Lives here: the options, and the scenario that a command runs: a file's, or the one that the options describe. Must not
live here: the text of that scenario (``inputs.paths.one_path``).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.cli.arguments.options import add_input, add_output
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.inputs.paths import one_path
from netspurt.inputs.scenario_file import check_scenario_file
from netspurt.settings import toml

if TYPE_CHECKING:
    from netspurt import _core

FILE = "SCENARIO.toml"


def add_scenario(command: argparse.ArgumentParser, *, flow: bool = True) -> None:
    """A scenario file, or the options of a path; without ``flow`` there is no transfer, since programs make it."""
    add_input(
        command,
        "scenario",
        FILE,
        "a scenario file; or describe a path with --path, or with --rate and --delay",
        nargs="?",
    )
    add_path(command, flow=flow)


def add_path(command: argparse.ArgumentParser, *, flow: bool = True) -> None:
    """The options of a path, and ``--save``."""
    add_values(command, flow=flow)
    add_output(
        command, "--save", places.SCENARIO, "FILE.toml", "write the scenario that these options describe"
    )


def add_values(command: argparse.ArgumentParser, *, flow: bool = True) -> None:
    """The options of a path; without ``flow``, those of ``one_path.NETWORK`` alone."""
    group = command.add_argument_group("a path without a file")
    rows = [
        (
            "--path",
            "MODEL",
            "a path model such as leo, or docsis:down=100mbit,up=10mbit ('netspurt paths' lists them); options such as "
            "--rate replace its values. The client is the user's side",
        ),
        ("--rate", "RATE", "rate of the link, such as 10mbit or '10 Mbit/s'"),
        ("--delay", "TIME", "one-way delay, such as 40ms"),
        ("--loss", "PERCENT", "share of packets lost in each direction, such as 0.1%%"),
        (
            "--queue",
            "LENGTH",
            f"queue, such as 100p or 64KiB, or a discipline such as fq-codel (default: {one_path.QUEUE})",
        ),
        (
            "--recording",
            "FILE[,FILE]",
            "recorded capacity instead of a rate: a file of mahimahi, or rates over time (.csv with time_s and "
            "rate_mbps); two files are from the client to the server, and back",
        ),
    ]
    for option, metavar, words in rows:
        group.add_argument(option, metavar=metavar, help=words)
    if flow:
        group.add_argument(
            "-n", "--bytes", metavar="SIZE", help="length of the transfer, such as 20MB (default: no end)"
        )
        group.add_argument("-P", "--parallel", metavar="N", help="transfers at the same time (default: 1)")
        group.add_argument(
            "-R",
            "--reverse",
            action="store_const",
            const="yes",
            help="the server sends: a download (default: the client sends)",
        )
        group.add_argument("--profile", metavar="NAME", help=f"TCP profile (default: {one_path.PROFILE})")
        group.add_argument(
            "-t",
            "--duration",
            metavar="TIME",
            help=f"end of the simulation (default: that of the file; {one_path.UNTIL}, with --bytes "
            f"{one_path.AT_MOST})",
        )


def described(options: argparse.Namespace) -> one_path.OnePath | None:
    """The path that the options describe; None where a file is given.

    Raises:
        RequestError: both, neither, or a transfer without a path.
    """
    path = one_path.of_options(vars(options))
    file = getattr(options, "scenario", None) or getattr(options, "what", None)
    if file is not None:
        if path.given:
            raise RequestError(
                f"{path.given[0]} describes a path, and {file} is one: leave one of them out, or change the file's "
                "values with --set"
            )
        if options.save:
            raise RequestError("--save writes the path that --rate and --delay describe: leave the file out")
        return None
    if not path.is_path:
        before, _, behind = options.asked.partition(" -- ")
        behind = behind and f" -- {behind}"
        raise RequestError(
            f"name a SCENARIO.toml, or describe a path: {before} --rate 10mbit --delay 40ms{behind}, or --path NAME"
        )
    return path


def load(options: argparse.Namespace, *, flow: bool = True) -> _core.Scenario:
    """The scenario of a file or of the options, with its remarks on standard error.

    Raises:
        RequestError: no file, or an option that is wrong.
        ScenarioError: the scenario is wrong.
    """
    path = described(options)
    if path is None:
        file = Path(options.scenario)
        check_scenario_file(file)
        from netspurt import _core

        scenario = _core.Scenario.load(str(file), settings_of(options))
    else:
        scenario = path.scenario(options.settings, flow=flow)
        if options.save:
            _save(options, path, scenario, flow=flow)
    if flow:
        # The kernel's TCP of an emulation has no use for the others.
        remark(scenario, options)
    return scenario


def words(options: argparse.Namespace) -> str:
    """The path in a few words, for a prompt: the values of the options, or the name of the file."""
    path = described(options)
    return Path(options.scenario).stem if path is None else path.words


def settings_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The overrides of a file: ``--set``, and ``--duration`` as the last one."""
    duration = one_path.of_options(vars(options)).duration
    return [*options.settings, *([] if duration is None else [("duration", toml(duration))])]


def _save(
    options: argparse.Namespace, path: one_path.OnePath, scenario: _core.Scenario, *, flow: bool
) -> None:
    text = scenario.merged() if options.settings else path.text(flow=flow)
    with output.file(Path(options.save)) as stage:
        stage.write_text(f"{places.SCENARIO_MARK} {options.asked}\n{text}", encoding="utf-8")


def remark(scenario: _core.Scenario, options: argparse.Namespace) -> None:
    """Prints remarks on a scenario to standard error, unless ``-q`` is given."""
    if getattr(options, "quiet", False):
        return
    for weight, sentence in scenario.remarks():
        print(f"netspurt: {weight}: {sentence}", file=sys.stderr)
