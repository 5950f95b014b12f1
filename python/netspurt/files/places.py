"""Where a command may write: never over its own inputs, and over existing files only if they are earlier outputs.

Lives here: the check of a destination before any work is done. Must not live here: writing (``output``), or which
options a command has (``cli.options``).

Two paths are the same file if device and inode are the same, so links and other spellings of a path count. Pipes and
devices hold nothing that could be lost and are not checked.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from netspurt.errors import RequestError
from netspurt.files.output import files_of_an_earlier_run

END = 8192
"""Number of bytes at the beginning and at the end of a file that show its kind."""

SWEEP = "sweep.json"
PLAN = "plan.parquet"
SWEPT = (SWEEP, PLAN, "flows.parquet", "groups.parquet", "links.parquet")
"""Files that the folder of a sweep may have."""

Identity = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True)
class Form:
    """The form of an output, and how an earlier output of this form is recognised.

    Attributes:
        words: what it is, for messages.
        begins: first bytes, any of these; empty for tables.
        holds: bytes that stand near the beginning or the end.
        columns: sets of columns, of which a table has one.
        names: of a folder: the files that are known beforehand.
        mark: of a folder: the file that every folder of this form has.
    """

    words: str
    begins: tuple[bytes, ...] = ()
    holds: bytes = b""
    columns: tuple[frozenset[str], ...] = ()
    names: tuple[str, ...] = ()
    mark: str = ""


CAPTURE = Form(
    "a capture that netspurt wrote",
    tuple(map(bytes.fromhex, ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))),
    b"netspurt",
)
TRACE = Form("the trace of a run", columns=(frozenset({"record", "time_s"}),))
SAMPLES = Form(
    "a table of round-trip times that 'capture' wrote",
    columns=(frozenset({"file", "connection", "method", "rtt_s"}),),
)
EVENTS = Form(
    "a table of events that 'capture' wrote", columns=(frozenset({"file", "connection", "event", "reason"}),)
)
LIMITS = Form(
    "a table of intervals that 'why' wrote",
    columns=(
        frozenset({"file", "connection", "until_s", "limit"}),
        frozenset({"socket", "local", "remote", "limit"}),
    ),
)
PROBE = Form("a recording of 'ping'", columns=(frozenset({"host", "event", "time_s", "rtt_ms"}),))
REPORT = Form("a report of netspurt", (b"<!doctype html",), b"netspurt")
PICTURE = Form("a picture that netspurt drew", (b"<svg", b"<?xml", b"%pdf", b"\x89png"), b"Matplotlib")
DRAWN = Form(
    "a picture that netspurt drew, or its data",
    PICTURE.begins,
    PICTURE.holds,
    (frozenset({"trace"}), frozenset({"runs", "mean", "low", "high"})),
)
SCENARIO_MARK = "# Written by:"
"""The beginning of each scenario that netspurt writes; the command line follows."""

SCENARIO = Form("a scenario that netspurt wrote", (SCENARIO_MARK.lower().encode(),), b"netspurt")
RUN_FOLDER = Form(
    "the folder of 'run --out'",
    names=("scenario.toml", "versions.json", "result.json", "flows.csv", "groups.csv", "links.csv"),
    mark="result.json",
)
REPORT_FOLDER = Form(
    "the report of 'reproduce'", names=("index.html", "reproduce.json"), mark="reproduce.json"
)
SWEEP_FOLDER = Form("the folder of a sweep", names=SWEPT)
"""Whose sweep it is, ``sweeping.folder`` looks at."""


class Source(str):
    """A path that a command reads."""

    __slots__ = ()


class Destination(str):
    """A path that a command writes, with its option and the form of the output."""

    __slots__ = ("form", "option")

    option: str
    form: Form

    def __new__(cls, path: str, option: str, form: Form) -> Destination:
        """A path with what belongs to it."""
        made = super().__new__(cls, path)
        made.option, made.form = option, form
        return made


class Places:
    """All inputs and outputs of one command.

    Raises:
        RequestError: an output is an input or another output, or it would replace a file of another kind.
    """

    def __init__(self, options: Mapping[str, object], *, force: bool = False) -> None:
        found = list(_paths(options.values()))
        self._force = force
        self._sources: dict[Identity, str] = {}
        self._taken: dict[Identity | Path, str] = {}
        self._admitted: list[tuple[Path, str]] = []
        for each in found:
            if isinstance(each, Source):
                self.read(each)
        for each in found:
            if isinstance(each, Destination):
                self.admit(each)

    def read(self, source: str) -> None:
        """One more input; a folder stands for the files in it that netspurt wrote.

        Raises:
            RequestError: an output that was admitted before is this file.
        """
        # One that cannot be looked at is no output either; reading it says why.
        with contextlib.suppress(OSError):
            for each in (source, *(str(Path(source) / name) for name in _inside(Path(source)))):
                if (who := _identity(each)) is not None:
                    self._sources[who] = each
        for path, option in self._admitted:
            self._refuse_input(path, option)

    def admit(self, place: Destination) -> None:
        """Lets an output pass, or says why it cannot be written there."""
        if not place.form.names:
            self._admit_file(Path(place), place.option, place.form)
            return
        folder = Path(place)
        ours = files_of_an_earlier_run(folder)
        if place.form is not SWEEP_FOLDER:
            self._admit_folder(folder, ours, place)
        for name in place.form.names:
            self._refuse_input(folder / name, place.option)
            foreign = name not in ours and place.form is not SWEEP_FOLDER and _identity(folder / name)
            if foreign and not self._force:
                raise RequestError(
                    f"cannot replace {folder / name} ({place.option}): no earlier run wrote it; name another folder, "
                    "or replace it with --force"
                )

    def admit_several(self, place: Destination, paths: Iterable[Path]) -> None:
        """Lets files pass that are named after an output."""
        for path in paths:
            if str(path) != str(Path(place)):
                self.admit(Destination(str(path), place.option, place.form))

    def _admit_folder(self, folder: Path, ours: set[str], place: Destination) -> None:
        other = _identity(folder / SWEEP) is not None or (ours and place.form.mark not in ours)
        if other and not self._force:
            raise RequestError(
                f"cannot write to {folder} ({place.option}): it holds other results, not {place.form.words}; name "
                "another folder, or give --force"
            )

    def _admit_file(self, path: Path, option: str, form: Form) -> None:
        self._refuse_input(path, option)
        self._admitted.append((path, option))
        who = _identity(path)
        key = path.resolve() if who is None else who
        regular = path.is_file() or not path.exists()
        if regular and key in self._taken:
            raise RequestError(
                f"cannot write {path} ({option}): {self._taken[key]} writes to the same file; name another one"
            )
        self._taken[key] = option
        if who is not None and regular and not self._force and not _looks_like(path, form):
            raise RequestError(
                f"cannot replace {path} ({option}): it is not {form.words}; name another file, or replace it "
                "with --force"
            )

    def _refuse_input(self, path: Path, option: str) -> None:
        who = _identity(path)
        if who is not None and who in self._sources:
            same = self._sources[who]
            also = "" if same == str(path) else f" (as {same})"
            raise RequestError(
                f"cannot write {path} ({option}): this command also reads it{also}; name another file"
            )


def _paths(values: Iterable[object]) -> Iterable[object]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _paths(value)
        else:
            yield value


def _identity(path: str | Path) -> Identity | None:
    """Which file it is; None where there is none, or none that holds anything."""
    try:
        about = os.fstat(0) if path == "-" else Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    lasting = stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)
    return (about.st_dev, about.st_ino) if lasting else None


def _inside(folder: Path) -> Iterable[str]:
    return {*files_of_an_earlier_run(folder), *SWEPT} if folder.is_dir() else ()


def _looks_like(path: Path, form: Form) -> bool:
    """Whether a file is an earlier output of this form, or empty."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            beginning = file.read(END)
            file.seek(max(len(beginning), size - END))
            end = file.read(END)
    except OSError as error:
        raise RequestError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    if not beginning:
        return True
    if form.columns and (columns := _columns(path, beginning)) is not None:
        return any(each <= columns for each in form.columns)
    return (
        beginning.lower().startswith(form.begins) and form.holds in beginning + end if form.begins else False
    )


def _columns(path: Path, beginning: bytes) -> frozenset[str] | None:
    """The columns of a Parquet table or of a CSV file; None of anything else."""
    if not beginning.startswith(b"PAR1"):
        if path.suffix != ".csv":
            return None
        return frozenset(beginning.splitlines()[0].decode("utf-8", "replace").split(","))
    import polars as pl

    try:
        return frozenset(pl.read_parquet_schema(path))
    except (OSError, pl.exceptions.PolarsError):
        return frozenset()
