"""The kind of input at a path, decided in this one place by content.

Lives here: the magic bytes of files and the marker files of folders. Must not live here: reading the content.

The name counts only if the content is not available (a pipe) or not conclusive (an empty or damaged file, other
text): messages then refer to the format that the user meant.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from netspurt.errors import RequestError, absent, unreadable
from netspurt.files.places import SWEEP


class Kind(Enum):
    """Kinds of input; the value is the name of the kind in messages."""

    SCENARIO = "a scenario or a synthetic path"
    RUN_FOLDER = "the folder of a run"
    SWEEP_FOLDER = "the folder of a sweep"
    FOLDER = "a folder"
    RESULT = "the result of a run"
    TRACE = "the trace of a run"
    PARQUET = "a Parquet table"
    CAPTURE = "a capture"
    TEXT = "text"
    UNKNOWN = "a file of an unknown format"


RUN_MARK = "result.json"
"""The marker file of the folder of a run."""

CAPTURES = tuple(
    bytes.fromhex(digits)
    # pcapng; pcap with micro- and nanoseconds in either byte order; gzip; zstd. Only captures may be compressed.
    for digits in ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "1f8b", "28b52ffd")
)
"""First bytes of captures."""

SUFFIXES = {
    **dict.fromkeys((".pcap", ".pcapng", ".cap", ".gz", ".zst"), Kind.CAPTURE),
    **{".toml": Kind.SCENARIO, ".json": Kind.RESULT, ".parquet": Kind.PARQUET, ".csv": Kind.TEXT},
}

BEGINNING = 4096
"""This many bytes determine the kind of a file, except for the columns of a Parquet table."""

TOML = re.compile(r"""\s*(?:\[|[\w.'" -]+=)""")


def kind_of(path: Path) -> Kind:
    """The kind of a file or folder.

    Raises:
        RequestError: the path does not exist, or cannot be read.
    """
    try:
        if path.is_dir():
            return _of_folder(path)
        if not path.exists():
            raise RequestError(absent(path))
        if not path.is_file():
            return _of_name(path)
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
    except OSError as error:
        raise RequestError(unreadable(path, error)) from error
    if beginning.startswith(CAPTURES):
        return Kind.CAPTURE
    if beginning.startswith(b"PAR1"):
        return _of_table(path)
    return _of_text(beginning) or _of_name(path)


def _of_folder(path: Path) -> Kind:
    if (path / SWEEP).is_file():
        return Kind.SWEEP_FOLDER
    return Kind.RUN_FOLDER if (path / RUN_MARK).is_file() else Kind.FOLDER


def _of_table(path: Path) -> Kind:
    """A trace has a column that names the record of each row."""
    import polars as pl

    try:
        columns = pl.read_parquet_schema(path)
    except (OSError, pl.exceptions.PolarsError):
        return Kind.PARQUET
    return Kind.TRACE if "record" in columns else Kind.PARQUET


def _of_text(beginning: bytes) -> Kind | None:
    """JSON or TOML; None for other text or binary data."""
    try:
        # The last character may be truncated.
        text = beginning.decode("utf-8-sig", errors="strict" if len(beginning) < BEGINNING else "ignore")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    first = next(lines, None)
    if first is None:
        return None
    if first.lstrip().startswith("{"):
        return Kind.RESULT
    return Kind.SCENARIO if TOML.match(first) else None


def _of_name(path: Path) -> Kind:
    return next((SUFFIXES[suffix] for suffix in reversed(path.suffixes) if suffix in SUFFIXES), Kind.UNKNOWN)
