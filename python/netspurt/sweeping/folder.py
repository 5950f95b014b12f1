"""The folder of a sweep: what is in it, who may write, and what is on the disk for good.

    sweep.json            which netspurt, which scenario, how many tasks
    plan.parquet          one row for each task: its name, point, seed, and what is varied
    tasks/NAME.parquet    what came of a task: its flows, groups and links
    failed/NAME.json      a task that failed, and why
    flows.parquet, …      all tasks in one table each, when the sweep is through

Lives here: names, locks, whole files. Must not live here: what runs, or in which order.

A file takes its name when all of it is there, so a sweep may be killed at any time: what has a name is whole. Against
a power failure the file system is told every few seconds, and at the end, to put everything on the disk (one call,
where a call for each file would cost as much as a small simulation); a file that lost its contents is run again.
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

ABOUT = "sweep.json"
PLAN = "plan.parquet"
MAGIC = b"PAR1"
"""A Parquet file begins and ends with it."""

SYNC_EVERY_S = 5.0

Slice = tuple[int, int]
"""The i-th of n parts, from 1."""


class SweepWriteError(OutputError):
    """The disk said no in the middle of a sweep."""

    def __init__(self, folder: Path, error: OSError, done: int) -> None:
        super().__init__(folder, error)
        words = str(self).removesuffix("; nothing was left there")
        self.args = (
            f"{words}; the {done} tasks that are done are kept: make room and give the command again",
        )


class Folder:
    """A sweep's folder. ``writing`` first, then ``keep`` and ``fail``; what reads can be called at any time."""

    def __init__(self, path: Path, part: Slice | None = None) -> None:
        self.path = path
        self._part = part
        name = "whole" if part is None else f"{part[0]}-of-{part[1]}"
        self._stage = path / f".writing-{name}"
        self._tasks = path / "tasks"
        # As text: to make it of a Path costs as much as a system call.
        self._stage_name, self._tasks_name = str(self._stage), str(self._tasks)
        self._failures = path / "failed"
        self._synced = time.monotonic()
        self._kept = 0

    @contextlib.contextmanager
    def writing(self, version: str) -> Iterator[None]:
        """Makes the folder and keeps everybody else from writing to it.

        Raises:
            RequestError: another sweep is writing there, the folder is of another version, or of no sweep.
            OutputError: it cannot be written to.
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
            raise RequestError(f"{self.path} is a file: name a folder for the sweep with --out")
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
                    f"{self.path} holds {strange[0]} and is no folder of a sweep: name another one with --out"
                )
        elif (theirs := about.get("netspurt")) != version:
            raise RequestError(
                f"{self.path} is a sweep of netspurt {theirs}, and this is {version}: results of two versions do not "
                "belong together; name another folder with --out"
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
        """The names of all tasks whose results are there and whole."""
        return {path.stem for path in _files(self._tasks) if path.suffix == ".parquet" and _whole(path)}

    def failures(self) -> dict[str, dict[str, Any]]:
        """What failed, by the name of the task: ``point``, ``seed`` and ``error``."""
        found: dict[str, dict[str, Any]] = {}
        for path in _files(self._failures):
            with contextlib.suppress(ValueError):  # cut short by a power failure: the task is run again
                found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def file(self, name: str) -> Path:
        """Where the result of a task is."""
        return self._tasks / f"{name}.parquet"

    def keep(self, name: str, contents: bytes) -> None:
        """The result of a task is there: all of it, or, after an error, nothing.

        Raises:
            SweepWriteError: it cannot be written.
        """
        self._put(f"{self._tasks_name}/{name}.parquet", contents)
        self._kept += 1
        if time.monotonic() - self._synced > SYNC_EVERY_S:
            _sync(self.path)
            self._synced = time.monotonic()

    def fail(self, name: str, why: dict[str, Any]) -> None:
        """A task has failed."""
        self._put(f"{self._failures}/{name}.json", json.dumps(why, indent=1).encode())

    def forgive(self, name: str) -> None:
        """A task that had failed has not failed any more."""
        (self._failures / f"{name}.json").unlink(missing_ok=True)

    def put(self, name: str, contents: bytes) -> None:
        """A file of the folder itself; left alone where it says the same already."""
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
    """What a folder says of its sweep; ``None`` where it is none."""
    try:
        about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
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
    """The whole folder for one sweep, or one slice of it for each process. Locks end with their process."""
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
            who = file.read().strip() or "it has not said which"
            raise RequestError(
                f"another sweep is writing to {path.parent} ({who}): wait for its end, or name another folder "
                "with --out"
            ) from error
        if kind == fcntl.LOCK_EX:
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
        yield


def _sync(path: Path) -> None:
    """Puts everything written to the file system of ``path`` onto its disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(handle) != 0:
            os.sync()
    except AttributeError:  # a C library without it
        os.sync()
    finally:
        os.close(handle)
