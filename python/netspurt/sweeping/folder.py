"""The folder of a sweep: its files, its locks, and their durability.

    sweep.json            version of netspurt, scenario, number of tasks
    plan.parquet          one row for each task: its name, point, seed, and the varied values
    tasks/NAME.parquet    the result of a task: its flows, groups and links
    failed/NAME.json      a failed task and its error
    flows.parquet, …      all tasks in one table each, when the sweep is complete

Lives here: names, locks, atomic writes. Must not live here: which tasks run, or their order.

A file gets its name when its content is complete, so a sweep may be killed at any time: a named file is complete.
Against a power failure, one call every few seconds and at the end flushes the file system to disk (a call for each
file would cost as much as a small simulation). A task whose file lost its content runs again.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from netspurt.errors import OutputError, RequestError
from netspurt.files.places import PLAN, SWEEP

MAGIC = b"PAR1"
"""The magic bytes at both ends of a Parquet file."""

SYNC_EVERY_S = 5.0

Slice = tuple[int, int]
"""The i-th of n slices, from 1."""


class SweepWriteError(OutputError):
    """A write failed during a sweep."""

    def __init__(self, folder: Path, error: OSError, done: int) -> None:
        super().__init__(
            folder,
            error,
            left=f"the {done} completed tasks are kept",
            otherwise=": free some space and give the command again",
        )


class Folder:
    """A sweep's folder. Call ``writing`` before ``keep`` and ``fail``; the reading methods have no order."""

    def __init__(self, path: Path, part: Slice | None = None) -> None:
        self.path = path
        self._part = part
        name = "whole" if part is None else f"{part[0]}-of-{part[1]}"
        self._stage = path / f".writing-{name}"
        self._tasks = path / "tasks"
        # As text: making it from a Path costs as much as a system call.
        self._stage_name, self._tasks_name = str(self._stage), str(self._tasks)
        self._failures = path / "failed"
        self._synced = time.monotonic()
        self._kept = 0

    @contextlib.contextmanager
    def writing(self, version: str) -> Iterator[None]:
        """Creates the folder and locks it against other writers.

        Raises:
            RequestError: another sweep is writing there, or the folder has another version, or is not a sweep's.
            OutputError: the folder cannot be written.
        """
        try:
            self._admit(version)
            self._tasks.mkdir(parents=True, exist_ok=True)
            self._failures.mkdir(exist_ok=True)
            with _lock(self.path, self._part):
                shutil.rmtree(self._stage, ignore_errors=True)
                self._stage.mkdir()
                try:
                    yield
                finally:
                    shutil.rmtree(self._stage, ignore_errors=True)
                    if self._kept:
                        _sync(self.path)
        except OSError as error:
            raise OutputError(self.path, error) from error

    def _admit(self, version: str) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise RequestError(f"{self.path} is a file: give a folder for the sweep with --out")
        about = about_of(self.path)
        if about is None:
            strange = (
                [
                    p.name
                    for p in self.path.iterdir()
                    if not p.name.startswith(("lock", ".", "tasks", "failed"))
                ]
                if self.path.exists()
                else []
            )
            if strange:
                raise RequestError(
                    f"{self.path} contains {strange[0]} and is not the folder of a sweep: give another one with --out"
                )
        elif (theirs := about.get("netspurt")) != version:
            raise RequestError(
                f"{self.path} is a sweep of netspurt {theirs}, and this is {version}: results of two versions cannot "
                "be mixed; give another folder with --out"
            )

    def expect(self, names: Iterable[str]) -> None:
        """Refuses a folder with results of another sweep: one whose plan has no task in common with ours.

        More seeds or more values of an axis are the same sweep, continued.

        Raises:
            RequestError: the folder belongs to another sweep.
        """
        import polars as pl

        try:
            theirs = set(pl.read_parquet(self.path / PLAN, columns=["task"])["task"])
        except (OSError, pl.exceptions.PolarsError):
            return
        if theirs.isdisjoint(names) and not theirs.isdisjoint(self.done()):
            raise RequestError(
                f"{self.path} holds the results of another sweep: name another folder with --out, or keep both there "
                "with --force"
            )

    def done(self) -> set[str]:
        """The names of all tasks with a complete result."""
        return {path.stem for path in _files(self._tasks) if path.suffix == ".parquet" and _whole(path)}

    def failures(self) -> dict[str, dict[str, Any]]:
        """The failed tasks by name: ``point``, ``seed`` and ``error``."""
        found: dict[str, dict[str, Any]] = {}
        for path in _files(self._failures):
            with contextlib.suppress(ValueError):  # truncated by a power failure: the task runs again
                found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def file(self, name: str) -> Path:
        """The file of the result of a task."""
        return self._tasks / f"{name}.parquet"

    def keep(self, name: str, contents: bytes) -> None:
        """Stores the result of a task: completely, or not at all after an error.

        Raises:
            SweepWriteError: the file cannot be written.
        """
        self._put(f"{self._tasks_name}/{name}.parquet", contents)
        self._kept += 1
        if time.monotonic() - self._synced > SYNC_EVERY_S:
            _sync(self.path)
            self._synced = time.monotonic()

    def fail(self, name: str, why: dict[str, Any]) -> None:
        """Stores the failure of a task."""
        self._put(f"{self._failures}/{name}.json", json.dumps(why, indent=1).encode())

    def forgive(self, name: str) -> None:
        """Deletes the stored failure of a task."""
        (self._failures / f"{name}.json").unlink(missing_ok=True)

    def put(self, name: str, contents: bytes) -> None:
        """Writes a file of the folder itself, unless its content is unchanged."""
        place = self.path / name
        if not place.is_file() or place.read_bytes() != contents:
            self._put(str(place), contents)

    def _put(self, place: str, contents: bytes) -> None:
        stage = f"{self._stage_name}/{place.rpartition('/')[2]}"
        try:
            handle = os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            try:
                written = os.write(handle, contents)
                while written < len(contents):
                    written += os.write(handle, contents[written:])
            finally:
                os.close(handle)
            os.replace(stage, place)  # noqa: PTH105  # a Path costs as much as the call
        except OSError as error:
            with contextlib.suppress(OSError):
                Path(stage).unlink()
            raise SweepWriteError(self.path, error, len(self.done())) from error


