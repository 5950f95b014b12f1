"""The results of a sweep as tables.

Lives here: the conversion of task files into one table each of flows, groups and links. Must not live here: statistics,
printing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from netspurt import _core

RECORDS = {"flows": "flow", "groups": "group", "links": "link"}
"""Tables by name, and the value of ``record`` in their rows."""

HELD = 20_000
"""This many tasks keep their rows in memory until the tables are made (2 to 5 kB each); other files are read again."""

KINDS = {"integer": "Int64", "number": "Float64", "truth": "Boolean", "text": "String"}


def gather(plan: pl.DataFrame, tasks: Path, rows: _core.Tasks | None = None) -> dict[str, pl.DataFrame]:
    """Collects all tasks of a plan that have rows or files.

    Args:
        plan: ``task``, ``point``, ``seed`` and the varied values, one row per task.
        tasks: the folder of their files.
        rows: rows in memory, which need no file; the rows read from files are added.

    Returns:
        For each of ``RECORDS`` a table: the columns of the plan, ``digest``, and those of the run.
    """
    import polars as pl

    from netspurt import _core

    # One listing of the folder: a check of each file costs more than reading it.
    there = {entry.name for entry in os.scandir(tasks)} if tasks.is_dir() else set()
    rows = _core.Tasks() if rows is None else rows
    names = plan["task"].unique(maintain_order=True).to_list()
    files = [f"{tasks}/{name}.parquet" for name in names if name not in rows and f"{name}.parquet" in there]
    rows.read(files, os.cpu_count() or 1)
    own = {
        record: pl.DataFrame([_series(*column) for column in columns])
        for record, columns in rows.tables(names).items()
    }
    return {name: _joined(plan, own[record]) for name, record in RECORDS.items()}


def _series(name: str, kind: str, values: Any, present: Any) -> pl.Series:
    import polars as pl

    whole = pl.Series(name, values, dtype=getattr(pl, KINDS[kind]))
    return whole if present is None else whole.set(~pl.Series(present), None)


def _joined(plan: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """Joins the rows of tasks with their rows of the plan."""
    import polars as pl

    if not own.columns:
        return plan.head(0)
    # A cause of loss that a run lacks occurred zero times.
    own = own.with_columns(pl.col([each for each in own.columns if each.startswith("drops_")]).fill_null(0))
    clash = [each for each in own.columns if each in plan.columns and each != "task"]
    own = own.rename({each: f"run_{each}" for each in clash})
    return plan.join(own, on="task", how="inner", maintain_order="left_right")


def value_of(file: Path) -> dict[str, dict[str, list[object]]]:
    """The flows and links of one task, by column, in the form that ``Stop.value`` needs."""
    import polars as pl

    whole = pl.read_parquet(file)
    return {
        record: whole.filter(pl.col("record") == record).to_dict(as_series=False)
        for record in ("flow", "link")
    }
