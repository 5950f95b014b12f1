"""Files and directories that appear whole or not at all.

Lives here: staging beside the destination, renaming, and clear messages when the disk cannot be written.
Must not live here: what the files contain.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netspurt.errors import OutputError, RequestError, system_error

LEAST_SPACE = 1 << 16
"""A file system with fewer free bytes is taken for full where a library cannot write a table."""

MANIFEST = "manifest.json"
"""Lists every file that netspurt wrote into a directory, so that a later run can remove those it no longer writes."""


class DiscardedError(Exception):
    """Raised where files are being written of which nothing shall stay: no input could be read."""


@contextmanager
def directory(destination: Path, *, force: bool = False) -> Iterator[Path]:
    """A directory to write into that takes the destination's place when the block ends well.

    Files of the user's own in an existing destination are left alone; files of an earlier run of ours are
    replaced or, where they are not written any more, removed.

    Args:
        destination: the directory.
        force: whether files of the user's own are replaced where their names are needed.

    Raises:
        OutputError: at once if nothing can be written there, or later when the disk is full. The
            destination is then as it was before.
        RequestError: a file of the user's own has a name that is needed.
    """
    try:
        if destination.exists() and not destination.is_dir():
            raise NotADirectoryError(20, "it is a file, not a directory")
        if destination.exists():
            _probe(destination)
        stage = Path(tempfile.mkdtemp(prefix=f".{destination.name}-", dir=_existing(destination.parent)))
    except OSError as error:
        raise OutputError(destination, error) from error
    try:
        yield stage
        _commit(stage, destination, force=force)
    except OSError as error:
        raise OutputError(destination, error) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def file(destination: Path) -> Iterator[Path]:
    """A path to write one file to that takes the destination's place when the block ends well.

    A pipe or a device is its own path: its name must not be given to a file.

    Raises:
        OutputError: as for ``directory``.
    """
    if destination.is_dir():
        raise OutputError(destination, IsADirectoryError(21, "it is a directory"))
    if destination.exists() and not destination.is_file():
        with _as_output_error(destination):
            yield destination
        return
    try:
        # The suffix stays: writers of captures and tables go by it.
        handle, name = tempfile.mkstemp(
            prefix=".netspurt-", suffix=destination.suffix, dir=destination.parent
        )
        os.close(handle)
    except OSError as error:
        raise OutputError(destination, error) from error
    stage = Path(name)
    try:
        with _as_output_error(destination):
            yield stage
            stage.chmod(0o666 & ~_umask())
            stage.replace(destination)
    finally:
        stage.unlink(missing_ok=True)


@contextmanager
def _as_output_error(destination: Path) -> Iterator[None]:
    """Turns an error of the system into an ``OutputError``."""
    try:
        yield
    except OSError as error:
        raise OutputError(destination, error) from error
    except Exception as error:
        # The library for tables has its own errors for a full disk. Their text need not contain the system's number.
        if (cause := system_error(error) or _full(destination, error)) is None:
            raise
        raise OutputError(destination, cause) from error


def _full(destination: Path, error: Exception) -> OSError | None:
    """That no space is left, if the library for tables failed and that is so."""
    if not type(error).__module__.startswith("polars"):
        return None
    there = os.statvfs(destination.parent)
    full = there.f_bavail * there.f_frsize < LEAST_SPACE
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if full else None


def _existing(path: Path) -> Path:
    """The nearest ancestor that exists: staging there is on the file system of the destination."""
    while not path.exists():
        path = path.parent
    return path


def _probe(path: Path) -> None:
    with tempfile.TemporaryFile(dir=path):
        pass


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _commit(stage: Path, destination: Path, *, force: bool) -> None:
    written = sorted(str(path.relative_to(stage)) for path in stage.rglob("*") if path.is_file())
    (stage / MANIFEST).write_text(json.dumps({"files": written}, indent=1) + "\n", encoding="utf-8")
    before = files_of_an_earlier_run(destination)
    own = next((name for name in written if name not in before and (destination / name).exists()), None)
    if own is not None and not force:
        raise RequestError(
            f"cannot replace {destination / own}: no earlier run wrote it; name another folder, or replace it with "
            "--force"
        )
    stage.chmod(0o777 & ~_umask())
    if not destination.exists():
        destination.parent.mkdir(parents=True, exist_ok=True)
        stage.rename(destination)
        return
    for name in [*written, MANIFEST]:
        target = destination / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (stage / name).replace(target)
    for name in before - set(written):
        (destination / name).unlink(missing_ok=True)


def check_parquet(path: Path, *, or_pipe: bool = False) -> None:
    """Refuses a name that says something else than Parquet, unless it is of a pipe or a device and these are allowed.

    Raises:
        RequestError: the name does not end in ``.parquet``.
    """
    is_pipe = or_pipe and path.exists() and not path.is_file()
    if path.suffix != ".parquet" and not is_pipe:
        raise RequestError(f"{path} would be a Parquet file: end its name in .parquet")


def files_of_an_earlier_run(destination: Path) -> set[str]:
    """The names of files that netspurt wrote into a directory, as its manifest lists them."""
    try:
        names = json.loads((destination / MANIFEST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = destination.resolve()
    # A manifest from elsewhere must not make us delete outside the destination.
    return {str(name) for name in names if (inside / str(name)).resolve().is_relative_to(inside)}
