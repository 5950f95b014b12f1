"""ECN marks show a full path, and a cwnd that they have made smaller."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from budgets import both_shares

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
    truth, found = both_shares(tmp_path, SCENARIO, settings)
    assert max(truth, key=lambda name: truth[name]) == limit, truth
    assert max(found, key=lambda name: found[name]) == limit, found
    assert found[limit] == pytest.approx(truth[limit], abs=0.2)


def test_a_queue_that_is_never_empty_fills_the_path(tmp_path: Path) -> None:
    # CUBIC stands in the classic queue of DualPI2 all the time.
    truth, _found = both_shares(
        tmp_path, SCENARIO, {"link.path.queue": L4S, "tcp.congestion": "cubic", "tcp.ecn": "off"}
    )
    assert truth["bottleneck"] > 0.8, truth
