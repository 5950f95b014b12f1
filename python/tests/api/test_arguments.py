"""What the functions of the package accept: one name for a list of one, a scenario for its file, and clear refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIO

import netspurt as ns


@pytest.fixture(scope="module")
def scenario() -> ns.Scenario:
    return ns.parse(SCENARIO.replace("1 MiB", "64 KiB"))


def test_one_name_stands_for_a_list_of_one(scenario: ns.Scenario, tmp_path: Path) -> None:
    result = scenario.run(record="cwnd")
    assert result.series("cwnd").height
    result.write_pcap(tmp_path / "x.pcapng")
    assert ns.read_capture(tmp_path / "x.pcapng", record="segments").segments.height
    assert ns.compare(scenario, scenario, quantities="goodput_bps").table.height == 1
    tried = ns.what_if(scenario, tries="tcp.initial_window=20 segments", seeds=1)
    assert "tcp.initial_window=20 segments" in repr(tried)


def test_a_scenario_is_taken_where_its_file_is(scenario: ns.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(scenario.merged(), encoding="utf-8")
    assert ns.why(scenario).budget.equals(ns.why(scenario.run(record="limits")).budget)
    assert ns.plot.windows_chart(scenario).table().equals(ns.plot.windows_chart(file).table())
    test = ns.rrul(scenario).test
    assert ns.rrul(file).test == test


REFUSED: dict[str, tuple[Callable[[ns.Scenario], Any], type[Exception], str]] = {
    "load": (lambda _: ns.load(3), TypeError, "the path of a scenario file, not int"),  # type: ignore[arg-type]
    "set": (lambda s: s.set("tcp.congestion=bbr"), TypeError, "settings are a mapping such as"),  # type: ignore[arg-type]
    "why": (lambda _: ns.why(3), TypeError, "not int"),  # type: ignore[arg-type]
    "least": (lambda s: ns.why(s, min_bytes="x"), TypeError, "a number of bytes, not str"),  # type: ignore[arg-type]
    "compare": (lambda s: ns.compare(s, 3), TypeError, "can be compared, not int"),
    "no seeds": (lambda s: ns.compare(s, s, seeds=0), ns.RequestError, "there are no seeds"),
    "pairs": (lambda s: ns.what_if(s, seeds=0), ValueError, "must be at least 1"),
    "grid": (lambda s: ns.sweep(s, grid=["x"]), TypeError, "a grid is a mapping"),  # type: ignore[arg-type]
    "draw": (lambda _: ns.plot.windows(3), TypeError, "can be drawn, not int"),
    "save": (lambda s: ns.plot.save(s, "x.svg"), TypeError, "a matplotlib figure, not Scenario"),  # type: ignore[arg-type]
    "run": (lambda _: ns.run, AttributeError, "ns.load(FILE).run(seed=1)"),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_argument_is_answered_with_what_is_right(name: str, scenario: ns.Scenario) -> None:
    call, kind, words = REFUSED[name]
    with pytest.raises(kind) as raised:
        call(scenario)
    assert words in str(raised.value)
