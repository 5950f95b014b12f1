"""What came of a sweep, as tables.

Lives here: from files of tasks to one table each of flows, groups and links. Must not live here: statistics, printing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

RECORDS = {"flows": "flow", "groups": "group", "links": "link"}
"""Tables by name, and what their rows say in ``record``."""

AT_ONCE = 500
"""Files read together: polars keeps them all open."""


def gather(plan: pl.DataFrame, tasks: Path) -> dict[str, pl.DataFrame]:
    """All tasks of a plan whose files are there.

    Args:
        plan: ``task``, ``point``, ``seed`` and what is varied, one row for each task.
        tasks: the folder of their files.

    Returns:
        For each of ``RECORDS`` a table: the columns of the plan, ``digest``, and those of the run.
    """
    import polars as pl

    names = [name for name in dict.fromkeys(plan["task"]) if (tasks / f"{name}.parquet").is_file()]
    pieces = [_read([tasks / f"{name}.parquet" for name in names[at : at + AT_ONCE]]) for at in range(0, len(names), AT_ONCE)]
    if not pieces:
        return {name: plan.head(0) for name in RECORDS}
    everything = pl.concat(pieces, how="diagonal_relaxed").drop("seed")
    tables = {}
    for name, record in RECORDS.items():
        own = everything.filter(pl.col("record") == record).drop("record")
        # What is empty in all rows belongs to another table.
        own = own.select([column for column in own.columns if column in _OWN or own[column].null_count() < own.height])
        drops = [column for column in own.columns if column.startswith("drops_")]
        own = own.with_columns(pl.col(drops).fill_null(0))
        clash = [column for column in own.columns if column in plan.columns and column != "task"]
        own = own.rename({column: f"run_{column}" for column in clash})
        tables[name] = plan.join(own, on="task", how="inner", maintain_order="left_right")
    return tables


_OWN = ("task", "digest")


def _read(files: Sequence[Path]) -> pl.DataFrame:
    """Files that may differ in their columns, such as causes of loss that not every run met."""
    import polars as pl

    alike: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for file in files:
        alike.setdefault(_columns(file), []).append(file)
    return pl.concat([pl.read_parquet(group) for group in alike.values()], how="diagonal_relaxed")


def _columns(file: Path) -> tuple[tuple[str, str], ...]:
    import polars as pl

    return tuple((name, str(kind)) for name, kind in pl.read_parquet_schema(file).items())


def value_of(file: Path) -> dict[str, dict[str, list[object]]]:
    """The flows and links of one task, by column, as ``Stop.value`` wants them."""
    import polars as pl

    whole = pl.read_parquet(file)
    return {
        record: whole.filter(pl.col("record") == record).to_dict(as_series=False) for record in ("flow", "link")
    }

