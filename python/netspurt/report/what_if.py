"""The report of remedies: the verdict, what each would bring and cost, and how to make it.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

import math
from typing import Any

from netspurt.analysis import formats
from netspurt.remedies.answer import WhatIf
from netspurt.remedies.outcome import Outcome
from netspurt.report.blocks import Block, Code, Facts, Files, Page, Section, Text, csv, table
from netspurt.report.page import facts

COLUMNS = (
    *(
        "remedy",
        "then (s)",
        "95 % interval (s)",
        "saved",
        "delay of others (ms)",
        "goodput of others (Mbit/s)",
    ),
    "proven (s)",
)

NOTE = (
    "The interval is that of the paired differences over the seeds. Others are a competing transfer and short messages "
    "that share the path, without and with the remedy. Parallel connections take a part of their gain from others, so "
    "they come behind a remedy that saves up to 3 % of the time less."
)


def page_of(found: WhatIf, command: str) -> Page:
    """The page of some remedies; ``command`` is the command line."""
    rows = [_row(each) for each in found.remedies]
    if found.higher_rate is not None:
        rows.append(_row(found.higher_rate))
    blocks: list[Block] = []
    if rows:
        blocks.append(table("Remedies, those that save most time first", rows, COLUMNS, note=NOTE))
        blocks.append(Files([csv("remedies.csv", _plain(found))]))
    else:
        blocks.append(Text("No remedy applies to these limits."))
    sections = [Section("What would help", blocks)]
    useful = [each for each in found.remedies if each.helps or each.shortens or not each.limit]
    if useful:
        sections.append(Section("How to do it", [block for each in useful for block in _how(each)]))
    shares = sorted(found.shares.items(), key=lambda each: -each[1])
    limits = [(name, f"{100 * share:.1f} % of the time") for name, share in shares if share >= 0.005]
    sections.append(Section("What limits it now", [Facts(limits)]))
    made = [*facts(command), ("flow", found.flow), ("seeds", str(found.seeds)), ("quantity", found.quantity)]
    sections.append(Section("How it was made", [Facts(made), Code("scenario", found.scenario.merged())]))
    sentences = [found.verdict, *(f"Note: {warning}" for warning in found.warnings)]
    return Page("what-if", found.name, sentences, sections, _headline(found))


def _headline(found: WhatIf) -> tuple[str, str] | None:
    """The best remedy's time, and the present one."""
    best = next((each for each in found.remedies if each.helps and math.isfinite(each.seconds)), None)
    if best is None or not math.isfinite(found.seconds):
        return None
    return formats.span(best.seconds), f"instead of {formats.span(found.seconds)}, with {best.name}"


def _row(each: Outcome) -> dict[str, Any]:
    interval = "" if each.interval is None else " – ".join(f"{end:.4g}" for end in each.interval)
    row = {
        "remedy": each.name,
        "then (s)": f"{each.seconds:.4g}" if math.isfinite(each.seconds) else "never ends",
        "95 % interval (s)": interval,
        "saved": formats.percent(each.gain) if math.isfinite(each.gain) else "",
        "delay of others (ms)": "",
        "goodput of others (Mbit/s)": "",
        "proven (s)": None if each.proven is None else f"{each.proven.seconds:.4g}",
    }
    if each.others is not None:
        now, then = each.others
        row["delay of others (ms)"] = f"{1e3 * now.delay_s:.3g} → {1e3 * then.delay_s:.3g}"
        row["goodput of others (Mbit/s)"] = f"{now.goodput_bps / 1e6:.3g} → {then.goodput_bps / 1e6:.3g}"
    return row


def _how(each: Outcome) -> list[Block]:
    lines = "\n".join(each.how) or "\n".join(f"{path} = {value}" for path, value in each.settings.items())
    return [Text(f"{each.name}: {each.words}"), Code(each.name, lines)]


def _plain(found: WhatIf) -> list[dict[str, Any]]:
    rows = found.table.to_dicts()
    return [{**row, "how": row["how"].replace("\n", "; ")} for row in rows]
