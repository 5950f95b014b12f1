"""The report of a comparison: the differences, their significance, and the first divergence.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.comparing import history
from netspurt.errors import RequestError
from netspurt.inputs.capture import Captured
from netspurt.inputs.recording import Recording
from netspurt.inputs.run import Runs
from netspurt.inputs.trace import Traced
from netspurt.plot.sweeps.changes import changes_of, ruler_of
from netspurt.plot.swept import in_units
from netspurt.report.blocks import (
    Block,
    Changes,
    Code,
    Facts,
    Files,
    Page,
    Section,
    Sentences,
    Zoomable,
    csv,
    table,
)
from netspurt.report.page import facts
from netspurt.report.run import pictures

if TYPE_CHECKING:
    from netspurt.comparing import Comparison
    from netspurt.inputs.sides import Side

HIDDEN = ("of", "sentence", "boot_low", "boot_high", "p")

LAST = ("a", "b", "relative", "verdict", "difference", "low", "high", "effect", "runs")
"""Columns of a comparison, after those that name a row."""

SHOWN = ("A", "B", "change", "verdict", "95 % interval", "effect", "pairs")
"""The same columns on the page."""

SCALED = ("a", "b", "difference", "low", "high", "a_low", "a_high", "b_low", "b_high")

FOLDED = 24


def page_of(result: Comparison, command: str) -> Page:
    """The page of a comparison; ``command`` is the command line."""
    unlike = [row for row in result.rows if row.get("verdict") != "same"]
    known = {row["sentence"] for row in result.rows if row.get("verdict") not in (None, "distinguishable")}
    found = [sentence for sentence in result.sentences if sentence not in known]
    if alike := len(result.rows) - len(unlike):
        found.append(f"{alike} of {len(result.rows)} quantities are the same in every pair of runs.")
    blocks: list[Block] = []
    if unlike:
        shown = [_in_units(row) for row in unlike]
        keys = [name for name in unlike[0] if name not in (*LAST, *HIDDEN)]
        blocks.append(table("B against A", shown, [*keys, *SHOWN], note=NOTE, folded=len(shown) > FOLDED))
    if result.rows:
        blocks.append(Files([csv("comparison.csv", result.rows)]))
    if found:
        blocks.append(Sentences("In sentences", found))
    sections = [Section("Quantities that differ", blocks), Section("Both in one plot", _overlaid(result))]
    if result.divergence is not None:
        sections.append(Section("First divergence", _divergence(result)))
    for letter, side in zip("AB", result.sides, strict=True):
        own = pictures(source, f"{letter.lower()}-") if (source := _recording(result, side)) else []
        sections.append(Section(f"{letter}: {_short(side.name)}", own))
    sections.append(Section("How it was made", _made(result, command)))
    title = f"{_short(result.names[0])} and {_short(result.names[1])}"
    return Page("comparison", title, [_lead(result)], [each for each in sections if each.blocks])


def _lead(result: Comparison) -> str:
    """The result in one sentence."""
    kind = result.kind[0].upper() + result.kind[1:]
    judged = [row["verdict"] for row in result.rows if "verdict" in row]
    if not judged:
        return f"{kind}, B against A."
    if "too few" in judged:
        return f"{kind}, B against A: one pair of runs does not show which differences are chance; --seeds N runs more."
    differ = judged.count("distinguishable")
    return f"{kind}, B against A: {differ} of {len(judged)} quantities differ by more than chance."


NOTE = (
    "Means of A and B over pairs of runs, the 95 % interval of their difference (Student's t), and the effect: the "
    "mean over the standard deviation of the pairs' differences (Cohen's d)."
)


def _in_units(row: dict[str, Any]) -> dict[str, Any]:
    """A row with each value in the unit of its quantity."""
    words, factor = in_units(row["quantity"])
    scaled = {name: row[name] * factor for name in SCALED if isinstance(row.get(name), int | float)}
    low, high = scaled.get("low"), scaled.get("high")
    return {
        **row,
        **scaled,
        "quantity": words,
        "A": scaled.get("a"),
        "B": scaled.get("b"),
        "change": _percent(row.get("relative")),
        "95 % interval": _interval(low, high),
        "pairs": row.get("runs"),
    }


def _interval(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    ends = formats.plain(low), formats.plain(high)
    return "the same in every pair" if ends[0] == ends[1] else " to ".join(ends)


def _short(name: str) -> str:
    """The name without its folders; the full path is at the end of the page."""
    path, comma, settings = name.partition(", ")
    return Path(path).name + comma + settings


def _percent(relative: object) -> str | None:
    return formats.percent(relative) if isinstance(relative, float) else None


def _overlaid(result: Comparison) -> list[Block]:
    blocks: list[Block] = []
    with contextlib.suppress(RequestError):
        blocks.append(Zoomable("both", result.chart()))
    with contextlib.suppress(RequestError):
        rows = [row for row in result.rows if "verdict" in row]
        drawn = changes_of(rows)
        ruler = ruler_of(drawn)
        words = "B against A, in per cent of A, with 95 % intervals. Filled: distinguishable from chance."
        if ruler.bend is not None:
            words += f" The scale is linear up to {ruler.bend:g} %, and logarithmic beyond."
        file = csv("differences.csv", rows)
        blocks.append(Changes("differences", "Changes", words, drawn, ruler, file))
    return blocks


def _divergence(result: Comparison) -> list[Block]:
    divergence = result.divergence
    assert divergence is not None
    return [
        Facts(
            [
                ("common events", formats.count(divergence.shared)),
                ("time", f"{divergence.time_s:.9g} s"),
                ("in A", history.words(divergence.a)),
                ("in B", history.words(divergence.b)),
            ]
        )
    ]


def _recording(result: Comparison, side: Side) -> Recording | None:
    """The data for plots of one side; None if it has no scenario, or is a sweep."""
    if isinstance(side, Captured | Traced):
        return side
    if isinstance(side, Runs):
        return side.recording(
            result.compared_seed if result.compared_seed is not None else min(side.documents)
        )
    return None


def _made(result: Comparison, command: str) -> list[Block]:
    seeds = sorted(result.sides[0].documents) if isinstance(result.sides[0], Runs) else []
    pairs = [*facts(command), ("A", result.names[0]), ("B", result.names[1])]
    if seeds:
        pairs.append(("seeds", ", ".join(map(str, seeds))))
    sources = [
        Code(f"The complete scenario of {letter}", side.scenario.merged())
        for letter, side in zip("AB", result.sides, strict=True)
        if isinstance(side, Runs) and side.scenario is not None
    ]
    return [Facts(pairs), *sources]
