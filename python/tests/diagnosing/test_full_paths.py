"""Paths that are full: the end of a short transfer, and a connection that has most of the link."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns

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


def _shares(document: Mapping[str, Any]) -> dict[str, float]:
    client, _server = document["directions"]
    return {line["limit"]: line["share"] for line in client["budget"]}


def _diagnoses(folder: Path, text: str) -> tuple[dict[str, float], dict[str, float]]:
    """The shares of the limits of the first flow: the simulator's, and those of a capture at the sender."""
    (folder / "full.toml").write_text(text)
    run = ns.load(folder / "full.toml").run(record=["limits"], pcap=folder / "full.pcapng")
    found = min(ns.why(folder / "full.pcapng").documents(), key=lambda each: int(each["connection"]))
    return _shares(ns.why(run).documents()[0]), _shares(found)


def test_the_last_data_of_a_short_transfer_waits_for_the_path_and_not_for_the_application(
    tmp_path: Path,
) -> None:
    truth, found = _diagnoses(tmp_path, SCENARIO)
    assert max(truth, key=lambda limit: truth[limit]) == "bottleneck"
    assert max(found, key=lambda limit: found[limit]) == "bottleneck"
    assert found.get("application", 0) < 0.1


def test_a_connection_that_gets_most_of_the_link_beside_datagrams_is_limited_by_the_link(
    tmp_path: Path,
) -> None:
    text = SCENARIO.replace("64 kB", "1500 kB") + DATAGRAMS
    truth, found = _diagnoses(tmp_path, text)
    assert truth["bottleneck"] > 0.8
    assert found["bottleneck"] > 0.8


def test_a_connection_that_gets_less_than_half_of_the_link_is_limited_by_the_others(tmp_path: Path) -> None:
    text = SCENARIO.replace("64 kB", "500 kB") + DATAGRAMS.replace("500 kbit/s", "1300 kbit/s")
    truth, found = _diagnoses(tmp_path, text)
    assert truth["cross-traffic"] > 0.6
    assert found["cross-traffic"] > 0.5
