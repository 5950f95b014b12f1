"""Parquet files written piece by piece, while what goes into them is still being found.

Lives here: a queue and the thread that empties it into a file. Must not live here: what the tables mean.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

PIECES_WAITING = 4
"""Number of pieces that may wait for the disk before the writer is blocked."""


class ParquetWriter:
    """A table that is written as it comes, from any number of threads, with memory for a few pieces only.

    Used as a context: after it the file is complete.

    Raises:
        OSError: from ``write`` or at the end of the context, if the file cannot be written.
    """

    def __init__(self, path: Path, schema: Mapping[str, type]) -> None:
        self._path = path
        self._schema = dict(schema)
        self._pieces: queue.Queue[pl.DataFrame | None] = queue.Queue(PIECES_WAITING)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def write(self, piece: pl.DataFrame) -> None:
        """Adds rows."""
        if self._failure is not None:
            raise self._failure
        if piece.height:
            self._pieces.put(piece)

    def __enter__(self) -> ParquetWriter:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pieces.put(None)
        self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    def _run(self) -> None:
        import polars as pl
        from polars.io.plugins import register_io_source

        def rows(
            columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
        ) -> Iterator[pl.DataFrame]:
            while (piece := self._next()) is not None:
                yield piece

        try:
            register_io_source(rows, schema=pl.Schema(self._schema)).sink_parquet(self._path)
        except BaseException as error:
            self._failure = error
            # Take the rest of the queue: a thread that adds rows waits while it is full.
            while self._next() is not None:
                pass

    def _next(self) -> pl.DataFrame | None:
        """The next rows; None at the end, and at each call after it."""
        piece = self._pieces.get()
        if piece is None:
            self._pieces.put(None)
        return piece
