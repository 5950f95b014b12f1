"""Running an emulation for a command: options of the kernel, signals, standard output, and the tables at the end.

Lives here: what ``emulate`` and ``shell`` share. Must not live here: their options about what runs where.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.arguments.options import add_settings
from netspurt.emulation.shells import PATH, environment, is_shell
from netspurt.errors import native
from netspurt.files.places import CAPTURE, Destination
from netspurt.inputs.typed import capture_place, natural, positive, setting

if TYPE_CHECKING:
    from netspurt import _core

OUT, ERR = 1, 2
"""Standard output and standard error, as programs inherit them."""

LINKS = (
    *("link", "direction", "packets", "drops", "rate", "reached", "delay", "late by", "99 %", "at most"),
    "late",
)
HOSTS = ("host", "address", "congestion control", "sent", "received", "status")
TROUBLES = ("stray", "refused", "rejected")
"""Counters of hosts that are shown where one of them is not zero."""


def add_emulation(command: argparse.ArgumentParser) -> None:
    """``--json``, ``--set``, ``--seed``, and settings of the hosts' kernels."""
    command.add_argument(
        "--json",
        action="store_true",
        help="one JSON document on standard output; what the programs print goes to standard error",
    )
    add_settings(command)
    command.add_argument(
        "--seed", type=natural, default=1, metavar="N", help="seed of random losses and delays (default: 1)"
    )
    command.add_argument(
        "--capture",
        action="append",
        default=[],
        type=_capture,
        metavar="PLACE=FILE",
        help="capture packets at a host, router or hub (NODE), or on the wire at one end of a link (LINK@NODE), to a "
        "pcapng FILE; may be repeated",
    )
    command.add_argument(
        "--mtu",
        type=positive,
        default=1500,
        metavar="BYTES",
        help="the MTU of every host (default: 1500)",
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


def run(
    scenario: _core.Scenario,
    command: tuple[str, list[str]],
    beside: list[tuple[str, list[str]]],
    options: argparse.Namespace,
    outside: tuple[str, str, int, str] | None = None,
    captures: list[tuple[str, str]] | None = None,
    interval_s: float = 0.0,
) -> dict[str, Any]:
    """Runs the command on its host, and others on other hosts; returns what links and hosts did.

    ``captures`` are in place of those that the options ask for. With an interval, what the links do is printed to
    standard error at its end.

    Raises:
        RequestError: no privilege, or a capture that cannot be written.
        ScenarioError: a host that is not there, or a program that does not exist.
    """
    try:
        return scenario.emulate(
            command,
            beside,
            # A path without a rate is to be as fast as it can.
            warn=_silent if options.quiet or (options.scenario is None and options.rate is None) else _warn,
            see=(interval_s, _print_interval) if interval_s else None,
            seed=options.seed,
            mtu=options.mtu,
            congestion=options.congestion,
            initial_window=options.initial_window,
            sysctls=options.sysctl,
            captures=options.capture if captures is None else captures,
            outside=outside,
        )
    except OSError as error:
        raise native(error) from None


def _silent(_sentence: str) -> None:
    pass


def _print_interval(at_s: float, links: list[dict[str, Any]]) -> None:
    print(interval_line(at_s, links), file=sys.stderr)


def _warn(sentence: str) -> None:
    print(f"netspurt: {sentence}", file=sys.stderr)


@contextlib.contextmanager
def programs(program: list[str], path: str, *, as_json: bool) -> Iterator[None]:
    """Around a run: signals end it in good order, and standard output is the programs', or the document's alone.

    The prompt of a shell says on which path it is.
    """
    before = dict(os.environ)
    os.environ.update(environment(path, before) if is_shell(program) else {})
    try:
        with _ends_by_signal(), _elsewhere() if as_json else contextlib.nullcontext():
            yield
    finally:
        for name in (PATH, "PROMPT_COMMAND", "PS1"):
            os.environ.pop(name, None)
        os.environ.update(before)


@contextlib.contextmanager
def _ends_by_signal() -> Iterator[None]:
    """Handles SIGTERM like Ctrl-C, so that namespaces and devices are removed."""
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


def show(report: dict[str, Any], options: argparse.Namespace) -> None:
    """Prints what links and hosts did, on standard error; with ``--json`` on standard output."""
    if options.json:
        print(json.dumps(report))
        return
    from rich.console import Console

    from netspurt.cli.views import tables

    console = Console(stderr=True) if sys.stderr.isatty() else Console(stderr=True, width=tables.WIDE)
    title = f"emulated for {report['seconds']:.3f} s"
    if report["removed"]:
        title += f"; processes left by an earlier emulation and killed: {report['removed']}"
    if report["stolen_s"]:
        title += f"; CPU steal time: {report['stolen_s']:.2f} s"
    tables.show(console, title, [_link(row) for row in report["links"]], LINKS)
    troubles = [name for name in TROUBLES if any(row[name] for row in report["hosts"])]
    tables.show(console, "", [_host(row) for row in report["hosts"]], (*HOSTS[:-1], *troubles, HOSTS[-1]))


def _link(row: dict[str, Any]) -> dict[str, Any]:
    """A row for readers; the median of the delay error stands before its other quantiles."""
    return row | {
        "rate": None if row["rate_asked_bps"] is None else formats.rate(row["rate_asked_bps"]),
        "reached": formats.rate(row["rate_done_bps"]),
        "delay": formats.span(row["delay_asked_s"]),
        "late by": formats.span(row["delay_error_p50_s"]),
        "99 %": formats.span(row["delay_error_p99_s"]),
        "at most": formats.span(row["delay_error_max_s"]),
    }


def _host(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"congestion control": ", ".join(row["congestion"]) or None}


def interval_line(at_s: float, links: list[dict[str, Any]]) -> str:
    """What the links did in an interval that ends ``at_s`` seconds after the start, in one line."""
    parts = []
    for row in links:
        waiting = row["queue_packets"]
        words = f"{formats.rate(row['rate_bps'])}, {formats.counted(waiting, 'packet')} queued"
        lost = f", {row['drops']} dropped" if row["drops"] else ""
        parts.append(f"{row['link']} {formats.arrows(row['direction'])} {words}{lost}")
    return f"{at_s:7.2f} s  " + "; ".join(parts)
