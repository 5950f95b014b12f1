"""``netspurt why``: what limits TCP connections, and for how long."""

from __future__ import annotations

import argparse

from netspurt.cli import why_sockets
from netspurt.errors import RequestError


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    why_sockets.declare(command)


def command(options: argparse.Namespace) -> int:
    """Watches sockets.

    Raises:
        RequestError: nothing to look at was named, or what ``why_sockets.watch`` raises.
    """
    if not options.sockets:
        raise RequestError("name what to look at: --sockets for the TCP sockets of this host")
    return why_sockets.watch(options)
