"""``netspurt plot``: one picture of a run, a trace, a capture or a sweep, or the data behind it."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from netspurt.cli.arguments import path_options, picture_options
from netspurt.cli.arguments.ineffective import refuse
from netspurt.cli.arguments.options import add_json, add_quiet, add_settings
from netspurt.cli.exits import FELL_SHORT, FINE
from netspurt.errors import RequestError
from netspurt.files import output
from netspurt.files.places import DRAWN, Destination
from netspurt.inputs.paths import one_path

if TYPE_CHECKING:
    from netspurt.diagnosing import Diagnosis
    from netspurt.inputs.recording import Recording
    from netspurt.plot import Chart, HeatMap
    from netspurt.sweeping import Sweep

Picture: TypeAlias = "Chart | HeatMap"

DATA = (".csv", ".parquet")
"""Suffixes with which the data is written instead of the picture."""

PACKED = (".gz", ".zst")
"""Suffixes of compressed captures, before which stands that of the capture."""

PAPER = (".svg", ".pdf", ".png")

CHOSEN = ("quantity", "where", "flow", "link")

OF_SWEEPS = {
    "curves": (*CHOSEN, "x"),
    "heat-map": (*CHOSEN, "x", "y"),
    "distribution": (*CHOSEN, "x"),
}
"""The pictures of sweeps, with the options that each takes."""

SHOWN_TIME = ("begin", "end")

ONE = ("flow", "connection", *SHOWN_TIME)

OF_RUNS = {
    "time-sequence": ONE,
    "windows": ONE,
    "cwnds": SHOWN_TIME,
    "round-trips": ONE,
    "queues": ("link", *SHOWN_TIME),
    "throughput": SHOWN_TIME,
    "limits": ONE,
    "distribution": (),
}
"""The pictures of runs and captures, with the options that each takes."""

OF_PICTURES = {
    name: f"--{name}" for name in ("flow", "connection", "link", *SHOWN_TIME, "quantity", "x", "y", "where")
}
"""Options that some pictures do not take, by their place in the namespace."""

QUANTITY = "goodput_bps"
"""The column of a sweep that is drawn unless `--quantity` is given."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_quiet(command)
    picture_options.plot(command)
    add_settings(command)


def command(options: argparse.Namespace) -> int:
    """Draws the picture, and prints its caption. The exit status is 1 where a capture is damaged.

    Raises:
        RequestError: nothing there to draw, a picture that this cannot give, or a place that cannot be written to.
        ScenarioError: the scenario is wrong.
    """
    from netspurt.sweeping import Sweep

    if options.begin is not None and options.end is not None and options.begin >= options.end:
        raise RequestError(f"--begin {options.begin:g}s is not before --end {options.end:g}s: swap them")
    path = Path(options.what or one_path.LINK)
    if options.out:
        _check_ending(Path(options.out))
    source = _source(options)
    name = options.picture or ("curves" if isinstance(source, Sweep) else "time-sequence")
    able = OF_SWEEPS if isinstance(source, Sweep) else OF_RUNS
    kind = "a sweep" if isinstance(source, Sweep) else "a run or a capture"
    if name not in able:
        raise RequestError(f"--picture {name} cannot be drawn of {kind}; these can: {', '.join(able)}")
    others = {place: option for place, option in OF_PICTURES.items() if place not in able[name]}
    refuse(options, others, f"has no effect on the picture {name} of {kind}: leave it out")
    if options.flow is not None and options.connection is not None:
        raise RequestError("--flow and --connection both choose what is drawn: give one of them")
    try:
        picture: Picture = (
            _of_sweep(name, source, options) if isinstance(source, Sweep) else _of_run(name, source, options)
        )
    except ValueError as error:
        raise RequestError(_without_segments(source) or f"{path}: {error}") from error
    stem = path.with_suffix("").stem if path.suffix in PACKED else path.stem
    out = Path(options.out or f"{stem or path.name}-{name}.svg")
    if not options.out:
        options.places.admit(Destination(str(out), "--out", DRAWN))
    _write(picture, out)
    if options.json:
        print(json.dumps(_document(picture, name, out)))
    else:
        print(f"{out}: {picture.alt()}")
    fault = _fault(source)
    if fault is None:
        return FINE
    print(f"netspurt: {fault}", file=sys.stderr)
    return FELL_SHORT


def _source(options: argparse.Namespace) -> Recording | Sweep:
    """The drawn object: a file or directory, or the network path that options describe."""
    from netspurt.inputs.run import Simulated
    from netspurt.inputs.source import of_path
    from netspurt.scenario import Scenario

    if path_options.described(options) is None:
        return of_path(Path(options.what), options.seed, path_options.settings_of(options))
    return Simulated(Scenario(path_options.load(options)), 1 if options.seed is None else options.seed)


def _fault(source: Recording | Sweep) -> str | None:
    """A sentence on a capture that is damaged or holds no TCP."""
    from netspurt.inputs.capture import Captured

    return source.capture.fault if isinstance(source, Captured) else None


