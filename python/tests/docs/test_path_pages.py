"""The page of path models: made from the data, with an example that runs for each model."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

_core = pytest.importorskip("netspurt._core", reason="the native module is not built")

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools" / "site"))

import reference_pages as reference  # noqa: E402

import netspurt as ns  # noqa: E402

PAGE = reference.paths(ns.paths())
SECTIONS = dict(re.findall(r"^## `([\w-]+)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_each_model_has_a_section_with_sources_and_limits() -> None:
    assert list(SECTIONS) == [model["name"] for model in ns.paths()]
    for text in SECTIONS.values():
        assert all(words in text for words in ("Modelled:", "Not modelled:", "\n1. "))


@pytest.mark.parametrize("name", SECTIONS)
def test_the_example_of_a_section_runs_and_the_keys_below_it_are_those_of_the_model(name: str) -> None:
    example, keys = re.findall(r"```toml\n(.*?)```", SECTIONS[name], re.DOTALL)
    scenario = ns.parse(example)
    result = scenario.run(seed=1)
    # 20 MB at 10 Mbit/s last 16 s; LEO's random loss holds CUBIC back the most.
    assert bool(result.flows["completed"][0]), name
    alone = ns.parse(keys.replace('"user"', '"home"')).merged()
    merged = re.sub(r"(?ms)^duration = .*?\n\n|^\[\[flow\]\].*", "", scenario.merged())
    assert merged.strip() == alone.strip()
