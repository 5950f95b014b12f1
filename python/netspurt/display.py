"""Registration of the notebook display and of the progress display, without importing either.

A result has a notebook form, but its module must not import the package that draws it. The package ``netspurt``
registers the two functions here when it is imported; the display itself is imported on first use.

Lives here: the two registered functions. Must not live here: HTML, or any heavy import.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Gauge(Protocol):
    """Shows progress of work."""

    def show(self, done: int, total: int, note: str = "") -> None:
        """Shows that ``done`` of ``total`` pieces are done; ``note`` adds details."""
        ...


_html: Callable[[str, object], str]
_gauge: Callable[[str], AbstractContextManager[Gauge]]


def fill(html: Callable[[str, object], str], gauge: Callable[[str], AbstractContextManager[Gauge]]) -> None:
    """Registers the functions that show values and progress; the package calls it once."""
    global _html, _gauge
    _html, _gauge = html, gauge


def shown(form: str, value: object) -> str:
    """The HTML or SVG of a value; ``form`` is a name in ``netspurt.notebook.FORMS``."""
    return _html(form, value)


def gauge(title: str) -> AbstractContextManager[Gauge]:
    """A progress display with this title."""
    return _gauge(title)
