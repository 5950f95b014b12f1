"""A capture reads the same as the run that it is of, wherever it was taken."""

from __future__ import annotations

from pathlib import Path

import pytest

import netspurt as ns

SCENARIO = """
duration = "60 s"
[tcp]
profile = "linux"
[link.bottleneck]
between = ["sender", "receiver"]
rate = "10 Mbit/s"
delay = "15 ms"
queue = { kind = "drop-tail", limit = "1000 packets" }
[[flow]]
app = { kind = "bulk", bytes = "20 MB" }
from = "sender"
to = "receiver"
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> ns.Scenario:
    path = tmp_path_factory.mktemp("point") / "one.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return ns.load(path)


def capture_of(scenario: ns.Scenario, path: Path, *points: str) -> dict[str, object]:
    """The row of the data direction of a capture taken at `points`, and the row of the flow."""
    flow = scenario.run(pcap=path, capture=list(points)).flows.row(0, named=True)
    streams = ns.read_capture(path).streams
    row = streams.sort("bytes", descending=True).row(0, named=True)
    return {**row, "flow": flow}


@pytest.mark.parametrize("points", [(), ("sender",)])
def test_at_the_sender_the_queue_of_its_own_link_counts(
    scenario: ns.Scenario, tmp_path: Path, points: tuple[str, ...]
) -> None:
    row = capture_of(scenario, tmp_path / "node.pcapng", *points)
    flow = row["flow"]
    assert isinstance(flow, dict)
    assert flow["retransmitted"] > 50
    assert flow["timeouts"] == 0
    assert row["retransmitted_fast"] == row["retransmitted"] == flow["retransmitted"]
    # The sender has a sample of each segment that SACK reports first, too: more of a full queue.
    assert row["rtt_mean_s"] == pytest.approx(flow["rtt_mean_s"], rel=0.15)


def test_on_the_wire_a_loss_before_the_capture_point_is_judged_by_the_request_for_it(
    scenario: ns.Scenario, tmp_path: Path
) -> None:
    row = capture_of(scenario, tmp_path / "wire.pcapng", "bottleneck@sender")
    flow = row["flow"]
    assert isinstance(flow, dict)
    assert row["retransmitted"] == flow["retransmitted"]
    assert row["retransmitted_fast"] == flow["retransmitted"]
    assert row["rtt_mean_s"] < 0.04, "the queue lies before the capture point"
