"""``netspurt delays``: delay against length, with regression lines and rates."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.arguments.options import add_json, add_output, add_quiet, add_records
from netspurt.cli.exits import FELL_SHORT, FINE
from netspurt.errors import RequestError
from netspurt.files import places
from netspurt.inputs.typed import at_least

if TYPE_CHECKING:
    from netspurt.analysis.delay_path import DelayPath
    from netspurt.analysis.regression import Characteristic, Line, Method

WIDE = 160


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_quiet(command)
    add_records(command)
    command.add_argument(
        "--split",
        type=_split,
        metavar="OCTETS|auto",
        help="two lines, the second from this length on; auto looks for one",
    )
    command.add_argument("--robust", action="store_true", help="Theil and Sen's line beside least squares")
    add_output(
        command,
        "--plot",
        places.PICTURE,
        metavar="FILE.svg",
        words="draw scatter and histogram (.svg, .pdf or .png)",
    )


def _split(text: str) -> int | str:
    return text if text == "auto" else at_least(1, text)


def command(options: argparse.Namespace) -> int:
    """Prints one line of the table for each regression line, and draws scatter and histogram on request.

    A file that cannot be used is named on standard error; the others are done, and the exit status is 1.

    Raises:
        RequestError: no file of use, or a place that cannot be written to.
    """
    from netspurt.inputs import delays

    paths, complaints = delays.gather(options.files, options.seed)
    if not paths:
        raise RequestError(complaints[0])
    for complaint in complaints:
        print(f"netspurt: {complaint}", file=sys.stderr)
    methods: list[Method] = ["least squares", "theil-sen"] if options.robust else ["least squares"]
    results = [_result(path, options.split, methods) for path in paths]
    written = _draw(options, paths, options.split, methods[-1]) if options.plot else []
    if options.json:
        print(json.dumps({"results": results, "errors": complaints}))
    else:
        _print(results, written)
    return FELL_SHORT if complaints else FINE


def _fit(path: DelayPath, split: int | str | None, method: Method) -> Characteristic | None:
    from netspurt.analysis.regression import characteristic

    return characteristic(path.octets, path.delay_s, split, method)  # type: ignore[arg-type]  # checked when parsed


def _result(path: DelayPath, split: int | str | None, methods: Iterable[Method]) -> dict[str, Any]:
    import numpy as np

    from netspurt.analysis.regression import loss_by_length
    from netspurt.analysis.rto_replay import native

    summary = native(path).summary()
    known = path.delay_s[~path.lost]
    quantiles = np.quantile(known, [0.0, 0.5, 0.95, 0.99, 1.0]).tolist() if known.size else [None] * 5
    fits = [fit for fit in (_fit(path, split, method) for method in methods) if fit is not None]
    return {
        "file": path.file,
        "host": path.host,
        "packets": int(summary["cycles"]),
        "lost": int(summary["lost"]),
        "mean_ms": 1e3 * summary["received_mean_s"] if known.size else None,
        "cov": summary["received_cov"] if known.size else None,
        **{
            f"{name}_ms": None if value is None else 1e3 * value
            for name, value in zip(("min", "p50", "p95", "p99", "max"), quantiles, strict=True)
        },
        "split": next((fit.split for fit in fits), None),
        "lines": [_line(line) for fit in fits for line in fit.lines],
        "loss_by_length": [
            {
                "from_octets": each.low,
                "to_octets": each.high,
                "packets": each.packets,
                "lost": each.lost,
                "loss_interval": list(each.interval),
            }
            for each in loss_by_length(path.octets, path.lost)
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    def finite(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    return {
        "method": line.method,
        "from_octets": line.low,
        "to_octets": line.high,
        "packets": line.count,
        "delay_from_ms": 1e3 * line.at(line.low),
        "delay_from_interval_ms": [finite(1e3 * end) for end in line.interval_at(line.low)],
        "delay_to_ms": 1e3 * line.at(line.high),
        "delay_to_interval_ms": [finite(1e3 * end) for end in line.interval_at(line.high)],
        "rate_bps": finite(line.rate_bps),
        "rate_interval_bps": [finite(end) for end in line.rate_interval_bps],
    }


def _print(results: list[dict[str, Any]], written: list[Path]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    for result in results:
        name = escape(f"{result['file']} {result['host']}".strip())
        spread = ", ".join(
            f"{key} {formats.number(result[f'{key}_ms'], 4)}" for key in ("min", "p50", "p95", "p99", "max")
        )
        console.print(
            f"[bold]{name}[/]: {formats.counted(result['packets'], 'packet')}, {result['lost']} lost, "
            f"mean {formats.number(result['mean_ms'], 4)} ms, CoV {formats.number(result['cov'], 4)}; {spread} ms; "
            "one way",
            highlight=False,
            soft_wrap=True,
        )
        if not result["lines"]:
            console.print("no line: too few packets of different known lengths", highlight=False)
        else:
            table = Table(box=None, header_style="bold", pad_edge=False)
            for head in (
                "line",
                "bytes",
                "delay ms",
                "95 % interval",
                "rate bit/s",
                "95 % interval",
                "packets",
            ):
                table.add_column(head, justify="left" if head == "line" else "right")
            for line in result["lines"]:
                table.add_row(*_row(line))
            console.print(table)
        for each in result["loss_by_length"] if result["lost"] else ():
            low, high = each["loss_interval"]
            console.print(
                f"lost of {each['from_octets']}–{each['to_octets']} bytes: {each['lost']} of {each['packets']} "
                f"({100 * low:.1f}–{100 * high:.1f} %)",
                highlight=False,
            )
        console.print()
    for path in written:
        console.print(f"picture: {path}", highlight=False, soft_wrap=True)


def _row(line: dict[str, Any]) -> list[str]:
    ends = (line["delay_from_interval_ms"], line["delay_to_interval_ms"])
    return [
        line["method"],
        f"{line['from_octets']:.0f}–{line['to_octets']:.0f}",
        f"{formats.number(line['delay_from_ms'], 4)}–{formats.number(line['delay_to_ms'], 4)}",
        ", ".join("–" if high is None else f"±{formats.number((high - low) / 2, 4)}" for low, high in ends),
        formats.number(line["rate_bps"], 4) if line["rate_bps"] is not None else "∞",
        "–".join("∞" if end is None else formats.number(end, 4) for end in line["rate_interval_bps"]),
        str(line["packets"]),
    ]


def _draw(
    options: argparse.Namespace, paths: list[DelayPath], split: int | str | None, method: Method
) -> list[Path]:
    """The scatter of all paths in one picture, and a histogram for each, named after the first."""
    import numpy as np

    from netspurt import plot
    from netspurt.plot import delays as plot_delays

    lengths = {path.name: (path.octets, path.delay_s, _fit(path, split, method)) for path in paths}
    known = {name: each for name, each in lengths.items() if not np.isnan(each[0]).all()}
    figures = [("", plot_delays.delay_against_length(known))] if known else []
    for number, path in enumerate(paths, 1):
        mark = "-histogram" if len(paths) == 1 else f"-histogram-{number}"
        figures.append((mark, plot_delays.histogram(path.delay_s, path.name)))
    destination = Path(options.plot)
    suffix = destination.suffix or ".svg"
    written = [destination.with_name(destination.stem + mark + suffix) for mark, _ in figures]
    options.places.admit_several(options.plot, written)
    for name, (_, figure) in zip(written, figures, strict=True):
        plot.save(figure, name)
    return written
