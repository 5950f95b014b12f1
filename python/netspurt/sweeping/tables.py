"""What came of a sweep, as tables.

Lives here: from files of tasks to one table each of flows, groups and links. Must not live here: statistics, printing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

RECORDS = {"flows": "flow", "groups": "group", "links": "link"}
"""Tables by name, and what their rows say in ``record``."""

AT_ONCE = 2000
"""Files read together: their cells are Python's before they are columns."""


def gather(plan: pl.DataFrame, tasks: Path) -> dict[str, pl.DataFrame]:
    """All tasks of a plan whose files are there.

    Args:
        plan: ``task``, ``point``, ``seed`` and what is varied, one row for each task.
        tasks: the folder of their files.

    Returns:
        For each of ``RECORDS`` a table: the columns of the plan, ``digest``, and those of the run.
    """
    import polars as pl

    # One look at the folder: to ask for each file costs more than to read it.
    there = {entry.name for entry in os.scandir(tasks)} if tasks.is_dir() else set()
    files = [
        f"{tasks}/{name}" for task in dict.fromkeys(plan["task"]) if (name := f"{task}.parquet") in there
    ]
    pieces = [_read(files[at : at + AT_ONCE]) for at in range(0, len(files), AT_ONCE)]
    tables = {}
    for name, record in RECORDS.items():
        if not pieces:
            tables[name] = plan.head(0)
            continue
        own = pl.concat([piece[record] for piece in pieces], how="diagonal_relaxed")
        # A cause of loss that a run did not meet is one that it met no times.
        own = own.with_columns(
            pl.col([each for each in own.columns if each.startswith("drops_")]).fill_null(0)
        )
        clash = [each for each in own.columns if each in plan.columns and each != "task"]
        own = own.rename({each: f"run_{each}" for each in clash})
        tables[name] = plan.join(own, on="task", how="inner", maintain_order="left_right")
    return tables


def _read(files: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The tables of some files, by record; what a file lacks is null."""
    import polars as pl

    from netspurt import _core

    kinds = {"integer": pl.Int64, "number": pl.Float64, "truth": pl.Boolean, "text": pl.String}
    return {
        record: pl.DataFrame([pl.Series(name, values, dtype=kinds[kind]) for name, kind, values in columns])
        for record, columns in _core.gather(files, os.cpu_count() or 1).items()
    }


def value_of(file: Path) -> dict[str, dict[str, list[object]]]:
    """The flows and links of one task, by column, as ``Stop.value`` wants them."""
    import polars as pl

    whole = pl.read_parquet(file)
    return {
        record: whole.filter(pl.col("record") == record).to_dict(as_series=False)
        for record in ("flow", "link")
    }
