"""``netspurt ping``: probes hosts with ICMP echo."""

from __future__ import annotations

import argparse
import contextlib
import json
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.cli import tables
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.interrupt import asked_to_end
from netspurt.cli.options import add_json
from netspurt.errors import RequestError
from netspurt.inputs.typed import lengths, natural, pace, positive, seconds

if TYPE_CHECKING:
    from netspurt.cli.prober_view import View
    from netspurt.files.growing import GrowingParquet
    from netspurt.probing.prober import Host, Pace, Probing, Sums

PATIENCE_S = 0.2
"""How long it may take until Ctrl-C is heard."""

BATCH_S = 0.05
"""What comes within this time is taken together, so that a thousand replies a second are twenty tables."""

COLUMNS = ("host", "address", "packets", "replies", "unanswered", "why", "duplicate", "late")
TIMES = ("min_ms", "mean_ms", "cov", "p50_ms", "p95_ms", "max_ms")


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument("hosts", nargs="+", metavar="HOST", help="names or addresses, asked side by side")
    command.add_argument("--count", type=positive, metavar="N", help="packets to each host (default: no end)")
    command.add_argument(
        "--length",
        type=lengths,
        default=("listed", [84]),
        metavar="OCTETS",
        help="of packets with IP header: one length (default: 84), several (40,125,256) in turn, or any of a "
        "range (40..256); at least 40 in IPv4 and 60 in IPv6",
    )
    command.add_argument(
        "--interval",
        type=pace,
        default=("every", [1.0]),
        metavar="TIME",
        help="between packets to a host: fixed (default: 1s), any of a range (0.1..0.5s), or 'reply': the next when "
        "all hosts have answered the last",
    )
    command.add_argument(
        "--timeout",
        type=seconds,
        default=30.0,
        metavar="TIME",
        help="lost after this long (default: 30s)",
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
        "--seed", type=natural, metavar="N", help="of random lengths and intervals (default: any)"
    )
    command.add_argument(
        "--out",
        metavar="FILE.parquet",
        help="every packet; the file is whole at any moment, up to the last second",
    )


def command(options: argparse.Namespace) -> int:
    """Probes until so many packets are over or Ctrl-C, then prints a summary.

    A host that cannot be found, or whose family has no socket here, is named on standard error and the others are
    probed; the exit status is 1 then, or if a host never answers.

    Raises:
        RequestError: nobody can be probed, or not so; or a place that cannot be written to.
    """
    from netspurt.files.growing import GrowingParquet
    from netspurt.probing.prober import SCHEMA, Probing, Sums

    hosts, complaints = _resolve(options)
    if not hosts:
        raise RequestError(complaints[0])
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(GrowingParquet(Path(options.out), SCHEMA)) if options.out else None
        probing = Probing(
            hosts,
            options.length,
            _pace(options),
            speed="fast" if options.fast else "gentle",
            count=options.count,
            lost_after_s=options.timeout,
            seed=secrets.randbits(63) if options.seed is None else options.seed,
        )
        stack.enter_context(probing)
        left_out = probing.left_out()
        complaints += left_out.values()
        for complaint in complaints:
            print(f"netspurt: {complaint}", file=sys.stderr)
        sums = Sums([host for host in hosts if host not in left_out])
        ended = _follow(probing, sums, file, options)
    _print(options, probing, sums, complaints, ended)
    if ended == "interrupted":
        return INTERRUPTED
    return FELL_SHORT if complaints or any(each.events["reply"] == 0 for each in sums.hosts) else FINE


def _pace(options: argparse.Namespace) -> Pace:
    """As asked for; a volley that waits for replies only waits no less than any other may."""
    kind, times = options.interval
    return (kind, times) if kind != "replies" else (kind, [1e-3 if options.fast else 0.1])


def _resolve(options: argparse.Namespace) -> tuple[list[Host], list[str]]:
    from netspurt.probing.prober import resolve

    hosts: list[Host] = []
    complaints: list[str] = []
    for name in options.hosts:
        try:
            hosts.append(resolve(name, options.family))
        except RequestError as error:
            complaints.append(str(error))
    return hosts, complaints


def _follow(probing: Probing, sums: Sums, file: GrowingParquet | None, options: argparse.Namespace) -> str:
    """Takes in what is found until it is over; returns how it ended."""
    with asked_to_end() as asked, _view(sums, options) as view:
        going = True
        while going:
            going = probing.wait(PATIENCE_S) and not asked.is_set()
            if going:
                time.sleep(BATCH_S)
            else:
                probing.stop()
            rows = probing.take()
            if file is not None:
                file.write(rows)
            sums.add(rows)
            view.update(rows, sums)
        return "interrupted" if asked.is_set() else "complete"


@contextlib.contextmanager
def _view(sums: Sums, options: argparse.Namespace) -> Iterator[View]:
    """A picture where somebody watches; else lines, but nothing beside a JSON document."""
    from netspurt.cli import prober_view

    # The picture goes where progress goes, so that results alone can be piped; without a pipe lines would be in its
    # way.
    if sys.stderr.isatty() and (options.json or sys.stdout.isatty()):
        from rich.console import Console

        with prober_view.on_terminal(sums, Console(stderr=True)) as view:
            yield view
    else:
        yield prober_view.Silent() if options.json else prober_view.Lines()


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
    rows: list[dict[str, Any]] = [summary | {"why": _why(summary)} for summary in summaries]
    tables.show(console, "", rows, (*COLUMNS, *TIMES))
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
