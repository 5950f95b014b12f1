"""The gallery: each scenario is correct, runs, has three sentences, and shows what they say."""

from __future__ import annotations

import re
import shlex
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt import _core
from netspurt.cli import main
from netspurt.inputs.typed import setting
from netspurt.lab.shelf import Shelf

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import gallery  # noqa: E402

ENTRIES = gallery.entries()


def _file(name: str) -> Path:
    return gallery.FOLDER / f"{name}.toml"


def test_twelve_scenarios_are_on_the_page_and_in_the_lab() -> None:
    assert len(ENTRIES) == 12
    assert {entry.name for entry in ENTRIES} == {path.stem for path in gallery.FOLDER.glob("*.toml")}
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(), "run 'make gallery'"
    listed = {book.name for book in Shelf().books if book.group == "Gallery"}
    assert listed == {entry.name for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_has_three_sentences_and_two_panels(entry: gallery.Entry) -> None:
    assert len(re.findall(r"[^.\d]\.(?= |$)|\d\.(?= [A-Z]|$)", entry.text)) == 3, entry.text
    assert len(entry.commands) == 2
    for command in entry.commands:
        assert command.startswith(f"netspurt plot examples/gallery/{entry.name}.toml --picture ")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_is_correct(entry: gallery.Entry, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(_file(entry.name))]) == 0, capsys.readouterr().out


def test_a_picture_has_a_panel_for_each_command() -> None:
    entry = next(entry for entry in ENTRIES if entry.name == "initial-window")
    root = ET.fromstring(gallery.svg(entry))
    assert root.tag.endswith("svg")
    assert len(gallery.draw(entry).axes) == 2


def _runs(name: str) -> list[ns.Result]:
    """The runs of both panels."""
    (entry,) = (entry for entry in ENTRIES if entry.name == name)
    found = []
    for command in entry.commands:
        words = shlex.split(command)
        settings = [setting(words[place + 1]) for place, word in enumerate(words) if word == "--set"]
        found.append(ns.Scenario(_core.Scenario.load(str(_file(name)), settings)).run())
    return found


def _goodput(result: ns.Result, flow: str) -> float:
    (rate,) = result.groups.filter(pl.col("flow") == flow)["goodput_bps"]
    return float(rate)


def _rtt(result: ns.Result, flow: str) -> float:
    return float(result.flows.filter(pl.col("flow") == flow)["rtt_mean_s"][0])


FASTER = {
    **{"wifi": ("transfer", 1.5), "leo-handover": ("upload", 1.5), "policer": ("transfer", 1.2)},
    **{"small-window": ("transfer", 10.0), "reordering": ("transfer", 8.0), "incast": ("bulk", 2.0)},
    **{"nagle": ("requests", 30.0), "initial-window": ("page", 1.4), "pmtu-black-hole": ("transfer", 10.0)},
}
"""By how much the flow of the second panel is faster at least."""


@pytest.mark.parametrize("name", FASTER)
def test_the_second_panel_is_faster_by_the_stated_factor(name: str) -> None:
    flow, factor = FASTER[name]
    first, second = _runs(name)
    assert _goodput(second, flow) > factor * _goodput(first, flow)


def test_the_other_panels_show_the_described_effect() -> None:
    bloated, cured = (_rtt(run, "interactive") for run in _runs("bufferbloat"))
    assert bloated > 0.3
    assert cured < 0.1
    shallow, deep = _runs("bbr-beside-cubic")
    assert _goodput(shallow, "bbr") > 5 * _goodput(shallow, "cubic")
    assert _goodput(deep, "cubic") > 2 * _goodput(deep, "bbr")
    both = _runs("l4s")[0]
    assert _rtt(both, "prague") < 0.022
    assert _rtt(both, "cubic") > 0.03
