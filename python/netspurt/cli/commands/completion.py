"""``netspurt completion``: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import argparse
import json

from netspurt.cli.arguments.options import add_json
from netspurt.cli.commands import COMMANDS
from netspurt.cli.entry import parser
from netspurt.cli.exits import FINE

FOLDERS = ("DIR",)
FILES = ("FILE", "FILE.toml", "FILE.svg", "FILE.html", "FILE.parquet", "SCENARIO.toml", "WHAT", "A", "B")
"""Metavars that stand for a path."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument("shell", choices=("bash", "zsh"))


def command(options: argparse.Namespace) -> int:
    """Prints the script for one shell. Always succeeds."""
    import shtab

    top = parser(COMMANDS)
    for each in _parsers(top):
        for action in each._actions:
            if action.metavar in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks
            elif action.metavar in FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    script = shtab.complete(top, shell=options.shell)
    print(json.dumps({"shell": options.shell, "script": script}) if options.json else script)
    return FINE


def _parsers(top: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    below = [
        each
        for action in top._actions
        if isinstance(action, argparse._SubParsersAction)
        for each in action.choices.values()
    ]
    return [top, *below]
