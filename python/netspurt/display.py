"""How a value is shown in a notebook, and how progress is shown, without an import of what shows them.

A result knows that notebooks show it, but it must not import the package that does. The package ``netspurt`` fills the
two places here when it is imported; the display itself is imported when it is first needed.

Lives here: the two places. Must not live here: HTML, or any heavy import.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Gauge(Protocol):
    """Shows how far work has come."""

    def show(self, done: int, total: int, note: str = "") -> None:
        """Shows that ``done`` of ``total`` pieces are done; ``note`` says what else there is to know."""
        ...


_html: Callable[[str, object], str]
_gauge: Callable[[str], AbstractContextManager[Gauge]]


def fill(html: Callable[[str, object], str], gauge: Callable[[str], AbstractContextManager[Gauge]]) -> None:
    """Says what shows values and progress; called once, by the package."""
    global _html, _gauge
    _html, _gauge = html, gauge


def shown(form: str, value: object) -> str:
    """HTML or SVG of a value; ``form`` is a name in ``netspurt.notebook.FORMS``."""
    return _html(form, value)


def gauge(title: str) -> AbstractContextManager[Gauge]:
    """A display of progress with this title."""
    return _gauge(title)
