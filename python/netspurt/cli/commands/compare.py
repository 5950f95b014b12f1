"""``netspurt compare``: two results, runs or captures side by side."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.arguments import picture_options
from netspurt.cli.arguments.options import (
    add_algorithms,
    add_input,
    add_jobs,
    add_json,
    add_output,
    add_quiet,
)
from netspurt.cli.exits import FELL_SHORT, FINE, interrupted
from netspurt.cli.views import tables
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.inputs.typed import natural, positive, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from netspurt.comparing import Comparison

ROWS_SHOWN = 60

NUMBERS = (
    *("runs", "a", "b", "difference", "low", "high", "boot_low", "boot_high", "relative", "effect", "p"),
    *("verdict", "sentence"),
)
"""Columns of a comparison that ``--json`` prints as they are."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    for name, which in (("first", "A"), ("second", "B")):
        add_input(
            command,
            name,
            metavar=which,
            words="a scenario (.toml, run now), a folder of 'run --out' or of 'sweep', a trace (.parquet), or "
            "a capture",
        )
    for name, which in (("a", "A"), ("b", "B")):
        command.add_argument(
            f"--set-{name}",
            action="append",
            default=[],
            type=setting,
            metavar="PATH=VALUE",
            help=f"override a path of scenario {which}; may be repeated",
        )
    command.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    command.add_argument(
        "--seeds",
        type=positive,
        default=1,
        metavar="N",
        help="number of seeds with which scenarios run, in pairs",
    )
    add_algorithms(command)
    add_jobs(command)
    command.add_argument(
        "--quantity",
        action="append",
        default=[],
        dest="quantities",
        metavar="COLUMN",
        help="compare this column of the flows; may be repeated (default: the most important ones)",
    )
    add_output(
        command, "--plot", places.PICTURE, "FILE.svg", "draw both over each other (.svg, .pdf or .png)"
    )
    command.add_argument(
        "--round-trips",
        metavar="FLOW",
        help="with --plot: draw the distributions of the RTTs of this flow instead of the progress of all transfers",
    )
    picture_options.report(command)
    add_quiet(command)


def command(options: argparse.Namespace) -> int:
    """Prints a table, sentences, and where two runs diverge. Two that differ have not failed.

    Captures that are damaged or hold no TCP are compared as far as they could be read; the exit status is 1 then.

    Raises:
        RequestError: an input is missing, or the two cannot be compared.
        ScenarioError: a scenario is wrong.
    """
    from netspurt.algorithms import find
    from netspurt.comparing import compare

    if options.round_trips is not None and not options.plot:
        raise RequestError("--round-trips changes the picture of --plot: name a file with --plot")
    result = compare(
        options.first,
        options.second,
        seeds=range(options.seed, options.seed + options.seeds),
        quantities=options.quantities,
        jobs=options.jobs,
        settings=(dict(options.set_a), dict(options.set_b)),
        algorithms=find(options.algorithms),
    )
    if options.seeds > 1 and result.pairs is None:
        raise RequestError(f"--seeds runs scenarios, and {result.names[0]} is {result.kind}: leave it out")
    if options.plot:
        from netspurt import plot

        plot.save(result.plot(options.round_trips), Path(options.plot))
    if options.report:
        from netspurt.report.compare import page_of
        from netspurt.report.page import write

        with output.file(Path(options.report)) as stage:
            write(stage, page_of(result, options.asked))
    if options.json:
        print(json.dumps(document(result)))
    else:
        _print(result)
    for fault in result.faults:
        print(f"netspurt: {fault}", file=sys.stderr)
    if not result.whole:
        return interrupted(result.pairs or 0, options.seeds, "pairs of runs")
    return FELL_SHORT if result.faults else FINE


def document(result: Comparison) -> dict[str, Any]:
    """A comparison as JSON."""
    divergence = result.divergence
    return {
        "a": result.names[0],
        "b": result.names[1],
        "kind": result.kind,
        "rows": result.rows,
        "first_difference": None
        if divergence is None
        else {
            "time_s": divergence.time_s,
            "shared_events": divergence.shared,
            "a": divergence.a,
            "b": divergence.b,
        },
        "same_history": divergence is None if result.compared_seed is not None else None,
        "sentences": result.sentences,
    }


def _print(result: Comparison) -> None:
    console = tables.console()
    console.print(
        f"A: {result.names[0]}\nB: {result.names[1]}", highlight=False, soft_wrap=True, markup=False
    )
    alike = [row for row in result.rows if row.get("verdict") == "same"]
    rows = [row for row in result.rows if row.get("verdict") != "same"]
    if rows:
        shown = [_shown(row) for row in rows[:ROWS_SHOWN]]
        tables.show(console, "", shown, list(shown[0]))
        if len(rows) > ROWS_SHOWN:
            console.print(f"… {len(rows) - ROWS_SHOWN} rows more with --json", highlight=False)
    dull = {row["sentence"] for row in alike}
    for sentence in result.sentences:
        if sentence not in dull:
            console.print(sentence, highlight=False, soft_wrap=True, markup=False)
    if alike:
        which = "All" if not rows else f"{len(alike)} of {len(result.rows)}"
        console.print(f"{which} quantities are the same in every pair of runs.", highlight=False)
    if not result.rows and not result.sentences:
        raise RequestError("there is nothing in either to compare")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people: names in words, values with units."""
    column = row["quantity"]

    def form(name: str) -> str:
        value = row.get(name)
        return "–" if value is None else formats.quantity(column, value)

    if "verdict" not in row:
        return _shown_of_captures(row, form)
    values = {name: value for name, value in row.items() if name not in (*NUMBERS, "quantity")}
    shown = {**values, "quantity": formats.name(column), "A": form("a"), "B": form("b")}
    shown["change"] = _change(row)
    low, high = form("low"), form("high")
    shown["95 % interval of B − A"] = (
        "–" if low == "–" else f"{low} in every pair" if low == high else f"{low} … {high}"
    )
    return shown | {"verdict": row["verdict"], "pairs": row["runs"]}


def _shown_of_captures(row: dict[str, Any], form: Callable[[str], str]) -> dict[str, Any]:
    shown = {"quantity": formats.name(row["quantity"])}
    for letter in ("a", "b"):
        low, high = form(f"{letter}_low"), form(f"{letter}_high")
        shown[letter.upper()] = form(letter)
        shown[f"95 % interval of {letter.upper()}"] = "–" if low == "–" else f"{low} … {high}"
    return shown | {"change": _change(row)}


def _change(row: dict[str, Any]) -> str:
    relative = row.get("relative")
    return "–" if relative is None else formats.percent(relative)
