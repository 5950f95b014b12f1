"""``netspurt responsiveness``: round trips per minute under working conditions, simulated or against a server."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.analysis import formats
from netspurt.cli.arguments import path_options, under_load
from netspurt.cli.arguments.options import add_json, add_settings
from netspurt.cli.exits import FINE
from netspurt.cli.interrupt import asked_to_end
from netspurt.cli.views import tables
from netspurt.errors import RequestError
from netspurt.inputs.typed import natural, seconds

if TYPE_CHECKING:
    from netspurt.underload.rpm import Parameters, Responsiveness

PORT = 4043


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    path_options.add_scenario(command, flow=False)
    add_settings(command)
    real = command.add_argument_group("on a real network")
    real.add_argument(
        "--server",
        dest="url",
        metavar="URL",
        help="measure to this server (https://HOST, or the URL of its configuration) instead of simulating",
    )
    real.add_argument("--insecure", action="store_true", help="accept any certificate of the server")
    real.add_argument(
        "--serve",
        metavar="[ADDRESS:]PORT",
        help=f"run such a server until Ctrl-C, such as --serve {PORT} (default address: 127.0.0.1)",
    )
    real.add_argument("--cert", type=Path, metavar="FILE", help="serve with TLS: certificate and key in PEM")
    command.add_argument(
        "--direction",
        choices=("both", "download", "upload"),
        default="both",
        help="what loads the path (default: both at once)",
    )
    under_load.add_duration(command, 60.0, "end after this time, stable or not")
    command.add_argument(
        "--interval",
        dest="interval_s",
        type=seconds,
        default=5.0,
        metavar="TIME",
        help="time from one decision to the next (default: 5 s)",
    )
    under_load.add_parallel(command, 16, "most connections each way")
    simulated = command.add_argument_group("in a simulation")
    simulated.add_argument("--plain", action="store_true", help="probe without TLS handshakes")
    simulated.add_argument(
        "--seed", type=natural, default=1, metavar="N", help="seed of the run (default: 1)"
    )
    simulated.add_argument("--client", metavar="HOST", help="the host that probes (default: the first)")
    simulated.add_argument("--host", metavar="HOST", help="the host at the other end (default: the last)")


def command(options: argparse.Namespace) -> int:
    """Serves, or measures and prints a table.

    Raises:
        RequestError: options that exclude each other, no server, or a test that ended with an error.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.underload.rpm import Parameters

    if options.serve:
        if options.url:
            raise RequestError("--serve and --server: be a server, or measure to one")
        return _serve(options.serve, options.cert)
    if options.duration_s < options.interval_s:
        raise RequestError(
            f"--duration {options.duration_s:g} s is shorter than one interval of {options.interval_s:g} s"
        )
    chosen = Parameters(interval_s=options.interval_s, most=options.connections)
    found = _measure(options, chosen) if options.url else _simulate(options, chosen)
    if options.json:
        print(json.dumps({**asdict(found), "direction": options.direction}))
    else:
        _print(found, options.direction)
    return FINE


def _serve(place: str, cert: Path | None) -> int:
    from netspurt.underload.rpm.server import serving

    address, _, port = place.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise RequestError(f"--serve {place}: write a port, such as {PORT}, or ADDRESS:PORT")
    with serving(address.strip("[]") or "127.0.0.1", int(port), cert) as url, asked_to_end() as asked:
        print(f"Serving at {url}. Measure with: netspurt responsiveness --server {url}", flush=True)
        asked.wait()
    return FINE


def _measure(options: argparse.Namespace, chosen: Parameters) -> Responsiveness:
    from netspurt.underload.rpm.client import discover, measure

    for option, given in (("SCENARIO", options.scenario), ("--plain", options.plain)):
        if given:
            raise RequestError(f"--server measures a real network: leave {option} out")
    server = discover(options.url, verify=not options.insecure)
    return measure(
        server,
        direction=options.direction,
        limit_s=options.duration_s,
        verify=not options.insecure,
        parameters=chosen,
    )


def _simulate(options: argparse.Namespace, chosen: Parameters) -> Responsiveness:
    from netspurt.underload.rpm import simulate

    return simulate(
        under_load.load(options),
        client=options.client,
        server=options.host,
        direction=options.direction,
        tls=not options.plain,
        limit_s=options.duration_s,
        seed=options.seed,
        parameters=chosen,
    )


def _print(found: Responsiveness, direction: str) -> None:
    from rich.table import Table

    console = tables.console()
    if found.rpm is None:
        console.print("No probe came back: the path may be down, or too slow for the time.", soft_wrap=True)
        return
    console.print(
        f"{formats.count(round(found.rpm))} round trips per minute, {found.confidence} confidence",
        highlight=False,
    )
    table = Table("round trip", "time", "per minute", box=None, header_style="bold", pad_edge=False)
    rows = (
        ("TCP handshake", found.tcp_ms, None),
        ("TLS handshake", found.tls_ms, None),
        ("request on a new connection", found.http_ms, None),
        ("new connections, all together", None, found.foreign_rpm),
        ("on the connections of the load", found.self_ms, found.loaded_rpm),
    )
    for name, time_ms, rate in rows:
        if time_ms is not None or rate is not None:
            time = "" if time_ms is None else formats.span(time_ms / 1e3)
            table.add_row(name, time, "" if rate is None else formats.count(round(rate)))
    console.print(table)
    loads = "download and upload" if direction == "both" else direction
    console.print(
        f"Goodput of {loads}: {formats.rate(found.goodput_bps)}, {found.capacity} confidence, after "
        f"{formats.counted(found.intervals, 'interval')}.",
        highlight=False,
        soft_wrap=True,
    )
