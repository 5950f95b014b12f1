"""What other connections of the same capture show of the path."""

from __future__ import annotations

from pathlib import Path

import pytest

import netspurt as ns

pytest.importorskip("netspurt._core", reason="the native module is not built")

SCENARIO = """
duration = "60 s"
[tcp]
profile = "newreno"
[link.path]
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "25 ms"
queue = { kind = "drop-tail", limit = "4 packets" }
[[flow]]
app = { kind = "bulk" }
from = "a"
to = "b"
count = COUNT
"""


def _seconds(diagnosis: ns.Diagnosis) -> dict[str, float]:
    """The seconds of the limits over all connections, in the direction of the data."""
    seconds: dict[str, float] = {}
    for document in diagnosis.documents():
        for line in document["directions"][0]["budget"]:
            seconds[line["limit"]] = seconds.get(line["limit"], 0.0) + line["seconds"]
    return seconds


def test_a_silence_in_which_other_connections_pass_is_no_outage(tmp_path: Path) -> None:
    (tmp_path / "many.toml").write_text(SCENARIO.replace("COUNT", "24"))
    run = ns.load(tmp_path / "many.toml").run(record=["limits"], pcap=tmp_path / "many.pcapng")
    true, found = _seconds(ns.why(run)), _seconds(ns.why(tmp_path / "many.pcapng"))
    assert "outage" not in true
    assert true["timeout"] + true["tail-loss"] > 300
    # Without the other connections, it is more than half of the time of all three.
    assert found.get("outage", 0.0) < 0.15 * (found["timeout"] + found["tail-loss"])
