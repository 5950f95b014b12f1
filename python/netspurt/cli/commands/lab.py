"""``netspurt lab``: a page to play with."""

from __future__ import annotations

import argparse
from pathlib import Path

from netspurt.cli.exits import FINE
from netspurt.cli.options import add_json
from netspurt.errors import RequestError
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.scenario_file import check_scenario_file


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="scenarios (.toml), offered first, beside the examples and the studies' scenarios; or captures (pcap or "
        "pcapng, uncompressed, gzip or zstd): the page opens on the diagnosis of the first",
    )
    command.add_argument(
        "--port", type=_port, metavar="N", help="0 is any that is free (default: 8421, or any)"
    )
    command.add_argument("--no-browser", action="store_true", help="only print the page's address")


def command(options: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C.

    Raises:
        RequestError: a file that is not there, a port that cannot be had, or libraries that are missing.
    """
    files = [Path(name) for name in options.files]
    captures = [path for path in files if path.is_file() and kind_of(path) is Kind.CAPTURE]
    own = [path for path in files if path not in captures]
    for path in own:
        check_scenario_file(path)
    try:
        from netspurt.lab import server
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise RequestError(
            f"the lab needs {error.name}, which is not installed: pip install 'netspurt[lab]'"
        ) from error

    def ready(address: str) -> None:
        if options.json:
            import json

            print(json.dumps({"address": address}), flush=True)
        else:
            print(f"The lab is at {address}\nIt answers only to this machine. Ctrl-C ends it.", flush=True)
        if not options.no_browser and not options.json:
            import webbrowser

            webbrowser.open(address)

    with server.bind(options.port) as sock:
        server.serve(own, sock, ready, captures)
    return FINE


def _port(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port from 0 to 65535")
    return value