def about_of(path: Path) -> dict[str, Any] | None:
    """The description of the sweep in a folder; ``None`` if there is none."""
    try:
        about = json.loads((path / SWEEP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) else None


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(".")]
    except FileNotFoundError:
        return []


def _whole(path: Path) -> bool:
    try:
        with path.open("rb", buffering=0) as file:
            if file.read(4) != MAGIC:
                return False
            file.seek(-4, os.SEEK_END)
            return file.read(4) == MAGIC and file.tell() > 8
    except OSError:
        return False


@contextlib.contextmanager
def _lock(path: Path, part: Slice | None) -> Iterator[None]:
    """Locks the whole folder, or one slice of it. Locks end with their process."""
    # flock() and not the package filelock, whose locks are exclusive: slices hold the folder together.
    with contextlib.ExitStack() as held:
        if part is None:
            held.enter_context(_flock(path / "lock", fcntl.LOCK_EX))
        else:
            held.enter_context(_flock(path / "lock", fcntl.LOCK_SH))
            for other in path.glob("lock-*-of-*"):
                if not other.name.endswith(f"-of-{part[1]}"):
                    with _flock(other, fcntl.LOCK_EX):
                        pass
            held.enter_context(_flock(path / f"lock-{part[0]}-of-{part[1]}", fcntl.LOCK_EX))
        yield


@contextlib.contextmanager
def _flock(path: Path, kind: int) -> Iterator[None]:
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            who = file.read().strip() or "an unknown process"
            raise RequestError(
                f"another sweep is writing to {path.parent} ({who}): wait for its end, or give another folder "
                "with --out"
            ) from error
        if kind == fcntl.LOCK_EX:
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
        yield


def _sync(path: Path) -> None:
    """Flushes everything written to the file system of ``path`` to its disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(handle) != 0:
            os.sync()
    except AttributeError:  # a C library without syncfs
        os.sync()
    finally:
        os.close(handle)
