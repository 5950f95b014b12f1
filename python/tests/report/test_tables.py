"""Tables of reports in a browser: sorted by a column, filtered by words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netspurt.report.blocks import Page, Section, Text, table
from netspurt.report.page import html

pytest.importorskip("netspurt._core", reason="the native module is not built")

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

ROWS: list[dict[str, Any]] = [
    {"client": "10.0.0.10:80", "bytes": 9_000, "duration_s": 0.5, "limit": "pacing"},
    {"client": "10.0.0.9:80", "bytes": 12_000_000, "duration_s": 20.0, "limit": "outage"},
    {"client": "10.0.0.2:443", "bytes": 9_000, "duration_s": None, "limit": "outage"},
    {"client": "10.0.0.1:80", "bytes": 100_000, "duration_s": 0.00002, "limit": "timeout"},
    *({"client": f"10.0.1.{n}:80", "bytes": n, "duration_s": 1.0 + n, "limit": "pacing"} for n in range(4)),
]
CLIENTS = [row["client"] for row in ROWS]


def made(*tables: list[dict[str, Any]]) -> str:
    blocks = [table(f"Connections {number}", rows) for number, rows in enumerate(tables)]
    return html(Page("why", "tables", ["Some tables."], [Section("Results", [Text("Two tables."), *blocks])]))


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    """A page with the table of eight rows, and one of three."""
    if BROWSER is None:
        pytest.skip("there is no Chromium to open the page with")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = tmp_path / "tables.html"
    path.write_text(made(ROWS, ROWS[:3]), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(path.as_uri())
        yield opened
        browser.close()


def shown(page: Any, which: int = 0) -> list[str]:
    """The clients of the visible rows."""
    body = page.locator("tbody").nth(which)
    return [text.strip() for text in body.locator("tr:visible th").all_text_contents()]


def sorts(page: Any) -> list[str | None]:
    heads = page.locator("thead").first.locator("th")
    return [heads.nth(place).get_attribute("aria-sort") for place in range(heads.count())]


def test_the_first_order_is_that_of_the_report(page: Any) -> None:
    assert shown(page) == CLIENTS
    assert sorts(page) == [None] * 4


def test_numbers_are_sorted_by_value_and_missing_ones_are_last_both_ways(page: Any) -> None:
    button = page.locator("thead").first.get_by_role("button", name="duration")
    button.click()
    present = sorted(
        (row for row in ROWS if row["duration_s"] is not None), key=lambda row: row["duration_s"]
    )
    missing = ["10.0.0.2:443"]
    assert shown(page) == [row["client"] for row in reversed(present)] + missing
    assert sorts(page) == [None, None, "descending", None]
    button.click()
    assert shown(page) == [row["client"] for row in present] + missing
    assert sorts(page) == [None, None, "ascending", None]
    button.click()
    assert shown(page) == CLIENTS
    assert sorts(page) == [None] * 4


def test_equal_rows_keep_the_order_of_the_report(page: Any) -> None:
    page.locator("thead").first.get_by_role("button", name="limit").click()
    assert shown(page)[:2] == ["10.0.0.9:80", "10.0.0.2:443"]
    page.locator("thead").first.get_by_role("button", name="bytes").click()
    assert shown(page)[2:4] == ["10.0.0.10:80", "10.0.0.2:443"]
    assert sorts(page) == [None, "descending", None, None]


def test_the_keyboard_reaches_filter_and_headings(page: Any) -> None:
    page.get_by_label("Filter rows").focus()
    page.keyboard.press("Tab")  # the table, which scrolls
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert sorts(page)[0] == "ascending"
    assert shown(page)[:4] == ["10.0.0.1:80", "10.0.0.2:443", "10.0.0.9:80", "10.0.0.10:80"]
    page.keyboard.press("Space")
    assert sorts(page)[0] == "descending"


def test_a_filter_shows_the_rows_that_have_all_words_in_any_order_of_rows(page: Any) -> None:
    filter_of = page.get_by_label("Filter rows")
    filter_of.fill("OUTAGE 10.0.0")
    assert shown(page) == ["10.0.0.9:80", "10.0.0.2:443"]
    assert page.get_by_role("status").text_content() == "2 of 8 rows"
    page.locator("thead").first.get_by_role("button", name="client").click()
    assert shown(page) == ["10.0.0.2:443", "10.0.0.9:80"]
    filter_of.fill("nothing")
    assert shown(page) == []
    filter_of.fill("")
    assert len(shown(page)) == 8
    assert page.get_by_role("status").text_content() == ""


def test_a_short_table_is_sorted_alone_and_has_no_filter(page: Any) -> None:
    assert page.get_by_label("Filter rows").count() == 1
    page.locator("thead").nth(1).get_by_role("button", name="client").click()
    assert shown(page, 1) == ["10.0.0.2:443", "10.0.0.9:80", "10.0.0.10:80"]
    assert shown(page) == CLIENTS


def test_a_page_without_rows_to_sort_has_no_script_for_it() -> None:
    assert "aria-sort" in made(ROWS).split("<script>")[-1]
    alone = made(ROWS[:1])
    assert "Filter rows" not in alone
    assert "is a button that sorts" not in alone
