"""The maps of the source code name files that exist."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

BASES = ("", "crates", "crates/tcp/src", "crates/tcp/src/congestion", "python/netspurt")
"""The folders to which the pages' paths are relative."""


def rows(page: str) -> Iterator[tuple[str, str]]:
    """The first and the second cell of all tables of a page."""
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 2 and not set(cells[0]) <= {"-"}:
            yield cells[0], cells[1]


def paths(cell: str) -> list[str]:
    """The words in backquotes that look like a file or a folder."""
    quoted = re.findall(r"`([^`]+)`", cell)
    return [
        word for word in quoted if re.fullmatch(r"[\w./-]+", word) and re.search(r"/$|\.(rs|py|md)$", word)
    ]


def exists(path: str, beside: list[str]) -> bool:
    """Whether a path exists; a name without a folder may stand beside the path before it, or in it."""
    places = ["", *beside, *(str(Path(other).parent) for other in beside)]
    return any((ROOT / base / place / path).exists() for base in BASES for place in places)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_every_place_that_a_map_names_exists(page: str) -> None:
    missing, found = [], 0
    for question, cell in rows(page):
        named = paths(question) + paths(cell)
        found += len(named)
        missing += [f"{question}: {path}" for at, path in enumerate(named) if not exists(path, named[:at])]
    assert not missing
    assert found > 20


def test_the_map_answers_at_least_twenty_questions() -> None:
    questions = [question for question, cell in rows("CONTRIBUTING.md") if question.startswith("Where ")]
    assert len(questions) >= 20
    assert all(paths(cell) for question, cell in rows("CONTRIBUTING.md") if question.startswith("Where "))


def test_every_file_that_a_module_comment_lists_exists() -> None:
    missing, found = [], 0
    for file in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        head = itertools.takewhile(lambda line: line.startswith("//!"), file.read_text("utf-8").splitlines())
        crate = ROOT / "crates" / file.relative_to(ROOT / "crates").parts[0]
        bases = (file.parent, file.with_suffix(""), crate / "src", crate, ROOT / "crates", ROOT)
        for path in re.findall(r"`([\w/]+(?:\.rs|/))`", "\n".join(head)):
            found += 1
            if not any((base / path).exists() for base in bases):
                missing.append(f"{file.relative_to(ROOT)}: {path}")
    assert not missing
    assert found > 100


def test_every_source_file_that_an_engineering_page_names_exists() -> None:
    # The pages name a file by the end of its path.
    folders = ("crates", "python", "tools")
    files = [f"/{file.relative_to(ROOT)}" for folder in folders for file in sources(ROOT / folder)]
    missing, found = [], 0
    for page in sorted((ROOT / "docs" / "engineering").glob("*.md")):
        for path in re.findall(r"`([\w/]+\.(?:rs|py))`", page.read_text(encoding="utf-8")):
            found += 1
            if not any(file.endswith(f"/{path}") for file in files):
                missing.append(f"{page.name}: {path}")
    assert not missing
    assert found > 100


def test_the_code_of_a_deviation_has_what_is_named_behind_its_file() -> None:
    page = (ROOT / "docs" / "engineering" / "deviations.md").read_text(encoding="utf-8")
    missing, found = [], 0
    for words in re.findall(r"Code:\s+((?:`[^`]+`(?:[,;\s]|and)*)+)", page):
        text = ""
        for word in re.findall(r"`([^`]+)`", words):
            if word.endswith((".rs", "/")):
                place = next(
                    base / word for base in (ROOT / "crates/tcp/src", ROOT) if (base / word).exists()
                )
                text = "".join(
                    file.read_text("utf-8") for file in ([place] if place.is_file() else sources(place))
                )
            else:
                found += 1
                missing += [word] * (re.search(rf"\b{word}\b", text) is None)
    assert not missing
    assert found > 20


def sources(folder: Path) -> Iterator[Path]:
    """The source files below a folder."""
    return (file for file in folder.rglob("*") if file.suffix in {".rs", ".py"})
