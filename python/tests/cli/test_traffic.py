"""Flows of datagrams, calls and videos: results, tables, captures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import netspurt as ns
from netspurt.cli import main

SCENARIO = """
duration = "20 s"
[link.line]
between = ["home", "net"]
rate = ["10 Mbit/s", "50 Mbit/s"]
delay = "10 ms"
queue = { kind = "drop-tail", limit = "200 ms" }
[[flow]]
name = "call"
from = "home"
to = "net"
app = { kind = "call" }
[[flow]]
name = "film"
from = "home"
to = "net"
app = { kind = "video", segments = 3 }
[[flow]]
name = "game"
count = 2
from = "net"
to = "home"
app = { kind = "datagrams", size = "200 B", interval = "50 ms", packets = 100 }
[[flow]]
name = "backup"
from = "home"
to = "net"
start = "2 s"
app = { kind = "bulk" }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "home.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def test_each_kind_has_its_columns_and_the_others_are_null(scenario: Path) -> None:
    result = ns.load(scenario).run(seed=1)
    flows = {(row["flow"], row["index"]): row for row in result.flows.iter_rows(named=True)}
    call, film, game, backup = (flows[key] for key in (("call", 0), ("film", 0), ("game", 1), ("backup", 0)))
    assert call["datagrams_sent"] == 1001
    assert call["delay_p95_s"] > 0.1
    assert 1.0 <= call["mos"] < 4.3
    assert film["video_segments"] == 3
    assert film["video_rate_bps"] >= 350_000
    assert film["mos"] is None
    assert film["datagrams_sent"] is None
    assert (game["datagrams_sent"], game["datagrams_lost"], game["mos"]) == (100, 0, None)
    assert game["completed"]
    assert game["bytes_delivered"] == 20_000
    assert backup["datagrams_sent"] is None
    assert backup["video_segments"] is None
    groups = {row["flow"]: row for row in result.groups.iter_rows(named=True)}
    assert groups["game"]["datagrams_sent"] == 200


def test_json_has_the_keys_of_a_flow_s_kind_only(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--json"]) == 0
    flows = {flow["flow"]: flow for flow in json.loads(capsys.readouterr().out)["flows"]}
    assert "mos" in flows["call"]
    assert "mos" in flows["game"]
    assert "stalls" in flows["film"]
    assert "stalls" not in flows["call"]
    assert "datagrams_sent" not in flows["backup"]


def test_tables_for_people_show_what_matters_of_each_kind(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(scenario)]) == 0
    out = capsys.readouterr().out
    assert "MOS" in out
    assert "jitter" in out
    assert "stalls" in out
    assert "quality" in out
    assert "pages" not in out, "a video has segments, not pages"


def test_a_capture_has_udp_beside_tcp(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = tmp_path / "home.pcapng"
    assert main(["run", str(scenario), "--pcap", str(capture)]) == 0
    capsys.readouterr()
    assert main(["capture", str(capture), "--json"]) == 0
    counted = json.loads(capsys.readouterr().out)["captures"][0]
    assert counted["not_tcp"] > 1000
    assert counted["malformed"] == 0


def test_why_reports_tcp_connections_only(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(scenario), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {flow["flow"] for flow in found["flows"]} <= {"film", "backup"}
    backup = next(flow for flow in found["flows"] if flow["flow"] == "backup")
    assert backup["directions"][0]["limit"] in ("bottleneck", "cross-traffic")


def test_a_wrong_key_is_answered_with_its_place(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario.write_text(SCENARIO.replace('kind = "call"', 'kind = "call", frame = "1 s"'), encoding="utf-8")
    assert main(["run", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert "home.toml:" in said
    assert "5 ms to 200 ms of speech" in said.replace("\n", " ")


ARRIVALS = """
duration = "5 s"
[link.core]
between = ["client", "server"]
rate = "100 Mbit/s"
delay = "1 ms"
[[flow]]
name = "search"
from = "client"
to = "server"
app = { kind = "arrivals", workload = "web-search", load = 0.5 }
"""


def test_transfers_that_arrive_have_times_and_slowdowns_by_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "search.toml"
    file.write_text(ARRIVALS, encoding="utf-8")
    row = ns.load(file).run(seed=1).flows.row(0, named=True)
    classes = [row[f"{name}_transfers"] for name in ("small", "medium", "large")]
    assert sum(classes) == row["transfers"] <= row["arrivals"]
    assert row["small_time_median_s"] < row["medium_time_median_s"]
    assert row["slowdown_median"] >= 1
    report = tmp_path / "report.html"
    assert main(["run", str(file), "--report", str(report)]) == 0
    shown = capsys.readouterr().out
    assert "slowdown 99 %" in shown
    assert f"{row['transfers']} of {row['arrivals']}" in shown
    assert "Transfers that arrive" in report.read_text(encoding="utf-8")


def test_lengths_of_transfers_can_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("probability,bytes\n0,1000\n0.5,2000\n1,200000\n", encoding="utf-8")
    file = tmp_path / "search.toml"
    own = 'size = { kind = "quantiles", file = "sizes.csv" }'
    file.write_text(ARRIVALS.replace('workload = "web-search"', own), encoding="utf-8")
    row = ns.load(file).run(seed=1).flows.row(0, named=True)
    assert row["small_transfers"] > row["medium_transfers"] > 0
    assert row["large_transfers"] == 0
