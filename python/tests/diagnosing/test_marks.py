"""ECN marks show a full path, and a cwnd that they have made smaller."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns

pytest.importorskip("netspurt._core", reason="the native module is not built")

SCENARIO = """
duration = "10 s"
[tcp]
profile = "linux"
ecn = "rfc3168"
[link.access]
between = ["a", "router"]
rate = "1 Gbit/s"
delay = "1 ms"
[link.path]
between = ["router", "b"]
rate = "20 Mbit/s"
delay = "15 ms"
queue = { kind = "codel", ecn = true }
[[flow]]
app = { kind = "bulk" }
from = "a"
to = "b"
"""

STEP = {"kind": "drop-tail", "limit": "100 packets", "mark_above": "20 packets"}
L4S = {"kind": "dualpi2"}


def _shares(document: Mapping[str, Any]) -> dict[str, float]:
    client, _server = document["directions"]
    return {line["limit"]: line["share"] for line in client["budget"]}


def _diagnoses(folder: Path, settings: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """The shares of the limits of the first flow: the simulator's, and those of a capture at the sender."""
    (folder / "marks.toml").write_text(SCENARIO)
    scenario = ns.load(folder / "marks.toml").set(settings)
    run = scenario.run(record=["limits"], pcap=folder / "marks.pcapng")
    found = min(ns.why(folder / "marks.pcapng").documents(), key=lambda each: int(each["connection"]))
    return _shares(ns.why(run).documents()[0]), _shares(found)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"tcp.congestion": "cubic"}, "bottleneck"),
        ({"tcp.congestion": "reno"}, "congestion-window"),
        ({"tcp.congestion": "dctcp", "link.path.queue": STEP}, "bottleneck"),
        ({"tcp.profile": "prague", "tcp.ecn": "rfc9768", "link.path.queue": L4S}, "bottleneck"),
        ({"tcp.congestion": "cubic", "flow.0.count": 4}, "cross-traffic"),
    ],
    ids=["cubic", "reno", "dctcp", "prague", "several"],
)
def test_marks_show_what_limits_a_sender_that_never_loses_a_packet(
    tmp_path: Path, settings: Mapping[str, Any], limit: str
) -> None:
    truth, found = _diagnoses(tmp_path, settings)
    assert max(truth, key=lambda name: truth[name]) == limit, truth
    assert max(found, key=lambda name: found[name]) == limit, found
    assert found[limit] == pytest.approx(truth[limit], abs=0.2)


def test_a_queue_that_is_never_empty_fills_the_path(tmp_path: Path) -> None:
    # CUBIC stands in the classic queue of DualPI2 all the time.
    truth, _found = _diagnoses(
        tmp_path, {"link.path.queue": L4S, "tcp.congestion": "cubic", "tcp.ecn": "off"}
    )
    assert truth["bottleneck"] > 0.8, truth
