"""The command ``netspurt``: options in, an exit status out.

Lives here: the choice of a command, and what becomes of errors. Must not live here: any command's options, or work.

Exit status: 0 fine; 1 the work was done and something fell short; 2 the request was wrong, in one sentence;
130 interrupted, partial results kept. Nothing heavy is imported before a command is known, so that ``--help``
answers at once; that is also why this is argparse (15 ms to import) and not a richer library (130 ms).
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import shlex
import sys
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import NoReturn, cast

from netspurt.cli import progress, streams
from netspurt.cli.arguments import options
from netspurt.cli.commands import COMMANDS, GROUPS
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED, WRONG_REQUEST
from netspurt.cli.leaving import Leaving
from netspurt.cli.views import advice
from netspurt.errors import RequestError, nearest, reason, system_error
from netspurt.files.places import Places

Command = Callable[[argparse.Namespace], int]


KERNEL = ("emulate", "shell", "ping", "host")
"""Commands that need what only Linux's kernel has."""

DENIED = (errno.EACCES, errno.EPERM)


class Parser(argparse.ArgumentParser):
    """Says what was wrong in one sentence, where argparse prints a page of usage before it."""

    def error(self, message: str) -> NoReturn:
        """Raises what ``main`` turns into a sentence and an exit status."""
        raise RequestError(advice.refused(self, message))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuses unknown words here, where it is known which command they were typed after."""
        found, more = super().parse_known_args(args, namespace)
        if more:
            raise RequestError(advice.unknown(self, more))
        return found, more


class Version(argparse.Action):
    """Prints version and commit. The native module is loaded only for this option."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Ends the program, as argparse's own does."""
        from netspurt import version

        print(f"netspurt {version.full()}")
        parser.exit()


def parser(chosen: Collection[str] = ()) -> Parser:
    """All commands; those of ``chosen`` are loaded, with their options."""
    top = Parser(
        prog="netspurt",
        description="A TCP performance laboratory: why is this transfer slow, and what would change if …?",
        epilog="examples: netspurt why trace.pcapng; netspurt run --rate 10mbit --delay 40ms --bytes 20MB",
        formatter_class=options.Help,
        allow_abbrev=False,
    )
    top.add_argument("--version", action=Version, nargs=0, help="version and commit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    commands.tasks = GROUPS  # type: ignore[attr-defined]
    for name, entry in COMMANDS.items():
        command = options.add_command(commands, name, entry.words, entry.example, entry.more)
        if name in chosen:
            _module(name).declare(command)
    return top


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"netspurt.cli.commands.{COMMANDS[name].module or name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; errors become a sentence on standard error."""
    if arguments is not None:
        return _run(arguments)
    leaving = Leaving()
    leaving.status = _run(sys.argv[1:])
    return leaving.status


def _run(words: Sequence[str]) -> int:
    with streams.prepared():
        try:
            status = _command(list(words))
            sys.stdout.flush()
            return status
        except SystemExit:
            # argparse ends so after --help and --version.
            try:
                sys.stdout.flush()
            except streams.StandardOutputError as error:
                return _failed(error)
            raise
        except KeyboardInterrupt:
            print("netspurt: interrupted", file=sys.stderr)
            return INTERRUPTED
        except Exception as error:
            return _failed(error)


def _failed(error: Exception) -> int:
    """Turns an error into a sentence and an exit status; an error that is none of the user's is raised again."""
    if isinstance(error, streams.StandardOutputError):
        streams.discard()
        if isinstance(error.__cause__, BrokenPipeError):
            # The reader has seen enough.
            return FINE
        _complain(error)
        return FELL_SHORT
    sentence = _sentence(error)
    if sentence is None:
        raise error
    return _complain(sentence)


def _sentence(error: Exception) -> object | None:
    """What failed, where and why; None where the program is at fault."""
    # ScenarioError comes from the native module, which must not be imported just to name its type.
    if isinstance(error, RequestError) or type(error).__name__ == "ScenarioError":
        return error
    if isinstance(error, ImportError):
        if error.name == "netspurt._core":
            return "the native module is not built; run 'make reproduce', or 'maturin develop --release'"
        return None
    if isinstance(error, UnicodeDecodeError):
        return f"a file that was given as text is not UTF-8 ({error.reason}, byte {error.start}): convert it to UTF-8"
    if isinstance(error, UnicodeEncodeError):
        shown = error.object[error.start : error.end].encode("ascii", "backslashreplace").decode()
        return f"the characters '{shown}' cannot be encoded as {error.encoding}: use names without them"
    cause = error if isinstance(error, OSError) else system_error(error)
    if cause is None:
        return None
    if cause.filename is None:
        return f"the system refused a call: {error if cause.errno is None else reason(cause)}"
    advice = "; check the permissions of the file and of its folders" if cause.errno in DENIED else ""
    return f"cannot use {os.fsdecode(cause.filename)}: {reason(cause)}{advice}"


def _command(words: list[str]) -> int:
    words = advice.meant(words)
    asked = words[0] if words and not words[0].startswith("-") else None
    if asked is not None and asked not in COMMANDS:
        raise RequestError(f"there is no command '{asked}'{nearest(asked, COMMANDS)} (see 'netspurt --help')")
    program: list[str] = []
    line = shlex.join(["netspurt", *words])
    if asked in ("emulate", "shell") and "--" in words:
        split = words.index("--")
        words, program = words[:split], words[split + 1 :]
    top = parser((asked,) if asked else ())
    chosen = top.parse_args(words, argparse.Namespace(program=program, asked=line))
    if chosen.command is None:
        top.print_help()
        return FINE
    if sys.platform != "linux" and (asked in KERNEL or getattr(chosen, "sockets", False)):
        raise RequestError(
            f"netspurt {asked} needs Linux: use it there, or in a virtual machine or container; simulation and the "
            "analysis of captures work here"
        )
    progress.quiet = getattr(chosen, "quiet", False)
    chosen.places = Places(vars(chosen), force=getattr(chosen, "force", False))
    for _name, place in getattr(chosen, "algorithms", ()):
        chosen.places.read(place.rpartition(":")[0])
    command = cast("Command", _module(chosen.command).command)
    return command(chosen)


def _complain(error: object) -> int:
    # Where standard error cannot be written to, only the exit status reports the error.
    with contextlib.suppress(OSError):
        print(f"netspurt: {' '.join(str(error).split())}", file=sys.stderr)
    return WRONG_REQUEST


if __name__ == "__main__":
    sys.exit(main())
