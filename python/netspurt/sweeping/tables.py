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
    files = [tasks / f"{name}.parquet" for name in names]
    pieces = [piece for at in range(0, len(files), AT_ONCE) for piece in _read(files[at : at + AT_ONCE])]
    if not pieces:
        return {name: plan.head(0) for name in RECORDS}
    tables = {}
    for name, record in RECORDS.items():
        own = pl.concat([_part(piece, record) for piece in pieces], how="diagonal_relaxed")
        # A cause of loss that a run did not meet is one that it met no times.
        own = own.with_columns(pl.col([each for each in own.columns if each.startswith("drops_")]).fill_null(0))
        clash = [each for each in own.columns if each in plan.columns and each != "task"]
        own = own.rename({each: f"run_{each}" for each in clash})
        tables[name] = plan.join(own, on="task", how="inner", maintain_order="left_right")
    return tables


def _part(piece: pl.DataFrame, record: str) -> pl.DataFrame:
    """The rows of one table with its own columns: those of links stand behind the others (``Run.parquet``)."""
    import polars as pl

    border = piece.columns.index("link")
    own = piece.filter(pl.col("record") == record)
    columns = piece.columns[border:] if record == "link" else piece.columns[:border]
    if record == "flow":
        columns = [name for name in columns if name != "flows"]
    if record == "group":
        columns = [name for name in columns if own[name].null_count() < own.height]
    kept = dict.fromkeys(("task", "digest", *columns))
    return own.select([name for name in kept if name not in ("record", "seed")])


def _read(files: Sequence[Path]) -> list[pl.DataFrame]:
    """Files that may differ in their columns, such as causes of loss that not every run met: one table for each kind."""
    import polars as pl

    alike: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for file in files:
        alike.setdefault(_columns(file), []).append(file)
    return [pl.read_parquet(group) for group in alike.values()]


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

