"""Options of pictures and reports, for every command that makes some.

Lives here: names, words and values of options. Must not live here: any heavy import, as every command loads this.
"""

from __future__ import annotations

from argparse import ArgumentParser

from netspurt.cli.arguments import path_options
from netspurt.cli.arguments.options import add_input, add_output
from netspurt.files import places
from netspurt.inputs import typed

PICTURES = {
    "time-sequence": "segments, retransmissions with their reasons, ACK, SACK, NAK and window lines (runs, captures)",
    "windows": "cwnd, ssthresh, in flight, receiver's window (of captures: the last two)",
    "cwnds": "cwnd of all flows (runs)",
    "round-trips": "round-trip times, smoothed, and the timeout (of captures: the first)",
    "queues": "packets waiting at links, and drops by cause (runs)",
    "throughput": "bits a second of each flow that arrived (of captures: that were acknowledged) (runs, captures)",
    "limits": "what limits one flow at each instant (scenarios, captures)",
    "distribution": "of round-trip times (runs, captures), or of --quantity (sweeps)",
    "curves": "means over seeds against a path, with intervals (sweeps)",
    "heat-map": "means over seeds over two paths (sweeps)",
}


def plot(command: ArgumentParser) -> None:
    """Of ``netspurt plot``."""
    add_input(
        command,
        "what",
        metavar="WHAT",
        nargs="?",
        words="a scenario (.toml, run now), a folder of 'run --out' or of 'sweep', a trace (.parquet), or a capture; "
        "or describe a path with --rate and --delay",
    )
    path_options.add_path(command)
    command.add_argument(
        "--picture",
        choices=tuple(PICTURES),
        metavar="NAME",
        help="; ".join(f"{name}: {words}" for name, words in PICTURES.items())
        + " (default: time-sequence, of a sweep curves)",
    )
    add_output(
        command,
        "--out",
        places.DRAWN,
        metavar="FILE",
        words="a picture (.svg, .pdf, .png) or its data (.csv, .parquet) (default: WHAT-NAME.svg, here)",
    )
    command.add_argument(
        "--flow", metavar="NAME", help="which flow (default: the one that sends most; of a sweep: all)"
    )
    command.add_argument(
        "--connection",
        type=typed.natural,
        metavar="N",
        help="which connection of a capture, as 'netspurt why' numbers them; with --picture limits of a scenario too "
        "(default: the one that sends most; of limits: that lost most time)",
    )
    command.add_argument(
        "--link", metavar="NAME", help="which link's queue (default: the longest ones; of a sweep: all)"
    )
    for name, which in (("begin", "first"), ("end", "last")):
        command.add_argument(
            f"--{name}", type=typed.moment, metavar="TIME", help=f"the {which} time that is shown"
        )
    command.add_argument(
        "--quantity",
        metavar="COLUMN",
        help="the column of flows or links of a sweep (default: goodput_bps)",
    )
    for name, which in (("x", "to the right"), ("y", "upwards in a heat map")):
        command.add_argument(f"--{name}", metavar="PATH", help=f"of a sweep: which path runs {which}")
    command.add_argument(
        "--where",
        action="append",
        default=[],
        type=typed.setting,
        metavar="PATH=VALUE",
        help="only the points of a sweep with this value; may be repeated",
    )
    command.add_argument(
        "--seed",
        type=typed.natural,
        metavar="N",
        help="seed of a scenario (default: 1), or of the run in a folder (default: the first)",
    )


def report(command: ArgumentParser) -> None:
    """Of commands that can leave a report."""
    add_output(
        command,
        "--report",
        places.REPORT,
        metavar="FILE.html",
        words="write a page with tables, pictures that zoom, and their data",
    )
