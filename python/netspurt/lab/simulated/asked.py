"""The scenario of a request: which one, its text, its settings, its seed.

Lives here: reading a request, and the command line that does the same. Must not live here: running it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from netspurt import _core
from netspurt.errors import RequestError
from netspurt.lab.requests import number_of, text_of
from netspurt.lab.shelf import Book, Shelf

UNSAVED = "scenario.toml"
"""The name of an edited scenario in a command line: a user has to save it first."""


@dataclass(frozen=True)
class Asked:
    """The scenario that a request names."""

    book: Book
    text: str | None
    """The edited text; None for the file as it is."""
    settings: tuple[tuple[str, str], ...]
    """Path and value."""
    seed: int
    connection: tuple[str, int, int] | None

    @classmethod
    def of(cls, shelf: Shelf, body: dict[str, Any]) -> Asked:
        """Reads a request.

        Raises:
            RequestError: unknown scenario, or invalid request.
        """
        settings = body.get("settings", [])
        if not isinstance(settings, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, str) for each in pair)
            for pair in settings
        ):
            raise RequestError("'settings' must be a list of pairs of text: path and value")
        wanted = body.get("connection")
        return cls(
            book=shelf.find(text_of(body, "key")),
            text=None if body.get("text") is None else text_of(body, "text"),
            settings=tuple((path, value) for path, value in settings),
            seed=number_of(body, "seed", 1, 0, 1 << 64),
            connection=tuple(wanted) if wanted else None,
        )

    def scenario(self) -> _core.Scenario:
        """The scenario.

        Raises:
            RequestError: its file cannot be read.
            ScenarioError: the scenario is invalid.
        """
        # Relative file names in a scenario refer to its folder, so an edited scenario keeps its path.
        text = self.book.text() if self.text is None else self.text
        return _core.Scenario.parse(text, str(self.book.path), list(self.settings))

    def file(self) -> str:
        """The scenario's file."""
        return UNSAVED if self.text is not None or self.book.options else self.book.shown()

    def words(self) -> list[str]:
        """The scenario in a command line: its file, or the options that describe it."""
        return list(self.book.options) if self.book.options and self.text is None else [self.file()]

    def overrides(self, option: str = "--set") -> list[str]:
        """The settings as options."""
        return [word for path, value in self.settings for word in (option, f"{path}={value}")]

    def command(self) -> str:
        """The equivalent command line; for an edited scenario, after it is saved."""
        seed = ["--seed", str(self.seed)] if self.seed != 1 else []
        return shlex.join(["netspurt", "run", *self.words(), *self.overrides(), *seed])
