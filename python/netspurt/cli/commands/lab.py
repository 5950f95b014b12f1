"""``netspurt lab``: a page to play with."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.cli.arguments import path_options
from netspurt.cli.arguments.options import add_json
from netspurt.cli.exits import FINE
from netspurt.errors import RequestError
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.paths import one_path
from netspurt.inputs.scenario_file import check_scenario_file

if TYPE_CHECKING:
    from netspurt.lab.shelf import Described


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
        "--port",
        type=_port,
        metavar="N",
        help="port of the page; 0 chooses a free one (default: 8421, or a free one)",
    )
    command.add_argument("--no-browser", action="store_true", help="only print the page's address")
    path_options.add_values(command)


def command(options: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C.

    Raises:
        RequestError: a file that is not there, a path option that is wrong, a port that cannot be had, or missing
            libraries.
        ScenarioError: the path that the options describe is wrong.
    """
    described = _described(options)
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
        server.serve(own, sock, ready, captures, described)
    return FINE


def _described(options: argparse.Namespace) -> Described | None:
    """The scenario that the path options describe."""
    path = one_path.of_options(vars(options))
    if not path.given:
        return None
    if path.path is None and path.rate is None and path.delay is None:
        raise RequestError(
            f"{path.given[0]} needs a path: add --rate and --delay, or --path NAME; in the page, each value of a "
            "file has its control"
        )
    path.scenario()
    from netspurt.lab.shelf import Described

    return Described(path.words, path.text(), tuple(path.options))


def _port(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port from 0 to 65535")
    return value
