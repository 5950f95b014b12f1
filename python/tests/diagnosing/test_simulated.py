"""What limited a simulated flow, from the simulator's own knowledge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns
from netspurt.cli.entry import main
from netspurt.errors import RequestError

SMALL_WINDOW = """
duration = "30 s"
[tcp]
profile = "newreno"
[link.path]
between = ["a", "b"]
rate = "50 Mbit/s"
delay = "20 ms"
[host.b.tcp]
receive_window = "20 kB"
[[flow]]
app = { kind = "bulk", bytes = "2 MB" }
from = "a"
to = "b"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL_WINDOW)
    return path


def test_why_of_a_scenario_names_the_small_receive_window(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(scenario), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (flow,) = document["flows"]
    assert (flow["flow"], flow["from"], flow["to"]) == ("bulk", "a", "b")
    client = next(each for each in flow["directions"] if each["from"] == "client")
    assert client["limit"] == "receive-window"
    assert sum(line["seconds"] for line in client["budget"]) == pytest.approx(client["duration_s"])
    assert client["intervals"][0]["limit"] == "handshake"


def test_a_setting_of_the_scenario_changes_what_limits_it(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(scenario), "--json", "--set", "link.path.rate=1 Mbit/s"]) == 0
    document = json.loads(capsys.readouterr().out)
    client = document["flows"][0]["directions"][0]
    line = client["budget"][0]
    assert client["limit"] == line["limit"] == "bottleneck"
    # Of 1500 bytes on the link, 1460 are data of the stream.
    assert line["evidence"]["rate_bps"] == pytest.approx(1e6 * 1460 / 1500, rel=0.01)
    assert line["evidence"]["queueing_s"] == pytest.approx(line["evidence"]["rtt_s"] - client["rtt_min_s"])
    assert "the path was full at 97" in client["sentence"]


def test_each_line_of_a_simulated_budget_has_its_numbers_and_a_sentence(scenario: Path) -> None:
    (flow,) = ns.why(ns.load(scenario).run(record=["limits"])).documents()
    client = flow["directions"][0]
    assert client["rtt_min_s"] == pytest.approx(0.0402, abs=0.001)
    window = next(line for line in client["budget"] if line["limit"] == "receive-window")
    assert window["evidence"]["window_bytes"] == 20_000
    assert window["evidence"]["rtt_s"] == pytest.approx(0.042, abs=0.003)
    assert "the receiver's window of 20 KiB limited the data in flight" in client["sentence"]
    assert all(line["sentence"].startswith("For ") for line in client["budget"])


def test_a_connection_whose_syn_has_not_arrived_has_both_directions(scenario: Path) -> None:
    run = ns.load(scenario).set({"duration": "10 ms"}).run(record=["limits"])
    (flow,) = ns.why(run).documents()
    client, server = flow["directions"]
    assert (client["from"], client["bytes"], client["limit"]) == ("client", 0, "unknown")
    assert (server["from"], server["limit"], server["sentence"]) == ("server", "unknown", "No data was sent.")


def test_a_sender_with_a_coarse_clock_does_not_hide_the_round_trip() -> None:
    satellite = Path(__file__).parents[3] / "examples" / "satellite.toml"
    (flow,) = ns.why(ns.load(satellite).run(record=["limits"])).documents()
    # 580 ms of the link, and the time to send a segment; the sender measures in steps of 500 ms.
    assert flow["directions"][0]["rtt_min_s"] == pytest.approx(0.586, abs=0.001)


def test_the_result_of_a_run_can_be_diagnosed_if_it_has_its_limits(scenario: Path) -> None:
    run = ns.load(scenario).run(record=["limits"])
    assert ns.why(run).connections["limit"].to_list() == ["receive-window"]
    with pytest.raises(ValueError, match="limits"):
        ns.why(ns.load(scenario).run())


REQUESTS = """
duration = "30 s"
[link.path]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
[[flow]]
app = { kind = "request-response", request = "300 B", response = "40 kB", exchanges = 4, gap = "500 ms" }
from = "a"
to = "b"
"""


def test_a_scenario_with_requests_has_a_budget_for_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "requests.toml"
    path.write_text(REQUESTS)
    assert main(["why", str(path), "--json"]) == 0
    (flow,) = json.loads(capsys.readouterr().out)["flows"]
    transfers = flow["transfers"]
    assert [each["request_bytes"] for each in transfers] == [300] * 4
    assert [each["response_bytes"] for each in transfers] == [40_000] * 4
    assert all(each["packets"] == [None, None] for each in transfers)
    for each in transfers:
        parts = sum(line["seconds"] for line in each["budget"])
        assert parts == pytest.approx(each["until_s"] - each["from_s"], abs=1e-3)
    # The pause before a request belongs to no transfer.
    assert transfers[1]["until_s"] + 0.2 < transfers[2]["from_s"]
    assert main(["why", str(path)]) == 0
    assert "4 transfers (request, response)" in capsys.readouterr().out


