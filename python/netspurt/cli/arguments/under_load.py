"""What the commands that measure under load have in common: the length and size of the load, and the scenario.

Lives here: these options, and the default TCP profile. Must not live here: the tests themselves (``underload``).
"""

from __future__ import annotations

import argparse
import tomllib
from typing import TYPE_CHECKING

from netspurt.cli.arguments import path_options
from netspurt.inputs.typed import positive, seconds

if TYPE_CHECKING:
    from netspurt.scenario import Scenario

PROFILE = "linux"
"""TCP profile of a scenario that names none."""


def add_duration(command: argparse.ArgumentParser, default_s: float, words: str) -> None:
    """``-t``: a time in seconds, as ``duration_s``."""
    command.add_argument(
        "-t",
        "--duration",
        dest="duration_s",
        type=seconds,
        default=default_s,
        metavar="TIME",
        help=f"{words} (default: {default_s:g} s)",
    )


def add_parallel(command: argparse.ArgumentParser, default: int, words: str) -> None:
    """``-P``: connections in each direction, as ``connections``; ``path_options`` has another ``parallel``."""
    command.add_argument(
        "-P",
        "--parallel",
        dest="connections",
        type=positive,
        default=default,
        metavar="N",
        help=f"{words} (default: {default})",
    )


def load(options: argparse.Namespace, profile: str | None = None) -> Scenario:
    """The scenario of a file or of a path, with this TCP profile; without one, with the scenario's or ``PROFILE``.

    Raises:
        RequestError: no file, or an option that is wrong.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.scenario import Scenario

    scenario = Scenario(path_options.load(options, flow=False))
    if profile or "tcp" not in tomllib.loads(scenario.merged()):
        return scenario.set({"tcp.profile": profile or PROFILE})
    return scenario
