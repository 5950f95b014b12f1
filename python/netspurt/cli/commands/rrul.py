"""``netspurt rrul``: latency while downloads and uploads fill a path."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.analysis import formats
from netspurt.cli.arguments import path_options, picture_options, under_load
from netspurt.cli.arguments.options import add_json, add_output, add_settings
from netspurt.cli.exits import FINE
from netspurt.cli.views import tables
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.inputs.typed import natural

if TYPE_CHECKING:
    from rich.table import Table

    from netspurt.underload import Latency, UnderLoad

PAPER = (".svg", ".pdf", ".png")


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    path_options.add_scenario(command, flow=False)
    add_settings(command)
    command.add_argument("--seed", type=natural, default=1, metavar="N", help="seed of the run (default: 1)")
    for side, which in (("client", "downloads and uploads"), ("server", "is at the other end")):
        command.add_argument(
            f"--{side}",
            metavar="HOST",
            help=f"the host that {which} (default: the flows' ends, or the outermost)",
        )
    under_load.add_parallel(command, 4, "transfers each way")
    under_load.add_duration(command, 30.0, "length of the load")
    command.add_argument(
        "--diffserv",
        action="store_true",
        help="mark the transfers as CS0, CS1, CS5 and EF in turn, as RRUL does (default: all best effort)",
    )
    command.add_argument(
        "--profile",
        dest="tcp_profile",
        metavar="NAME",
        help=f"TCP profile (default: the file's, or {under_load.PROFILE})",
    )
    add_output(
        command, "--out", places.DRAWN, "FILE", "a picture (.svg, .pdf, .png) of throughput and latency"
    )
    picture_options.report(command)


def command(options: argparse.Namespace) -> int:
    """Runs the test and prints a table.

    Raises:
        RequestError: no path, an unknown host, or a place that cannot be written to.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.underload import Test, rrul

    if options.out and Path(options.out).suffix not in PAPER:
        raise RequestError(f"--out {options.out}: end the name in {', '.join(PAPER)}")
    scenario = under_load.load(options, options.tcp_profile)
    test = Test(
        client=options.client,
        server=options.server,
        streams=options.connections,
        load_s=options.duration_s,
        diffserv=options.diffserv,
    )
    drawn = bool(options.out or options.report)
    found = rrul(scenario, test, options.seed, ("segments", "arrivals") if drawn else ())
    if drawn:
        _draw(options, found)
    if options.json:
        print(json.dumps(found.document()))
    else:
        _print(found)
    return FINE


def _draw(options: argparse.Namespace, found: UnderLoad) -> None:
    from netspurt.plot.drawing import draw_column
    from netspurt.plot.files import save
    from netspurt.plot.runs.under_load import under_load_charts

    charts = under_load_charts(found)
    if options.out:
        save(draw_column(charts), Path(options.out))
    if options.report:
        from netspurt.report.page import write
        from netspurt.report.rrul import page_of

        with output.file(Path(options.report)) as stage:
            write(stage, page_of(found, charts, options.asked))


def _print(found: UnderLoad) -> None:
    console = tables.console()
    test = found.test
    many = formats.counted(test.streams, "transfer")
    console.print(
        f"{test.client} and {test.server}: {many} each way for {test.load_s:g} s, seed {found.result.seed}, "
        f"digest {found.result.digest}",
        highlight=False,
    )
    console.print(_rates(found))
    console.print(_latencies(found))
    console.print(verdict(found), highlight=False, soft_wrap=True)


def _rates(found: UnderLoad) -> Table:
    from rich.table import Table

    table = Table("", "goodput", box=None, header_style="bold", pad_edge=False)
    for name, rate in (("download", found.download_bps), ("upload", found.upload_bps)):
        table.add_row(name, formats.rate(rate))
    return table


def _latencies(found: UnderLoad) -> Table:
    from rich.table import Table

    heads = ("round trip", "mean", "median", "p95", "p99", "longest", "per minute")
    table = Table(*heads, box=None, header_style="bold", pad_edge=False)
    for name, each in (("idle", found.idle), ("under load", found.loaded)):
        table.add_row(name, *_cells(each))
    return table


def _cells(latency: Latency) -> list[str]:
    values = (latency.mean_s, latency.p50_s, latency.p95_s, latency.p99_s, latency.most_s)
    per_minute = "–" if latency.per_minute is None else formats.count(round(latency.per_minute))
    return [*(formats.span(value) for value in values), per_minute]


def verdict(found: UnderLoad) -> str:
    """What the load does to the latency, and where packets wait, in a sentence or two."""
    if found.added_s is None:
        return "The probe had no round trip before or during the load: the path may be down, or too slow for the time."
    added = f"The load adds {formats.span(max(found.added_s, 0.0))} to the median round trip."
    queue = found.longest_queue
    if queue is None:
        return added
    where = f"{queue['link']}, {formats.arrows(queue['direction'])}"
    return f"{added} The longest queue is at {where}: {queue['queue_mean_packets']:.3g} packets on average."
