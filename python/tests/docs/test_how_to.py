"""Each how-to page starts from a problem and ends in a picture, which a command of the page has drawn."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tools"))

import how_to_pictures as pictures  # noqa: E402

NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = re.findall(
    r"^      - .*?: (\S+)\.md$", NAV.split("  - How to:\n")[1].split("\n  - ")[0], re.MULTILINE
)

IMAGE = re.compile(r"!\[[^\]]+\]\((?:\.\./)?pictures/(\S+)\)")

BY_HAND = {"how-to/home-line": "latency.svg"}
"""A page of a longer story: its commands were carried out once."""


def test_the_pages_are_found() -> None:
    assert len(PAGES) >= 20
    assert set(PAGES) == set(pictures.pages()) | set(BY_HAND)


@pytest.mark.parametrize("page", PAGES)
def test_a_how_to_starts_from_a_problem_and_ends_in_a_picture(page: str) -> None:
    parts = (DOCS / f"{page}.md").read_text(encoding="utf-8").strip().split("\n\n")
    assert parts[1].startswith("**Problem:** "), parts[1]
    found = IMAGE.fullmatch(parts[-1].replace("\n", " "))
    assert found, parts[-1]
    assert (DOCS / "pictures" / found[1]).is_file()
    if page not in BY_HAND:
        assert found[1] in pictures.pictures_of(page)


@pytest.mark.parametrize("page", pictures.DRAWN)
def test_a_command_of_the_page_draws_the_picture(page: str) -> None:
    code = "".join(text for kind, text in pictures.blocks_of(page) if kind in ("sh", "python"))
    for file in pictures.DRAWN[page].values():
        assert re.search(
            rf"(--out|--plot) {re.escape(file)}$|save\(.*\"{re.escape(file)}\"\)", code, re.MULTILINE
        ), file


def test_every_picture_is_on_a_page() -> None:
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    shown = {
        name
        for page in pages
        for name in re.findall(r"pictures/([\w.-]+)\)", page.read_text(encoding="utf-8"))
    }
    assert {path.name for path in (DOCS / "pictures").iterdir()} == shown
