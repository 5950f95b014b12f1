"""The pages that are made from the program: every key, choice, profile and command has its place."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from netspurt.cli.commands import COMMANDS
from netspurt.cli.entry import parser

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools" / "site"))

import reference_pages as reference  # noqa: E402
import study_pages as studies  # noqa: E402

_core = pytest.importorskip("netspurt._core", reason="the native module is not built")


def _keys(of: Any) -> set[str]:
    """Every key that the schema knows, wherever."""
    if isinstance(of, dict):
        found = set(of.get("properties", {})) if isinstance(of.get("properties"), dict) else set()
        return found.union(*(_keys(value) for value in of.values()))
    return set().union(*map(_keys, of)) if isinstance(of, list) else set()


def test_every_key_of_the_schema_is_in_the_reference() -> None:
    schema = json.loads(_core.schema())
    page = reference.scenario(schema)
    missing = {key for key in _keys(schema) if f"| `{key}` |" not in page}
    assert missing <= {"kind"}
    heads = set(re.findall(r"^## (\w+)$", page, flags=re.MULTILINE))
    led = set(re.findall(r"\[(\w+)\]\(#\w+\)", page))
    assert led <= heads, "a type that is linked to has a section"


def test_every_choice_profile_and_command_is_in_the_reference() -> None:
    page = reference.mechanisms(json.loads(_core.mechanisms()))
    for family in json.loads(_core.mechanisms()):
        assert f"## `{family['path']}`" in page
        for choice in family["choices"]:
            assert f"`{choice['name']}`" in page
    known = json.loads(_core.profiles())
    assert page.count("\n## ") == len(json.loads(_core.mechanisms()))
    assert reference.profiles(known).count("\n## ") == len(known)
    told = reference.commands(parser(COMMANDS))
    for name in ("run", "plot", "sweep", "compare", "host sink"):
        assert f"## `netspurt {name}`" in told


def test_tables_keep_their_columns_whatever_their_texts_hold() -> None:
    for page in reference.pages().values():
        width = 0
        for line in re.sub(r"```.*?```", "", page, flags=re.DOTALL).splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            cells = len(re.findall(r"(?<!\\)\|", line))
            width = width or cells
            assert cells == width, line


def test_a_study_shows_the_numbers_of_the_last_report(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        studies.pages(tmp_path)
    cell = {
        **{
            "row": {"window": "64K"},
            "quantity": "rate",
            "unit": "KiB/s",
            "published": 44.0,
            "measured": 44.25,
        },
        **{"role": "predicted", "verdict": "within bar"},
    }
    found = {
        "study": "rfc1106",
        "tables": [{"table": "figure1", "title": "Figure 1", "cells": [cell]}],
        "checks": [{"check": "order of six recoveries", "holds": True}],
    }
    (tmp_path / "report").mkdir()
    whole = {"netspurt": "0.2.0", "quick": True, "studies": [found]}
    (tmp_path / "report" / "reproduce.json").write_text(json.dumps(whole))
    for name in studies.NAMES:
        (tmp_path / "studies" / name).mkdir(parents=True)
        (tmp_path / "studies" / name / "README.md").write_text(f"# {name}\n")
    pages = studies.pages(tmp_path)
    assert "| 64K | 44 | 44.25 | KiB/s | predicted | within bar |" in pages["studies/rfc1106.md"]
    assert "* holds: order of six recoveries" in pages["studies/rfc1106.md"]
    assert "Not part of the last" in pages["studies/terabit.md"]
