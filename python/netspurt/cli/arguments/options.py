"""Options that several commands have.

Lives here: names, help and defaults. Must not live here: the values (``inputs.typed``), what they are for, or any heavy
import: every command loads this.
"""

from __future__ import annotations

import os
import sys
import textwrap
from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    Namespace,
    RawDescriptionHelpFormatter,
    _SubParsersAction,  # argparse gives the type no public name
)
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from netspurt.files.places import Destination, Form, Source
from netspurt.inputs.typed import algorithm, natural, positive, setting

SHORT = {"--out": ("-o",)}
"""Short options of outputs."""

Parser = TypeVar("Parser", bound=ArgumentParser)


class Help(RawDescriptionHelpFormatter):
    """Wraps descriptions but not examples, and sets a list of commands in two columns, by task where known."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = (
            line if line.startswith(("example", " ")) else textwrap.fill(line, width - len(indent))
            for line in text.splitlines()
        )
        return textwrap.indent("\n".join(lines), indent)

    def add_argument(self, action: Action) -> None:
        """Makes the first column as wide as the longest of the commands below."""
        super().add_argument(action)
        if isinstance(action, _SubParsersAction):
            longest = max(map(len, action.choices))
            self._action_max_length = max(self._action_max_length, longest + 2 * self._indent_increment + 2)

    def _format_action(self, action: Action) -> str:
        tasks: Mapping[str, Sequence[str]] = getattr(action, "tasks", {})
        if not tasks:
            return super()._format_action(action)
        lines = {each.dest: each for each in self._iter_indented_subactions(action)}
        groups = []
        for task, names in tasks.items():
            head = f"{' ' * self._current_indent}{task}:\n"
            self._indent()
            groups.append(head + "".join(super(Help, self)._format_action(lines[name]) for name in names))
            self._dedent()
        return "\n".join(groups)


def add_command(
    commands: _SubParsersAction[Parser], name: str, words: str, example: str, more: str = ""
) -> Parser:
    """A parser below another, whose help is a sentence, perhaps more, and an example."""
    return commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.{more}",
        epilog=f"example: {example}",
        formatter_class=Help,
        allow_abbrev=False,
    )


class Deprecated(Action):
    """An old name of an option. It still works, and a line on standard error gives the new name."""

    def __init__(self, *words: Any, instead: str, **more: Any) -> None:
        super().__init__(*words, **more)
        self.help = SUPPRESS
        self.instead = instead

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Stores the value, or appends it where the default is a list."""
        deprecated(option_string or self.dest, self.instead)
        if isinstance(self.default, list):
            values = [*getattr(namespace, self.dest), values]
        setattr(namespace, self.dest, values)


def deprecated(old: str, instead: str) -> None:
    """Says that a spelling is old."""
    print(f"netspurt: {old} is deprecated: write {instead}", file=sys.stderr)


def add_json(command: ArgumentParser) -> None:
    """``--json``, which every command has."""
    command.add_argument("--json", action="store_true", help="one JSON document on standard output")


def add_input(
    command: ArgumentParser, name: str, metavar: str, words: str | None = None, **more: Any
) -> None:
    """A file or folder that the command reads: no output may be the same file."""
    command.add_argument(name, type=Source, metavar=metavar, help=words, **more)


def add_output(
    command: ArgumentParser, option: str, form: Form, metavar: str, words: str, default: str | None = None
) -> None:
    """A file or folder that the command writes; ``main`` checks it before the command begins."""
    make = partial(Destination, option=option, form=form)
    command.add_argument(
        *SHORT.get(option, ()), option, type=make, metavar=metavar, help=words, default=default
    )
    add_force(command)


def add_force(command: ArgumentParser) -> None:
    """``--force``, once, wherever something is written."""
    if "--force" not in command._option_string_actions:
        command.add_argument(
            "--force",
            action="store_true",
            help="replace existing files of any content (default: only earlier outputs of the same kind)",
        )


def add_settings(command: ArgumentParser) -> None:
    """``--set``: pairs of a path and a value."""
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        type=setting,
        metavar="PATH=VALUE",
        help="override a path of the scenario; a list index is a number; may be repeated",
    )


def add_algorithms(command: ArgumentParser) -> None:
    """``--algorithm``: classes of the user's own, by name."""
    command.add_argument(
        "--algorithm",
        action="append",
        default=[],
        dest="algorithms",
        type=algorithm,
        metavar="NAME=FILE.py:CLASS",
        help="a class that the scenario names python:NAME, from a file or MODULE:CLASS; may be repeated",
    )


def add_jobs(command: ArgumentParser, what: str = "simulations") -> None:
    """``--jobs``: how many of them at once."""
    command.add_argument(
        "-j",
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help=f"{what} at once (default: one for each processor)",
    )


def add_seed(command: ArgumentParser, words: str, default: int | None = 1) -> None:
    """``--seed``: of all random numbers."""
    command.add_argument("--seed", type=natural, default=default, metavar="N", help=words)


def add_seeds(command: ArgumentParser, words: str = "number of seeds, with a summary (default: 1)") -> None:
    """``--seeds``: how many."""
    command.add_argument("--seeds", type=positive, default=1, metavar="N", help=words)


def add_quiet(command: ArgumentParser) -> None:
    """``-q``: results alone."""
    command.add_argument("-q", "--quiet", action="store_true", help="print no remarks and no progress")


def add_records(command: ArgumentParser) -> None:
    """Files of recorded delays, and the seed of those that are made from a few numbers."""
    add_input(
        command,
        "files",
        nargs="+",
        metavar="FILE",
        words="CSV (time_s, delay_ms or rtt_ms, length_octets, host; empty: lost), Parquet, a capture "
        "(pcap or pcapng, also compressed), a trace of 'run', or a synthetic path (.toml)",
    )
    add_seed(command, "seed of synthetic paths (default: 1)")
