"""Each limit has a page, with all that the program advises; and the tutorial shows what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import netspurt as ns
from netspurt.diagnosing.limits import LIMITS
from netspurt.diagnosing.remedies_text import of_limit

ROOT = Path(__file__).parents[3]
DIAGNOSIS = ROOT / "docs" / "diagnosis"
HEADS = ["What it is", "How it is recognised", "What to do on Linux", "What it is mistaken for"]


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_has_a_page_with_the_same_questions(limit: str) -> None:
    text = (DIAGNOSIS / "limits" / f"{limit}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# `{limit}`\n")
    assert LIMITS[limit] in text
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == HEADS
    for advice in of_limit(limit, {}, {"budget": [], "rtt_min_s": None}):
        for command in advice.commands:
            assert command in text, f"{limit}.md lacks a command that netspurt why prints"


def test_the_method_names_every_limit_and_leads_to_its_page() -> None:
    text = (DIAGNOSIS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[`([a-z-]+)`\]\(limits/\1\.md\) \|", text, flags=re.MULTILINE) == list(LIMITS)
    assert {path.stem for path in (DIAGNOSIS / "limits").glob("*.md")} == set(LIMITS)


def test_the_tutorial_shows_the_limit_that_comes_out(tmp_path: Path) -> None:
    pytest.importorskip("netspurt._core", reason="the native module is not built")
    text = (DIAGNOSIS / "tutorial.md").read_text(encoding="utf-8")
    scenario = re.search(r"```toml\n# backup.toml\n(.*?)```", text, flags=re.DOTALL)
    shown = re.search(r"^  (\S+) +([\d.]+) s +([\d.]+) %", text, flags=re.MULTILINE)
    assert scenario
    assert shown
    ns.parse(scenario[1]).run(1, pcap=tmp_path / "backup.pcapng")
    line = ns.why(tmp_path / "backup.pcapng").budget.row(0, named=True)
    assert line["limit"] == shown[1]
    assert line["seconds"] == pytest.approx(float(shown[2]), abs=0.2)
    assert 100 * line["share"] == pytest.approx(float(shown[3]), abs=1)
