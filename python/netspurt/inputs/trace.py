"""Traces of ``netspurt run --trace``.

Lives here: reading a Parquet file as a recording. Must not live here: drawing, comparing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.errors import RequestError
from netspurt.inputs.recording import Frame, named, placed, series_of

if TYPE_CHECKING:
    import polars as pl


class Traced:
    """A trace of ``netspurt run --trace``."""

    def __init__(self, name: str, table: pl.DataFrame) -> None:
        self.name = name
        self.table = table

    def prepare(self, names: Iterable[str]) -> None:
        """Does nothing: all tables are in memory."""

    def segments(self) -> Frame:
        """See ``Recording``."""
        return named(self._rows("segments"))

    def series(self, name: str) -> Frame:
        """See ``Recording``."""
        return series_of(self._rows(name))

    def drops(self) -> Frame:
        """See ``Recording``; a trace of an earlier version has none."""
        return placed(self._rows("drops"))

    def _rows(self, record: str) -> Frame:
        import polars as pl

        rows = self.table.filter(pl.col("record") == record)
        return rows.select([column for column in rows.columns if rows[column].null_count() < rows.height])


def read_trace(path: Path) -> Traced:
    """Reads a trace.

    Raises:
        RequestError: the file cannot be read, or is not a trace.
    """
    import polars as pl

    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RequestError(f"{path} cannot be read as Parquet") from error
    if "record" not in table.columns or "reason" not in table.columns:
        raise RequestError(f"{path} is not a trace of 'netspurt run --trace'")
    return Traced(str(path), table)
