"""Rows of results as CSV.

Lives here: rows in, text with full precision out. Must not live here: where it is written.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Nested counts as columns of their own, such as ``drops_queue``."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            columns.update({f"{name}_{inner}": count for inner, count in value.items()})
        else:
            columns[name] = value
    return columns


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Flat rows as CSV with full precision. They may differ in which causes of loss they met."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO(newline="")
    lines = csv.DictWriter(written, names)
    lines.writeheader()
    lines.writerows(rows)
    return written.getvalue()