def test_the_text_states_that_the_flow_was_simulated(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(scenario)]) == 0
    assert "simulated" in capsys.readouterr().out


def test_a_scenario_has_no_addresses_to_filter(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(scenario), "--filter", "port 80"]) == 2
    assert "--filter does not apply" in capsys.readouterr().err


def test_a_nak_in_the_middle_of_a_transfer_is_no_tail_loss() -> None:
    satellite = Path(__file__).parents[3] / "examples" / "satellite.toml"
    run = ns.load(satellite).run(record=["limits"])
    assert run.flows["naks_sent"].to_list()[0] > 10
    intervals = ns.why(run).documents()[0]["directions"][0]["intervals"]
    tail = [each["from_s"] for each in intervals if each["limit"] == "tail-loss"]
    assert all(begin > 0.9 * intervals[-1]["until_s"] for begin in tail)


def test_the_report_of_a_scenario_has_the_plots_of_its_flows(scenario: Path, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    assert main(["why", str(scenario), "--report", str(page)]) == 0
    text = page.read_text()
    for title in ("Time budget", "Limits over time", "receive-window", "RTT and RTO"):
        assert title in text
    assert "There are no pictures" not in text


def test_the_last_segments_wait_in_the_full_queue_and_not_for_the_application(tmp_path: Path) -> None:
    path = tmp_path / "full.toml"
    path.write_text(
        SMALL_WINDOW.replace('receive_window = "20 kB"', 'profile = "newreno"')
        .replace("50 Mbit/s", "1 Mbit/s")
        .replace('delay = "20 ms"', 'delay = "20 ms"\nqueue = { kind = "drop-tail", limit = "30 packets" }')
    )
    run = ns.load(path).run(record=["limits"])
    (flow,) = ns.why(run).documents()
    limits = {line["limit"]: line["share"] for line in flow["directions"][0]["budget"]}
    assert limits["bottleneck"] > 0.9
    assert limits.get("application", 0.0) < 0.005


def test_a_transfer_that_is_stuck_in_a_black_hole_is_limited_until_it_gives_up() -> None:
    """Its data is never acknowledged, so the last ACK is not the end."""
    text = """
    duration = "60 s"
    [tcp]
    profile = "linux"
    [link.path]
    between = ["a", "b"]
    rate = "20 Mbit/s"
    delay = "20 ms"
    mtu = { size = "1400 B", too_big = "silent", from = "1 s" }
    [[flow]]
    app = { kind = "bulk", bytes = "20 MB" }
    from = "a"
    to = "b"
    """
    (direction,) = (
        row for row in ns.why(ns.parse(text).run(record=["limits"])).directions.to_dicts() if row["bytes"]
    )
    assert direction["limit"] == "path-mtu"
    assert 30 < direction["duration_s"] < 60


def test_flows_with_few_bytes_are_left_out_on_request(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(scenario), "--min-bytes", "1000000000000"]) == 0
    assert "1 connection carried no data or too little of it." in capsys.readouterr().out
    assert ns.why(scenario, min_bytes=10**12).connections.height == 0
    assert ns.why(scenario).connections.height == 1


def test_a_notebook_shows_a_simulated_diagnosis_too(scenario: Path) -> None:
    page = ns.why(scenario)._repr_html_()
    assert ": simulated, 1 TCP connection<p>" in page
    assert page.count("<table") == 1


def test_a_filter_of_a_simulation_is_refused_in_python_too(scenario: Path) -> None:
    with pytest.raises(RequestError, match="its flows have names"):
        ns.why(scenario, filter="port 1")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"path": 3}, TypeError, "the path of a capture or scenario, a scenario, or the result of a run"),
        ({"path": None}, TypeError, "not NoneType"),
        ({"filter": 443}, TypeError, "filter is a text such as 'port 443', not int"),
        ({"min_bytes": -1}, ValueError, "at least 0, not -1"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused_in_a_sentence(
    options: dict[str, Any], error: type[Exception], words: str, scenario: Path
) -> None:
    with pytest.raises(error, match=words):
        ns.why(**{"path": scenario, **options})
