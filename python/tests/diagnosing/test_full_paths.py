"""Paths that are full: the end of a short transfer, and a connection that has most of the link."""

from __future__ import annotations

from pathlib import Path

import pytest
from budgets import both_shares

pytest.importorskip("netspurt._core", reason="the native module is not built")

SCENARIO = """
duration = "10 s"
[link.access]
between = ["a", "router"]
rate = "1 Gbit/s"
delay = "1 ms"
[link.path]
between = ["router", "b"]
rate = "2 Mbit/s"
delay = "4 ms"
queue = { kind = "drop-tail", limit = "100 packets" }
[[flow]]
app = { kind = "bulk", bytes = "64 kB" }
from = "a"
to = "b"
[flow.tcp]
profile = "linux"
"""

DATAGRAMS = """
[[flow]]
app = { kind = "datagrams", size = "400 B", rate = "500 kbit/s" }
from = "a"
to = "b"
"""


def test_the_last_data_of_a_short_transfer_waits_for_the_path_and_not_for_the_application(
    tmp_path: Path,
) -> None:
    truth, found = both_shares(tmp_path, SCENARIO)
    assert max(truth, key=lambda limit: truth[limit]) == "bottleneck"
    assert max(found, key=lambda limit: found[limit]) == "bottleneck"
    assert found.get("application", 0) < 0.1


def test_a_connection_that_gets_most_of_the_link_beside_datagrams_is_limited_by_the_link(
    tmp_path: Path,
) -> None:
    text = SCENARIO.replace("64 kB", "1500 kB") + DATAGRAMS
    truth, found = both_shares(tmp_path, text)
    assert truth["bottleneck"] > 0.8
    assert found["bottleneck"] > 0.8


# With 1300 kbit/s it is 0.49.
@pytest.mark.parametrize("rate", [1200, 1250, 1350, 1400])
def test_a_connection_that_gets_less_than_half_of_the_link_is_limited_by_the_others(
    tmp_path: Path, rate: int
) -> None:
    text = SCENARIO.replace("64 kB", "500 kB") + DATAGRAMS.replace("500 kbit/s", f"{rate} kbit/s")
    truth, found = both_shares(tmp_path, text)
    assert truth["cross-traffic"] > 0.6
    assert found["cross-traffic"] > 0.5
    assert found["cross-traffic"] == max(found.values())
