"""Notebook displays of a fit and of remedies: self-contained HTML.

Lives here: warnings, sentences and a short table of each. Must not live here: the fit, the remedies, or their verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from netspurt.notebook.displays import short_table

if TYPE_CHECKING:
    from netspurt.fitting import Fit
    from netspurt.remedies import WhatIf

REMEDIES = ("remedy", "seconds", "low", "high", "gain", "distinguishable", "delay_now_s", "delay_then_s")
QUANTITIES = {"seconds": "_s", "low": "_s", "high": "_s", "gain": "_share"}
CHECK = ("quantity", "captured", "simulated", "agrees")
ENDINGS = {"s": "s", "bit/s": "bps", "share": "share", "packets": "packets"}


def of_what_if(found: WhatIf) -> str:
    """The verdict, and a row for each remedy."""
    rows = short_table(found.table, REMEDIES, lambda name, _: QUANTITIES.get(name, name))
    return _page(f"{found.name}, flow {found.flow}", found.warnings, found.verdict, rows)


def of_fit(found: Fit) -> str:
    """The path, and captured beside simulated quantities."""
    import polars as pl

    check = pl.DataFrame([row.document() for row in found.check], infer_schema_length=None)
    rows = short_table(
        check,
        CHECK,
        lambda name, row: f"_{ENDINGS[row['unit']]}" if name in ("captured", "simulated") else name,
    )
    return _page(found.source, found.warnings, found.summary, rows)


def _page(title: str, warnings: Sequence[str], sentence: str, rows: str) -> str:
    said = "".join(f"<p>Warning: {escape(each)}</p>" for each in warnings)
    return f"<div><strong>{escape(title)}</strong>{said}<p>{escape(sentence)}</p>{rows}</div>"
