"""Remedies on a terminal: the verdict, a line for each remedy, and how to make the changes that help.

Lives here: the layout of this text. Must not live here: the choice of remedies, or their order.
"""

from __future__ import annotations

import math
from textwrap import fill
from typing import TYPE_CHECKING

from rich.text import Text

from netspurt.analysis import formats
from netspurt.cli.views.why_view import WRAPPED

if TYPE_CHECKING:
    from rich.console import Console

    from netspurt.remedies.answer import WhatIf
    from netspurt.remedies.outcome import Outcome, Proven

EXPLAINED = 3
"""Remedies that are explained in full: the best ones."""

LEAST_SHARE = 0.02

LATE_S = 0.01
"""A larger lateness of the machine is mentioned."""


def show(console: Console, found: WhatIf) -> None:
    """Prints the answer."""
    console.print(Text(f"{found.name}, flow {found.flow}", style="bold"), soft_wrap=True)
    for warning in found.warnings:
        console.print(Text(f"  Note: {warning}"), soft_wrap=True)
    console.print(
        Text(fill(f"  {found.verdict}", min(WRAPPED, console.width), subsequent_indent="  ")), soft_wrap=True
    )
    console.print(Text(f"  {_baseline(found)}"), soft_wrap=True)
    limits = [f"{name} {100 * share:.0f} %" for name, share in _largest(found) if share >= LEAST_SHARE]
    console.print(Text(f"  Limits: {', '.join(limits)}"), soft_wrap=True)
    console.print()
    if not found.remedies:
        console.print(Text("  No remedy applies to these limits."), soft_wrap=True)
    else:
        console.print(Text(_HEAD, style="bold"), soft_wrap=True)
    for number, each in enumerate(found.remedies, 1):
        console.print(_row(f"{number:2}", each), soft_wrap=True)
    if found.higher_rate is not None:
        console.print(_row(" -", found.higher_rate), soft_wrap=True)
    console.print()
    for each in found.remedies:
        if each.proven is not None:
            _show_proof(console, each, each.proven)
    useful = [each for each in found.remedies if each.helps or each.shortens or each.limit == ""]
    for each in useful[:EXPLAINED]:
        _explain(console, each)


def _show_proof(console: Console, each: Outcome, proven: Proven) -> None:
    """Predicted beside proven."""
    repeats = f"{len(proven.remedy)} pairs of runs with the kernel's TCP on the emulated path"
    lines = [
        f"  Proven, {repeats}:",
        f"    {'':<12} {'predicted':>10} {'proven':>10} {'difference':>11}",
    ]
    pairs = (
        ("original", each.original_seconds, proven.original_seconds),
        ("remedy", each.seconds, proven.seconds),
    )
    for name, predicted, measured in pairs:
        off = f"{100 * (predicted / measured - 1):+.1f} %" if measured else ""
        lines.append(
            f"    {name:<12} {formats.lasting(predicted):>10} {formats.lasting(measured):>10} {off:>11}"
        )
    if proven.late_s > LATE_S:
        lines.append(
            f"    This machine was late by up to {formats.lasting(proven.late_s)}, which the proven times contain."
        )
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def _baseline(found: WhatIf) -> str:
    runs = formats.counted(found.seeds, "seed")
    if found.seconds != found.simulated_seconds:
        return (
            f"{found.quantity[0].upper()}{found.quantity[1:]} now: {formats.lasting(found.seconds)} captured, "
            f"{formats.lasting(found.simulated_seconds)} simulated ({runs})."
        )
    return f"{found.quantity[0].upper()}{found.quantity[1:]} now: {formats.lasting(found.simulated_seconds)} ({runs})."


def _largest(found: WhatIf) -> list[tuple[str, float]]:
    return sorted(found.shares.items(), key=lambda each: -each[1])


_HEAD = (
    f"  {'':2}  {'remedy':<26} {'then':>9}  {'95 % interval':<22} {'saved':>8}  {'delay of others':<20} "
    "goodput of others"
)


def _row(number: str, each: Outcome) -> Text:
    interval = "" if each.interval is None else " – ".join(map(formats.lasting, each.interval))
    saved = f"{100 * each.gain:+.1f} %" if math.isfinite(each.gain) else "never ends"
    after = formats.lasting(each.seconds) if math.isfinite(each.seconds) else "–"
    delays = goodputs = ""
    if each.others is not None:
        now, then = each.others
        delays = f"{1e3 * now.delay_s:.3g} → {1e3 * then.delay_s:.3g} ms"
        goodputs = f"{now.goodput_bps / 1e6:.3g} → {then.goodput_bps / 1e6:.3g} Mbit/s"
    proven = f"  proven: {formats.lasting(each.proven.seconds)}" if each.proven is not None else ""
    style = "green" if each.helps else ""
    line = (
        f"  {number}  {each.name:<26} {after:>9}  {interval:<22} {saved:>8}  {delays:<20} {goodputs}{proven}"
    )
    return Text(line.rstrip(), style=style)


def _explain(console: Console, each: Outcome) -> None:
    text = Text(fill(f"  * {each.name}: {each.words}", min(WRAPPED, console.width), subsequent_indent="    "))
    text.stylize("bold", 4, 4 + len(each.name))
    console.print(text, soft_wrap=True)
    for line in each.how:
        console.print(Text(f"      {line}", style="bold"), soft_wrap=True)
