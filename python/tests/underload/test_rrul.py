"""Latency under load: the flows of the test, what it measures, and its command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenarios import HOME_LINE

import netspurt as ns
from netspurt.cli.entry import main
from netspurt.errors import RequestError
from netspurt.underload import Test as LoadTest

pytest.importorskip("netspurt._core")

LINE = HOME_LINE

SHORT = LoadTest(load_s=10.0)


def test_a_long_queue_lengthens_round_trips_and_fq_codel_keeps_them_short() -> None:
    line = ns.parse(LINE, "line.toml")
    long = ns.rrul(line, SHORT)
    short = ns.rrul(line.set({"link.line.queue": {"kind": "fq-codel"}}), SHORT)
    # Two ways of 10 ms, and 64 bytes with their headers at both rates.
    assert long.idle.p50_s == pytest.approx(0.0202, abs=0.0003)
    assert long.added_s is not None
    assert short.added_s is not None
    # 200 packets of 1500 bytes take 480 ms at 5 Mbit/s.
    assert 0.1 < long.added_s < 0.6
    assert short.added_s < 0.01
    assert short.loaded.per_minute is not None
    assert short.loaded.per_minute > 1500


def test_directions_are_those_of_the_client() -> None:
    line = ns.parse(LINE, "line.toml")
    found = ns.rrul(line, SHORT)
    assert (found.test.client, found.test.server) == ("home", "net")
    assert 3e6 < found.upload_bps < 5e6
    assert 10e6 < found.download_bps < 20e6
    queue = found.longest_queue
    assert queue is not None
    assert queue["link"] == "line"
    turned = ns.rrul(line, LoadTest(client="net", server="home", load_s=10.0))
    assert 3e6 < turned.download_bps < 5e6


def test_goodput_is_what_arrived_over_the_time_of_the_load() -> None:
    found = ns.rrul(ns.parse(LINE, "line.toml"), LoadTest(load_s=4.0, streams=2))
    flows = found.result.flows
    down = flows.filter(flows["flow"] == "download")
    assert down.height == 2
    assert found.download_bps == pytest.approx(8 * down["bytes_delivered"].sum() / 4.0)


def test_diffserv_marks_one_transfer_of_each_class() -> None:
    line = ns.parse(LINE, "line.toml").set({"link.line.queue": {"kind": "fq-codel"}})
    found = ns.rrul(line, LoadTest(load_s=5.0, diffserv=True))
    merged = found.result.scenario.merged()
    for mark in ("CS1", "CS5", "EF"):
        assert merged.upper().count(f'"{mark}"') == 2


def test_an_unknown_host_is_reported_with_the_known_ones() -> None:
    with pytest.raises(RequestError, match=r"there is no host 'hom'.*'home'"):
        ns.rrul(ns.parse(LINE, "line.toml"), LoadTest(client="hom"))
    with pytest.raises(RequestError, match="are both 'net'"):
        ns.rrul(ns.parse(LINE, "line.toml"), LoadTest(client="net"))


def test_a_path_that_is_down_has_no_round_trips() -> None:
    line = ns.parse(LINE, "line.toml")
    found = ns.rrul(line.set({"link.line.loss": {"kind": "packet-error", "rate": 1.0}}), LoadTest(load_s=2.0))
    assert found.idle.samples == found.loaded.samples == 0
    assert found.added_s is None


def test_the_command_prints_json_draws_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "line.toml"
    path.write_text(LINE)
    picture, page = tmp_path / "load.svg", tmp_path / "load.html"
    words = ["rrul", str(path), "-t", "3s", "--out", str(picture), "--report", str(page), "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["loaded"]["p95_s"] >= document["loaded"]["p50_s"] > document["idle"]["p50_s"]
    assert (document["client"], document["load_s"]) == ("home", 3.0)
    assert "Round trips of the probe" in picture.read_text()
    assert "Latency under load" in page.read_text()


def test_a_path_on_the_command_line_uses_the_profile_of_linux(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rrul", "--rate", "5mbit", "--delay", "10ms", "-t", "2s"]) == 0
    told = capsys.readouterr().out
    assert "4 transfers each way for 2 s" in told
    assert "under load" in told
    assert "The load adds" in told


def test_a_picture_of_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rrul", "--rate", "5mbit", "--delay", "10ms", "--out", "load.gif"]) == 2
    assert "end the name in .svg, .pdf, .png" in capsys.readouterr().err
