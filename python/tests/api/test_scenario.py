"""The Python face of scenarios and results."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenarios import SCENARIO

import netspurt as ns
from netspurt import _core


@pytest.fixture
def scenario() -> ns.Scenario:
    return ns.parse(SCENARIO, "test.toml")


def test_names_are_imported_on_access() -> None:
    assert ns.ScenarioError is _core.ScenarioError
    assert "load" in dir(ns)
    with pytest.raises(ns.RequestError, match=r"nowhere\.pcap"):
        ns.why("nowhere.pcap")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ns.nothing


def test_set_gives_another_scenario(scenario: ns.Scenario) -> None:
    other = scenario.set({"link.line.loss": {"kind": "bit-error", "rate": 1e-6}})
    assert other is not scenario
    assert other.run(1).digest != scenario.run(1).digest


def test_results_are_tables(scenario: ns.Scenario) -> None:
    short = scenario.set({"link.line.queue": {"kind": "drop-tail", "limit": "5 packets"}})
    result = short.run(seed=3, record=["cwnd", "queue"])
    assert result.seed == 3
    assert result.flows["bytes_delivered"].to_list() == [1048576]
    assert result.links["drops_queue"].to_list() == [6, 0]
    assert result.series("cwnd").columns == [
        *("time_s", "flow", "index", "host", "connection", "end", "value"),
    ]
    assert result.drops.is_empty()
    assert result.segments.is_empty()


def test_unknown_series_are_refused(scenario: ns.Scenario) -> None:
    with pytest.raises(ValueError, match="cannot record 'speed'"):
        scenario.run(record=["speed"])
    with pytest.raises(ValueError, match="unknown series 'segments'"):
        scenario.run().series("segments")


def test_an_unknown_path_is_a_scenario_error(scenario: ns.Scenario) -> None:
    with pytest.raises(ns.ScenarioError, match="unknown key"):
        scenario.set({"tcp.no_such_key": 1})


def test_a_capture_is_written_by_running_again(scenario: ns.Scenario, tmp_path: Path) -> None:
    scenario.run(2).write_pcap(tmp_path / "x.pcapng")
    assert (tmp_path / "x.pcapng").stat().st_size > 0
    with pytest.raises(Exception, match="cannot write"):
        scenario.run(2).write_pcap(tmp_path / "no" / "x.pcapng")


def test_time_sequence_graph_of_a_result(scenario: ns.Scenario) -> None:
    scenario = scenario.set(
        {"tcp.profile": "bsd43-bigwindow-nak", "link.line.loss": {"kind": "script", "drop": [20]}}
    )
    figure = ns.plot.time_sequence(scenario.run(record=["segments"]))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["new data", "retransmitted: NAK (1)", "acknowledged", "window edge", "NAK sent (1)"]
    again = ns.plot.time_sequence(scenario.run())
    assert [text.get_text() for text in again.legends[0].get_texts()] == labels
    with pytest.raises(ValueError, match="no segment of a flow 'other'"):
        ns.plot.time_sequence(scenario.run(record=["segments"]), flow="other")
