"""Doubts about predictions from a fit that explains its capture."""

from __future__ import annotations

from pathlib import Path

import netspurt as ns

OUTAGES = """duration = "60 s"
[tcp]
profile = "bbr"
# Few such outages can be replayed packet by packet. With the receive buffer of Linux before 6.16, and an ACK for each
# segment, this one can.
receive_memory = "bytes"
receive_window = "6 MiB"
acking = { kind = "adaptive", behind_gap = "0 s" }
[link.path]
between = ["client", "server"]
rate = "16 Mbit/s"
delay = "16 ms"
queue = { kind = "drop-tail", limit = "14 packets" }
[[change]]
at = "3.181 s"
every = "3.783 s"
set = { "link.path.up" = false }
[[change]]
at = "3.783 s"
every = "3.783 s"
set = { "link.path.up" = true }
[[flow]]
app = { kind = "bulk", bytes = "12 MB" }
from = "client"
to = "server"
"""


def test_a_list_of_losses_that_stops_another_sender_for_good_is_doubted(tmp_path: Path) -> None:
    capture = tmp_path / "trace.pcapng"
    ns.parse(OUTAGES).run(pcap=capture, capture=["client"], snaplen=128)
    fit = ns.fit(capture)
    assert fit.explains
    assert not fit.predicts
    assert any("does not end with cubic" in each for each in fit.warnings)
