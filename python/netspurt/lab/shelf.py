"""The scenarios of the page: the user's own, the examples, and those of the studies.

Files are read on each request, so the page always shows their saved content.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from netspurt.errors import RequestError, nearest
from netspurt.studies import NAMES

HERE = Path(__file__).parent
STUDIES = HERE.parent / "studies" / "data"
EXAMPLES = HERE / "examples"


@dataclass(frozen=True)
class Book:
    """A scenario file on the page: ``group`` and ``name`` are for the user, ``key`` is for requests."""

    key: str
    group: str
    name: str
    path: Path
    title: str = ""
    """The path to show; empty for the real one."""
    written: str = ""
    """The text of a scenario that has no file."""
    options: tuple[str, ...] = ()
    """The options that describe a scenario without a file."""

    def text(self) -> str:
        """The content of the file.

        Raises:
            RequestError: the file cannot be read.
        """
        if self.written:
            return self.written
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = (
                (error.strerror or str(error)).lower()
                if isinstance(error, OSError)
                else "it is not UTF-8 text"
            )
            raise RequestError(f"{self.path} cannot be read: {why}") from error

    def shown(self) -> str:
        """The path as a user would type it."""
        if self.title:
            return self.title
        try:
            return str(self.path.relative_to(Path.cwd()))
        except ValueError:
            return str(self.path)


@dataclass(frozen=True)
class Described:
    """A scenario that options describe: its name for the user, its text, and the options as words of a command line."""

    name: str
    text: str
    options: tuple[str, ...]


class Shelf:
    """All available scenarios: first the one that options describe, then the user's files."""

    def __init__(self, own: Iterable[Path] = (), described: Described | None = None) -> None:
        books = []
        if described is not None:
            name, text, options = described.name, described.text, described.options
            books.append(Book("described", "Yours", name, Path("path.toml"), "path.toml", text, options))
        books += [Book(f"own/{place}", "Yours", str(path), path) for place, path in enumerate(own)]
        books += _folder("examples", "Examples", EXAMPLES)
        books += _folder("gallery", "Gallery", EXAMPLES / "gallery")
        for study in NAMES:
            books += _folder(f"studies/{study}", f"Study {study}", STUDIES / study)
        self.books = tuple(books)

    def add(self, book: Book) -> None:
        """Adds a scenario that was made for the page."""
        self.books = (*self.books, book)

    def find(self, key: str) -> Book:
        """The scenario with this key.

        Raises:
            RequestError: there is no such scenario.
        """
        for book in self.books:
            if book.key == key:
                return book
        raise RequestError(f"there is no scenario '{key}'{nearest(key, [book.key for book in self.books])}")


def _folder(key: str, group: str, folder: Path) -> list[Book]:
    paths = sorted(path for path in folder.glob("*.toml") if _is_scenario(path))
    return [Book(f"{key}/{path.stem}", group, path.stem, path.resolve()) for path in paths]


def _is_scenario(path: Path) -> bool:
    """Whether a file has flows; sweeps, costs and synthetic paths are in the same folders as scenarios."""
    try:
        return "flow" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
