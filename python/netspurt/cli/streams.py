"""Standard output and standard error of a command.

Lives here: what becomes of characters that the encoding lacks, and of a standard output that cannot be written to.
Must not live here: what is printed.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

FALLBACK = "netspurt.fallback"
"""The name under which Python knows ``_replaced``."""

INSTEAD = {
    "–": "-",
    "—": "-",
    "−": "-",
    "─": "-",
    "…": "...",
    "→": "->",
    "±": "+-",
    "×": "x",
    "·": "*",
    "µ": "u",
    "∞": "inf",
    **dict.fromkeys("▌▋▊▉█", "#"),
    **dict.fromkeys("▏▎▍", "."),
    "≤": "<=",
    "≥": ">=",
    "σ": "sigma",
    "\N{NARROW NO-BREAK SPACE}": " ",
    "\N{NO-BREAK SPACE}": " ",
}
"""ASCII for the characters that netspurt prints; '?' for all others."""


class StandardOutputError(Exception):
    """Standard output cannot be written to; its cause says why."""


class _Guarded:
    """Standard output whose errors are distinct from those of files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream itself."""
        with _distinct_errors():
            return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        """As the stream itself."""
        with _distinct_errors():
            self._stream.writelines(lines)

    def flush(self) -> None:
        """As the stream itself."""
        with _distinct_errors():
            self._stream.flush()


@contextlib.contextmanager
def _distinct_errors() -> Iterator[None]:
    from netspurt.errors import reason

    try:
        yield
    except OSError as error:
        raise StandardOutputError(
            f"cannot write to standard output: {reason(error)}; make room, or send it to another place"
        ) from error


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """Both streams print any text, in ASCII where their encoding has nothing better."""
    codecs.register_error(FALLBACK, _replaced)
    before = sys.stdout
    if sys.stdout is None:
        # The shell closed it (>&-): output is discarded.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # as long as the program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in STRICT:
            stream.reconfigure(errors=FALLBACK)
    sys.stdout = _Guarded(sys.stdout)
    try:
        yield
    finally:
        sys.stdout = before


STRICT = ("strict", "surrogateescape", "backslashreplace")
"""The default of Python; another choice by the user is kept."""


def discard() -> None:
    """Lets nothing more be written to standard output: what waits there would fail again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    if all("\udc80" <= character <= "\udcff" for character in text):
        # The bytes of a file name that are no text.
        return text.encode("ascii", "surrogateescape"), error.end
    return "".join(INSTEAD.get(character, "?") for character in text), error.end
