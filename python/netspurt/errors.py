"""The errors a user can mend, and the words for them.

Lives here: error types and helpers that turn a system error into one clear sentence.
Must not live here: anything that prints or exits (that is ``cli``'s).
"""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path


class RequestError(Exception):
    """The request was wrong: the message is one sentence that says what, where and what would be right."""


class FilterError(RequestError):
    """A filter of packets is not understood; it would fail for every file alike."""


class OutputError(RequestError):
    """A file or directory could not be written.

    Args:
        left: what is there now.
        otherwise: what to do for errors that have no advice of their own.
    """

    def __init__(
        self, path: Path | str, error: OSError, left: str = "nothing was left there", otherwise: str = ""
    ) -> None:
        advice = _instead(Path(path), error) or otherwise
        super().__init__(f"cannot write {path}: {reason(error)}; {left}{advice}")


def _instead(path: Path, error: OSError) -> str:
    """What to do about a file that cannot be written, where it is known."""
    if error.errno == errno.ENOENT and not path.parent.exists():
        return f": make the folder {path.parent} first"
    if error.errno == errno.EISDIR:
        return ": name a file in it"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ": name a place where you may write"
    return ""


def native(error: Exception) -> RequestError:
    """An error of the native module; one that names a file says that it cannot be written."""
    if isinstance(error, OSError) and error.filename is not None:
        return OutputError(error.filename, error)
    return RequestError(str(error))


class EngineError(Exception):
    """What should have run the tasks of a sweep is gone; one sentence. What was done is kept."""


class StudyError(Exception):
    """A study cannot be evaluated: a scenario or a published figure is not what the code expects."""


def system_error(error: BaseException) -> OSError | None:
    """The error of the system that an error has only as text (``… (os error 28)``); None if it has none."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    return None if found is None else OSError(int(found[1]), os.strerror(int(found[1])))


def reason(error: OSError) -> str:
    """Why a call of the system failed, in a few words."""
    cause = error if error.errno is not None else system_error(error) or error
    if cause.errno == errno.ENOSPC:
        return "no space is left there"
    if cause.errno == errno.EDQUOT:
        return "the disk quota is used up"
    return (cause.strerror or str(cause)).lower()


def absent(path: Path, what: str = "") -> str:
    """The sentence that there is no such file, with the folder that is missing or the name that is near."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no {what}{path}: the folder {folder} does not exist"
    try:
        names = [each.name for each in folder.iterdir()]
    except OSError:
        names = []
    match = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"there is no {what}{path}" + (f", did you mean '{folder / match[0]}'?" if match else "")


def unreadable(path: Path, error: OSError) -> str:
    """The sentence that a file cannot be read: why, and what to do next."""
    advice = ""
    if error.errno == errno.ENOENT:
        name = absent(path)
        advice = name.partition(str(path))[2] or ": check the name, and the folder that you are in"
    elif error.errno == errno.EISDIR:
        advice = ": name a file in it"
    elif error.errno in (errno.EACCES, errno.EPERM):
        advice = ": check the permissions of the file and of its folders"
    return f"cannot read {path}: {(error.strerror or str(error)).lower()}{advice}"


def nearest(word: str, known: Iterable[str]) -> str:
    """The words ``, did you mean 'x'?``, or nothing where no known word is near."""
    match = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f", did you mean '{match[0]}'?" if match else ""
