"""``netspurt host`` behind a path: our TCP at one end, this machine's own network at the other.

Lives here: which end, and the command that runs there. Must not live here: the host itself (``commands.host``).
"""

from __future__ import annotations

import argparse
import shlex
import sys

from netspurt.cli import emulating
from netspurt.cli.exits import INTERRUPTED
from netspurt.errors import RequestError
from netspurt.inputs.paths import one_path


def run(path: one_path.OnePath, options: argparse.Namespace) -> int:
    """Runs the same command without the path's options on a host of an emulation, as a guest of that host.

    A host that opens connections is the path's client, and one that waits for them its server.

    Returns:
        The exit status of the host.

    Raises:
        RequestError: no privilege, an address that the path gives, or a value of an option is wrong.
    """
    from netspurt.emulation.outside import joined

    if options.addresses:
        raise RequestError(
            "--address: behind a path the host gets an address of the path; leave the option out"
        )
    if not path.is_path:
        raise RequestError(f"{path.given[0]} needs a path: add --rate 10mbit --delay 40ms, or --path NAME")
    scenario = path.scenario(flow=False)
    opens = getattr(options, "remote", None) is not None
    own, other = (one_path.CLIENT, one_path.SERVER) if opens else (one_path.SERVER, one_path.CLIENT)
    words = [sys.executable, "-m", "netspurt", *without_path(shlex.split(options.asked)[1:])]
    with joined(other) as outside, emulating.programs(words, path.words, as_json=False):
        if not options.quiet:
            for doubt in outside.doubts:
                print(f"netspurt: {doubt}", file=sys.stderr)
            place = "this machine is 'server'" if opens else "this machine is the client"
            print(f"netspurt: a path of {path.words} lies before this host; {place}", file=sys.stderr)
        try:
            report = scenario.emulate(
                (own, words),
                [(other, [])],
                warn=lambda sentence: print(f"netspurt: {sentence}", file=sys.stderr),
                mtu=options.mtu,
                outside=outside.for_emulator(),
            )
        except OSError as error:
            raise RequestError(str(error)) from None
    status: int | None = report["status"]
    return INTERRUPTED if status is None else status


def without_path(words: list[str]) -> list[str]:
    """The words of a command line without the options of the path and their values."""
    kept: list[str] = []
    is_value = False
    for word in words:
        option, equals, _ = word.partition("=")
        if is_value:
            is_value = False
        elif option.removeprefix("--") in one_path.NETWORK and option.startswith("--"):
            is_value = not equals
        else:
            kept.append(word)
    return kept
