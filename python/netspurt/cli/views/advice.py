"""What to do next, for requests that the parser of options refuses.

Lives here: the nearest known option or choice, and the command whose help lists them. Must not live here: parsing, or
messages about files (``inputs.kind``).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from netspurt.errors import nearest

CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)$", re.DOTALL)

ALIASES = {"help": "--help", "version": "--version"}
"""Words that people type as commands, and the option that does what they mean."""


def meant(words: list[str]) -> list[str]:
    """The words of a command line, with ``help`` and ``version`` as the options that they mean."""
    if not words or words[0] not in ALIASES:
        return words
    option = ALIASES[words[0]]
    return [*words[1:], option] if option == "--help" else [option]


def refused(parser: argparse.ArgumentParser, message: str) -> str:
    """The message of a parser with a choice that is near, or an example where something is missing."""
    if found := CHOICE.search(message):
        known = re.findall(r"'([^']*)'|([^\s,']+)", found["known"])
        names = [quoted or bare for quoted, bare in known]
        message = f"{message[: found.start()]}unknown '{found['given']}'{nearest(found['given'], names)}"
        message += f" (known: {', '.join(names)})"
    example = (parser.epilog or "").partition("example: ")[2].partition(";")[0]
    if "the following arguments are required" in message and example:
        return f"{message}, such as: {example} (see '{parser.prog} --help')"
    return f"{message} (see '{parser.prog} --help')"


def unknown(command: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """The words that a command has no use for, with the options that are near."""
    known = [option for option in command._option_string_actions if option.startswith("--")]
    options = [word for word in words if word.startswith("-") and word != "-"]
    if not options:
        hint = "; put the command to run behind '--'" if command.prog.endswith((" emulate", " shell")) else ""
        return f"unexpected: {' '.join(words)}{hint} (see '{command.prog} --help')"
    name = options[0].partition("=")[0]
    return f"there is no option {name}{nearest(name, known)} (see '{command.prog} --help')"
