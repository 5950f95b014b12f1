"""A Parquet file that is complete at any moment while rows are added.

Lives here: when rows reach the disk, and under which name. Must not live here: what they mean.

A Parquet file ends with its table of contents, so rows cannot be appended. Instead the file is written anew under a
temporary name and then replaces the old one, at most a second after a row was added. A process that is killed, even by
SIGKILL, leaves a complete file without the last second. To bound the cost of long runs, a file of ``PIECE_ROWS`` rows
is not rewritten; the next piece begins (``probe.parquet``, ``probe.2.parquet``, …). At the end all pieces are joined
into the requested file.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from netspurt.errors import OutputError, RequestError
from netspurt.files import output

if TYPE_CHECKING:
    import polars as pl

EVERY_S = 0.5
"""Rows wait for the disk this long at most, and then for as long as writing a piece takes."""

PIECE_ROWS = 200_000
"""Some 20 ms of writing."""


class GrowingParquet:
    """A table on disk that grows. Used as a context: after it, one file holds all rows.

    Raises:
        RequestError: the name does not end in ``.parquet``, or a killed run has left pieces there.
        OutputError: the file cannot be written, at the beginning, in ``write``, or at the end.
    """

    def __init__(self, path: Path, schema: Mapping[str, type], piece_rows: int = PIECE_ROWS) -> None:
        output.check_parquet(path)
        self._path = path
        self._schema = dict(schema)
        self._piece_rows = piece_rows
        self._pieces = [path]
        self._rows: list[pl.DataFrame] = []
        self._dirty = False
        self._written_at = 0.0

    def write(self, rows: pl.DataFrame) -> None:
        """Adds rows; call it, if with none, as often as twice a second."""
        if rows.height:
            self._rows.append(rows)
            self._dirty = True
        if self._dirty and time.monotonic() - self._written_at >= EVERY_S:
            self._flush()

    def __enter__(self) -> GrowingParquet:
        if (left := self._name(2)).exists():
            raise RequestError(
                f"{left} is left of a run that was killed: move it and {self._path} elsewhere first"
            )
        self._flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._dirty:
            self._flush()
        if len(self._pieces) > 1:
            self._join()

    def _name(self, number: int) -> Path:
        return self._path if number == 1 else self._path.with_suffix(f".{number}.parquet")

    def _flush(self) -> None:
        import polars as pl

        table = pl.concat([pl.DataFrame(schema=dict(self._schema)), *self._rows])
        with output.file(self._pieces[-1]) as stage:
            table.write_parquet(stage)
        self._rows = [table]
        self._dirty = False
        self._written_at = time.monotonic()
        if table.height >= self._piece_rows:
            self._rows = []
            self._pieces.append(self._name(len(self._pieces) + 1))

    def _join(self) -> None:
        import polars as pl

        written = [piece for piece in self._pieces if piece.exists()]
        if len(written) == 1:
            return
        try:
            with output.file(self._path) as stage:
                pl.scan_parquet(written).sink_parquet(stage)
            for piece in written[1:]:
                piece.unlink()
        except OSError as error:
            raise OutputError(self._path, error) from error