def _without_segments(source: Recording | Sweep) -> str | None:
    """Why a capture has nothing to draw."""
    from netspurt.inputs.capture import Captured

    empty = isinstance(source, Captured) and not source.capture.tally["segments"]
    return _fault(source) if empty else None


def _check_ending(out: Path) -> None:
    if out.suffix not in (*PAPER, *DATA):
        raise RequestError(
            f"--out {out}: end the name in {', '.join(PAPER)} for a picture, or {', '.join(DATA)} for its data"
        )


def _cut(chart: Chart, options: argparse.Namespace) -> Chart:
    if options.begin is None and options.end is None:
        return chart
    return chart.between(options.begin or 0.0, math.inf if options.end is None else options.end)


def _of_run(name: str, source: Recording, options: argparse.Namespace) -> Chart:
    from netspurt import plot

    if name == "limits":
        return _cut(_limits(source, options), options)
    if options.connection is not None:
        source = _one_connection(source, options.connection)
    if name == "time-sequence":
        return plot.time_sequence_chart(source, options.flow, options.begin or 0.0, options.end)
    if name in ("windows", "round-trips"):
        make = {
            "windows": plot.windows_chart,
            "round-trips": plot.round_trips_chart,
        }[name]
        return _cut(make(source, options.flow), options)
    if name == "queues":
        return _cut(plot.queues_chart(source, options.link), options)
    if name == "distribution":
        return plot.round_trip_distribution_chart(source)
    return _cut({"cwnds": plot.cwnds_chart, "throughput": plot.throughput_chart}[name](source), options)


def _one_connection(source: Recording, number: int) -> Recording:
    """A capture with the packets of one connection.

    Raises:
        ValueError: there is no such connection, or the source is no capture.
    """
    from netspurt.analysis.capture import TABLES, read_capture
    from netspurt.inputs.capture import Captured

    if not isinstance(source, Captured):
        raise ValueError("--connection is the number of a connection in a capture: of a run, name a --flow")
    _check_connection(number, source.capture.connections.height)
    return Captured(read_capture(source.capture.path, TABLES, only=[number]))


def _check_connection(number: int, count: int) -> None:
    if number >= count:
        last = f": the last one has the number {count - 1}" if count else ""
        raise ValueError(f"there is no connection {number}{last}")


def _numbered(diagnosis: Diagnosis, number: int | None) -> Chart:
    """The limits of this connection, or of the one that lost most time."""
    from netspurt import plot

    if number is not None:
        _check_connection(number, diagnosis.tally["connections"])
        if number not in set(diagnosis.connections["connection"]):
            raise ValueError(f"connection {number} carried no data")
    return plot.limits_chart(diagnosis, number)


def _limits(source: Recording, options: argparse.Namespace) -> Chart:
    """The limits of the requested flow or connection, or of the connection that lost most time.

    Raises:
        ValueError: a trace, which does not show limits; or there is no such flow or connection.
    """
    from netspurt import plot
    from netspurt.diagnosing import why
    from netspurt.inputs.capture import Captured
    from netspurt.inputs.run import Simulated

    if isinstance(source, Captured):
        if options.flow is not None:
            raise ValueError(
                "--flow names a flow of a run: choose with --connection N, as 'netspurt why' numbers them"
            )
        return _numbered(why(source.capture.path), options.connection)
    if not isinstance(source, Simulated):
        raise ValueError("a trace does not show what limits a flow: give the scenario or a capture")
    diagnosis = why(source.again(["limits"]))
    if options.flow is None:
        return _numbered(diagnosis, options.connection)
    flows = [each["flow"] for each in diagnosis.flows or ()]
    numbers = [number for number in diagnosis.connections["connection"] if flows[number] == options.flow]
    if not numbers:
        known = ", ".join(dict.fromkeys(flows))
        raise ValueError(f"there is no flow '{options.flow}'; the flows are: {known}")
    return plot.limits_chart(diagnosis, numbers[0])


def _of_sweep(name: str, source: Sweep, options: argparse.Namespace) -> Picture:
    from netspurt import plot

    quantity = options.quantity or QUANTITY
    chosen = {column: value for column in ("flow", "link") if (value := getattr(options, column)) is not None}
    where = {**dict(options.where), **chosen}
    if name == "heat-map":
        return plot.heat_map_data(source, quantity, options.x, options.y, where)
    make = {"curves": plot.curves_chart, "distribution": plot.spread_chart}[name]
    return make(source, quantity, options.x, where)


def _write(picture: Picture, out: Path) -> None:
    from netspurt.plot import save

    if out.suffix not in DATA:
        save(picture.draw(), out)
        return
    with output.file(out) as stage:
        table = picture.table()
        if out.suffix == ".csv":
            table.write_csv(stage)
        else:
            table.write_parquet(stage)


def _document(picture: Picture, name: str, out: Path) -> dict[str, object]:
    traces = getattr(picture, "traces", ())
    return {
        "picture": name,
        "file": str(out),
        "title": picture.title,
        "words": picture.alt(),
        "traces": [{"trace": trace.name, "points": int(trace.x.size)} for trace in traces],
    }
