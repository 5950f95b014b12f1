"""``netspurt emulate``: real programs with a simulated network between them."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from netspurt.cli import emulate_why
from netspurt.cli.exits import INTERRUPTED
from netspurt.cli.options import add_force, add_input, add_settings
from netspurt.errors import RequestError
from netspurt.files.places import CAPTURE, Destination
from netspurt.inputs.typed import capture_place, natural, positive, setting

if TYPE_CHECKING:
    from netspurt import _core

OUT, ERR = 1, 2
"""Standard output and standard error, as programs inherit them."""

LINKS = (
    *("link", "direction", "packets", "drops", "rate_asked", "rate_done", "delay_asked"),
    *("error_p50", "error_p99", "error_max", "late"),
)
HOSTS = ("host", "address", "sent", "received", "stray", "refused", "rejected", "status")


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    command.add_argument(
        "--json",
        action="store_true",
        help="one JSON document on standard output; what the programs print goes to standard error",
    )
    add_input(command, "scenario", "SCENARIO.toml")
    add_force(command)
    # What stands behind "--" is not for argparse, which would want it before all options: see _command.
    command.usage = "%(prog)s SCENARIO.toml [options] -- COMMAND…"
    command.add_argument(
        "--server",
        metavar="COMMAND",
        help="runs on the last host; the command behind -- begins when it listens, or after 5 s",
    )
    command.add_argument(
        "--on",
        action="append",
        nargs=2,
        default=[],
        metavar=("HOST", "COMMAND"),
        help="runs on this host, like a server, as often as wanted",
    )
    command.add_argument(
        "--client", metavar="HOST", help="where the command behind -- runs (default: the first host)"
    )
    add_settings(command)
    command.add_argument(
        "--seed", type=natural, default=1, metavar="N", help="of losses and so on (default: 1)"
    )
    command.add_argument(
        "--capture",
        action="append",
        default=[],
        type=_capture,
        metavar="NODE=FILE",
        help="capture what passes a host, or a router or hub between hosts, as pcapng, as often as wanted",
    )
    command.add_argument(
        "--why",
        action="store_true",
        help="say at the end what limited each connection of the programs, from the packets at every host",
    )
    command.add_argument(
        "--mtu",
        type=positive,
        default=1500,
        metavar="BYTES",
        help="the longest packet of every host (default: 1500)",
    )
    command.add_argument(
        "--congestion",
        metavar="NAME",
        help="congestion control of the kernel's TCP on every host, such as cubic (default: the system's)",
    )
    command.add_argument(
        "--initial-window",
        type=positive,
        metavar="SEGMENTS",
        help="initial window of the kernel's TCP on every host (default: 10)",
    )
    command.add_argument(
        "--sysctl",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="a setting of the kernel on every host, such as net.ipv4.tcp_ecn=1",
    )


def _capture(text: str) -> tuple[str, Destination]:
    host, file = capture_place(text)
    return host, Destination(file, "--capture", CAPTURE)


def command(options: argparse.Namespace) -> int:
    """Runs the commands and ends with the exit status of the one behind ``--``.

    What links and hosts did is printed on standard error, since standard output is the programs'. With ``--json`` it
    is the other way round: one document on standard output, and what the programs print on standard error.

    Raises:
        RequestError: no command, a host that is not there, no privileges, a program that does not exist.
        ScenarioError: the scenario is wrong.
    """
    if not options.program:
        raise RequestError("name the command to run behind '--', such as: -- curl http://server/")
    from netspurt import _core

    scenario = _core.Scenario.load(options.scenario, options.settings)
    hosts = scenario.hosts()
    beside = [(host, _words(text)) for host, text in options.on]
    if options.server is not None:
        beside.append((hosts[-1], _words(options.server)))
    with contextlib.ExitStack() as kept:
        places = kept.enter_context(emulate_why.places(hosts, options.capture)) if options.why else {}
        with _ends_by_signal(), _elsewhere() if options.json else contextlib.nullcontext():
            captures = [*options.capture, *emulate_why.missing(places, options.capture)]
            report = _run(scenario, (options.client or hosts[0], options.program), beside, options, captures)
        if options.why:
            report["why"] = emulate_why.connections(places)
    _print(report, options)
    if options.why and not options.json:
        emulate_why.show(report["why"])
    status: int | None = report["status"]
    return INTERRUPTED if status is None else status


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"'{text}' cannot be split into words: {str(error).lower()}") from None
    if not words:
        raise RequestError("a command has no words: name a program")
    return words


def _run(
    scenario: _core.Scenario,
    command: tuple[str, list[str]],
    beside: list[tuple[str, list[str]]],
    options: argparse.Namespace,
    captures: list[tuple[str, str]],
) -> dict[str, Any]:
    try:
        return scenario.emulate(
            command,
            beside,
            warn=_warn,
            seed=options.seed,
            mtu=options.mtu,
            congestion=options.congestion,
            initial_window=options.initial_window,
            sysctls=options.sysctl,
            captures=captures,
        )
    except OSError as error:
        raise RequestError(str(error)) from None


def _warn(sentence: str) -> None:
    print(f"netspurt: {sentence}", file=sys.stderr)


@contextlib.contextmanager
def _ends_by_signal() -> Iterator[None]:
    """A request to end is heard like Ctrl-C, so that nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Programs that are started here write to standard error what they would write to standard output."""
    sys.stdout.flush()
    kept = os.dup(OUT)
    os.dup2(ERR, OUT)
    try:
        yield
    finally:
        os.dup2(kept, OUT)
        os.close(kept)


def _print(report: dict[str, Any], options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(report))
        return
    from rich.console import Console

    from netspurt.cli import tables

    console = Console(stderr=True) if sys.stderr.isatty() else Console(stderr=True, width=tables.WIDE)
    title = f"emulated for {report['seconds']:.3f} s"
    if report["removed"]:
        title += f"; processes left by an earlier emulation and killed: {report['removed']}"
    if report["stolen_s"]:
        title += f"; processors taken away from this machine for {report['stolen_s']:.2f} s meanwhile"
    tables.show(console, title, [_link(row) for row in report["links"]], LINKS)
    tables.show(console, "", report["hosts"], HOSTS)


def _link(row: dict[str, Any]) -> dict[str, Any]:
    """A row with units that a reader takes in at a glance."""
    return row | {
        "rate_asked": _rate(row["rate_asked_bps"]),
        "rate_done": _rate(row["rate_done_bps"]),
        "delay_asked": f"{row['delay_asked_s'] * 1e3:g} ms",
        "error_p50": _error(row["delay_error_p50_s"]),
        "error_p99": _error(row["delay_error_p99_s"]),
        "error_max": _error(row["delay_error_max_s"]),
    }


def _rate(bps: float | None) -> str | None:
    return None if bps is None else f"{bps / 1e6:.4g} Mbit/s"


def _error(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds * 1e6:.0f} µs"
