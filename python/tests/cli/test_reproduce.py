"""``netspurt reproduce`` from end to end: shape of what it leaves, interruption, the page."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

import pytest

import netspurt as ns
from netspurt.cli import main

BeforeRun: TypeAlias = Callable[[Callable[[], None]], None]

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Checks that every element is closed in order; gathers references and identifiers."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.identifiers: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "data", "action", "poster", "srcset"):
                self.references.append(value or "")
            if name == "id":
                self.identifiers.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a beginning"
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduced") / "report"
    words = ["reproduce", "terabit", "rfc1106", "--no-live", "--quick", "--seeds", "3", "--json"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # With three seeds some cells of RFC 1106 fall short.
        assert main([*words, "--out", str(out)]) == 1
    document = json.loads(printed.getvalue())
    assert document == json.loads((out / "reproduce.json").read_text())
    return out


def test_the_document_has_the_form_that_scripts_expect(report: Path) -> None:
    document = json.loads((report / "reproduce.json").read_text())
    assert document["netspurt"] == "0.2.0"
    assert [study["study"] for study in document["studies"]] == ["terabit", "rfc1106"]
    tables = {
        (study["study"], table["table"]): table for study in document["studies"] for table in study["tables"]
    }
    assert len(tables["terabit", "table1"]["cells"]) == 20
    assert len(tables["rfc1106", "figure1"]["cells"]) == 27
    assert len(tables["rfc1106", "figure2"]["cells"]) == 27
    keys = {
        "row",
        "quantity",
        "unit",
        "published",
        "measured",
        "interval",
        "deviation",
        "role",
        "bar",
        "verdict",
    }
    for table in tables.values():
        for cell in table["cells"]:
            assert keys <= set(cell)
            assert cell["verdict"] in ("exact", "within bar", "outside", "not comparable")
            assert cell["role"] in ("fitted", "predicted")
    fitted = [cell["row"] for cell in tables["rfc1106", "figure2"]["cells"] if cell["role"] == "fitted"]
    assert len(fitted) == 9
    assert {row["error_rate"] for row in fitted} == {"none"}
    for study in document["studies"]:
        assert all(isinstance(check["holds"], bool) for check in study["checks"])


def test_the_page_is_well_formed_and_needs_nothing_else(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert {"h1", "h2", "h3", "script", "table", "figure", "style"} <= page.seen
    outside = [each for each in page.references if not each.startswith(("#", "data:"))]
    assert outside == []
    assert "@import" not in text
    assert "url(http" not in text
    assert "default-src 'none'" in text, "nothing may be fetched, whatever a script asks for"
    assert not re.search(r"<script[^>]*\bsrc", text)
    assert "Leon Sorokin" in text, "the licence of what is vendored stays with it"
    doubled = {each for each in page.identifiers if page.identifiers.count(each) > 1}
    assert doubled == set()
    targets = {each[1:] for each in page.references if each.startswith("#")}
    assert targets <= set(page.identifiers)


def test_the_page_has_styles_for_screen_paper_and_dark_mode(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    for needed in ("@media print", "prefers-color-scheme: dark", 'name="viewport"', "overflow-x: auto"):
        assert needed in text
    assert text.count('role="img" aria-label=') == 7


def test_pictures_are_xml_and_small(report: Path) -> None:
    pictures = sorted((report / "pictures").glob("*.svg"))
    assert len(pictures) == 7
    for picture in pictures:
        root = ET.fromstring(picture.read_text(encoding="utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert picture.stat().st_size < 300_000


def test_every_table_has_a_csv_with_full_precision(report: Path) -> None:
    document = json.loads((report / "reproduce.json").read_text())
    for study in document["studies"]:
        for table in study["tables"]:
            path = report / "tables" / f"{study['study']}-{table['table']}.csv"
            with path.open(newline="", encoding="utf-8") as file:
                lines = list(csv.DictReader(file))
            assert len(lines) == len(table["cells"])
            for line, cell in zip(lines, table["cells"], strict=True):
                assert line["verdict"] == cell["verdict"]
                assert float(line["measured"]) == cell["measured"]


def test_merged_scenarios_stand_beside_the_result(report: Path) -> None:
    merged = report / "scenarios" / "rfc1106" / "figure2-10e-6-156K.toml"
    assert ns.load(merged).merged() == merged.read_text(encoding="utf-8")
    assert (report / "scenarios" / "terabit" / "table1-1-Tbit-s-scaled.toml").exists()


def test_one_study_can_be_selected(tmp_path: Path) -> None:
    out = tmp_path / "report"
    main(["reproduce", "terabit", "--quick", "--seeds", "2", "--out", str(out)])
    document = json.loads((out / "reproduce.json").read_text())
    assert [study["study"] for study in document["studies"]] == ["terabit"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_finished_cells_and_reports_them(
    tmp_path: Path, before_run: BeforeRun, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    begun = 0

    def interrupt() -> None:
        nonlocal begun
        begun += 1
        if begun == 8:
            raise KeyboardInterrupt
        if begun > 8:
            # The thread that was interrupted gets a processor.
            time.sleep(0.2)

    before_run(interrupt)
    out = tmp_path / "report"
    assert (
        main(
            [
                "reproduce",
                "terabit",
                "rfc1106",
                "--no-live",
                "--quick",
                "--jobs",
                jobs,
                "--out",
                str(out),
                "--json",
            ]
        )
        == 130
    )
    document = json.loads(capsys.readouterr().out)
    assert document["interrupted"] is True
    verdicts = [
        cell["verdict"]
        for study in document["studies"]
        for table in study["tables"]
        for cell in table["cells"]
    ]
    finished = [verdict for verdict in verdicts if verdict != "not run"]
    # Seven transfers of table I, of two numbers each; with two threads one more may have been under way.
    assert 12 <= len(finished) <= 16
    assert begun <= 10
    assert "was interrupted" in (out / "index.html").read_text(encoding="utf-8")


def test_an_interrupted_report_is_marked_as_interrupted(
    tmp_path: Path, before_run: BeforeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    before_run(interrupt)
    assert main(["reproduce", "terabit", "rfc1106", "--no-live", "--out", str(tmp_path / "report")]) == 130
    captured = capsys.readouterr()
    assert "not run" in captured.out
    assert "finished cells are kept" in captured.err


def test_the_page_begins_with_a_sentence_and_a_picture_and_folds_its_tables(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    contents = text[text.index('<nav class="contents"') : text.index("</nav>")]
    for study in ("terabit", "rfc1106"):
        section = text[text.index(f'<section id="{study}"') :]
        section = section[: section.index("</section>")]
        sentence, picture, folded = (
            section.index(mark) for mark in ('class="lead"', 'class="picture', "<details")
        )
        assert sentence < picture < folded
        assert re.search(
            r"Of \d+ published numbers \d+ are reproduced exactly.*; \d+ of \d+ checks hold\.", section
        )
        assert f'href="#{study}-checks"' in contents
        unfolded = re.sub(r"<details.*?</details>", "", section, flags=re.DOTALL)
        assert "<table" not in unfolded
        assert unfolded.count('class="picture') == 1
    assert 'href="#rfc1106-figure2"' in contents
    assert ".badge.not-comparable { border-color: transparent" in text
