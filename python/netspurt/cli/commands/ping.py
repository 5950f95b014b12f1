"""``netspurt ping``: probes hosts with ICMP echo."""

from __future__ import annotations

import argparse
import contextlib
import json
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netspurt.analysis import formats
from netspurt.cli.arguments.options import add_json, add_output
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.interrupt import asked_to_end
from netspurt.cli.views import tables
from netspurt.errors import RequestError
from netspurt.files import places
from netspurt.inputs.typed import LONGEST_PACKET, lengths, natural, pace, positive, seconds

if TYPE_CHECKING:
    from netspurt.cli.views.prober_view import View
    from netspurt.probing.loop import Loop
    from netspurt.probing.prober import Lengths, Probing
    from netspurt.probing.sums import Sums

TIMEOUT_S = 30.0

ICMP, IPV4, IPV6 = 8, 20, 40
"""Lengths of headers in bytes."""

COLUMNS = ("host", "address", "packets", "replies", "unanswered", "why", "duplicate", "late")
TIMES = {"least RTT": "min_ms", "mean": "mean_ms", "median": "p50_ms", "95 %": "p95_ms", "longest": "max_ms"}
"""Headings of the table, and the columns of the summary under them."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument(
        "hosts", nargs="+", metavar="HOST", help="names or addresses, probed at the same time"
    )
    command.add_argument(
        "-c", "--count", type=positive, metavar="N", help="packets to each host (default: no end)"
    )
    command.add_argument(
        "--length",
        type=lengths,
        default=("listed", [84]),
        metavar="BYTES",
        help="of packets with IP header: one length (default: 84), several (40,125,256) in turn, or any of a "
        "range (40..256); at least 40 in IPv4 and 60 in IPv6",
    )
    command.add_argument(
        "-s",
        dest="payload",
        type=natural,
        metavar="BYTES",
        help="of data in a packet, as in other pings: --length is 28 more, with -6 48 more",
    )
    command.add_argument(
        "-i",
        "--interval",
        type=pace,
        default=("every", [1.0]),
        metavar="TIME",
        help="time between packets to a host: fixed (default: 1s), of a range (0.1..0.5s), or 'reply': the next when "
        "all hosts have answered the last",
    )
    command.add_argument(
        "-W",
        "--timeout",
        type=seconds,
        metavar="TIME",
        help="lost after this long (default: 30s, and after the last packet two of the longest round-trip times)",
    )
    command.add_argument(
        "--fast", action="store_true", help="allow more than 10 packets a second to a host (1000 at most)"
    )
    family = command.add_mutually_exclusive_group()
    for option, name, words in (("-4", "ipv4", "IPv4"), ("-6", "ipv6", "IPv6")):
        family.add_argument(
            option, dest="family", action="store_const", const=name, default="any", help=f"over {words} only"
        )
    command.add_argument(
        "--seed", type=natural, metavar="N", help="seed of random lengths and intervals (default: any)"
    )
    command.add_argument("-q", "--quiet", action="store_true", help="print only the summary")
    add_output(
        command,
        "--out",
        places.PROBE,
        metavar="FILE.parquet",
        words="write every packet; the file is whole at any moment, up to the last second",
    )


def command(options: argparse.Namespace) -> int:
    """Probes until so many packets are over or Ctrl-C, then prints a summary.

    A host that cannot be found, or whose family has no socket here, is named on standard error and the others are
    probed; the exit status is 1 then, or if a host never answers.

    Raises:
        RequestError: no host can be probed, an option is wrong, or a file cannot be written.
    """
    from netspurt.files.growing import GrowingParquet
    from netspurt.probing.loop import Loop, bounded
    from netspurt.probing.prober import SCHEMA, Probing, resolve_all

    hosts, complaints = resolve_all(options.hosts, options.family)
    speed: Literal["gentle", "fast"] = "fast" if options.fast else "gentle"
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(GrowingParquet(Path(options.out), SCHEMA)) if options.out else None
        probing = Probing(
            hosts,
            _lengths(options),
            bounded(options.interval, speed),
            speed=speed,
            count=options.count,
            lost_after_s=TIMEOUT_S if options.timeout is None else options.timeout,
            hasty_end=options.timeout is None,
            seed=secrets.randbits(63) if options.seed is None else options.seed,
        )
        stack.enter_context(probing)
        loop = Loop(probing, file)
        complaints += loop.complaints
        for complaint in complaints:
            print(f"netspurt: {complaint}", file=sys.stderr)
        ended = _follow(probing, loop, options)
    _print(options, probing, loop.sums, complaints, ended)
    if ended == "interrupted":
        return INTERRUPTED
    return FELL_SHORT if complaints or any(each.events["reply"] == 0 for each in loop.sums.hosts) else FINE


def _lengths(options: argparse.Namespace) -> Lengths:
    """The lengths of packets, with their headers."""
    if options.payload is None:
        length: Lengths = options.length
        return length
    whole = options.payload + ICMP + (IPV6 if options.family == "ipv6" else IPV4)
    if whole > LONGEST_PACKET:
        raise RequestError(
            f"-s {options.payload}: a packet has at most {LONGEST_PACKET} bytes with its headers"
        )
    return "listed", [whole]


def _follow(probing: Probing, loop: Loop, options: argparse.Namespace) -> str:
    """Processes the results until the end. Returns how it ended."""
    with asked_to_end() as asked, _view(loop.sums, options) as view:
        going = True
        while going:
            going = loop.wait() and not asked.is_set()
            if not going:
                probing.stop()
            view.update(loop.take(), loop.sums)
        return "interrupted" if asked.is_set() else "complete"


@contextlib.contextmanager
def _view(sums: Sums, options: argparse.Namespace) -> Iterator[View]:
    """A picture on a terminal, lines elsewhere, and nothing beside a JSON document."""
    from netspurt.cli.views import prober_view

    # The picture goes where progress goes, so that results alone can be piped; without a pipe lines would be in its
    # way.
    if not options.quiet and sys.stderr.isatty() and (options.json or sys.stdout.isatty()):
        from rich.console import Console

        with prober_view.on_terminal(sums, Console(stderr=True)) as view:
            yield view
    else:
        yield prober_view.Silent() if options.json or options.quiet else prober_view.Lines()


def _delays(summary: dict[str, Any]) -> dict[str, str]:
    """The delays with units, and their coefficient of variation."""
    spans = {head: None if summary[name] is None else summary[name] / 1e3 for head, name in TIMES.items()}
    texts = {head: formats.span(span) for head, span in spans.items()}
    return texts | {"CoV": formats.number(summary["cov"], 3)}


def _print(
    options: argparse.Namespace, probing: Probing, sums: Sums, complaints: list[str], ended: str
) -> None:
    summaries = [each.summary() for each in sums.hosts]
    if options.json:
        document = {
            "ended": ended,
            "sockets": probing.sockets(),
            **probing.counts,
            "hosts": summaries,
            "file": options.out,
            "errors": complaints,
        }
        print(json.dumps(document))
        return
    console = tables.console()
    rows = [summary | _delays(summary) | {"why": _why(summary)} for summary in summaries]
    tables.show(console, "", rows, (*COLUMNS, *TIMES, "CoV"))
    counts = probing.counts
    for name, words in (
        ("waiting", "still on their way when it ended"),
        ("altered", "answers that were altered on the way or made up"),
        ("dropped", "not recorded, because this machine could not keep up"),
    ):
        if counts[name]:
            console.print(f"{counts[name]} {words}", highlight=False)
    if options.out:
        console.print(f"written to {options.out}", highlight=False, soft_wrap=True)


def _why(summary: dict[str, Any]) -> dict[str, int]:
    """What became of packets that were not answered."""
    fates = ("lost", "unreachable", "time_exceeded", "other_error", "send_failed")
    return {fate.replace("_", " "): summary[fate] for fate in fates}
