"""Sockets of the kernel on an emulated path, each with a known limit: as root or in a user namespace, else skipped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("netspurt._core")

LIMIT_S = 60
CLIENT = Path(__file__).with_name("limited_client.py")
AGREES = 0.03

SCENARIO = """
duration = "1 s"
[link.path]
between = ["earth", "space"]
delay = "10 ms"
rate = "{rate}"
queue = {{ kind = "drop-tail", limit = "100 packets" }}
[[flow]]
from = "earth"
to = "space"
app = {{ kind = "bulk" }}
"""

SERVER = """
import socket, sys
listener = socket.create_server(("", 5001))
if int(sys.argv[1]):
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[1]))
end, _ = listener.accept()
while end.recv(1 << 20):
    pass
"""

CASES = {
    "bottleneck": ("20 Mbit/s", 0, 0),
    "receive-window": ("100 Mbit/s", 30_000, 0),
    "send-buffer": ("100 Mbit/s", 0, 30_000),
}
"""The rate of the path, and the buffers of receiver and sender in bytes, by the limit that follows."""


@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
@pytest.mark.parametrize("limit", CASES)
def test_the_limit_of_a_transfer_is_found(limit: str, congestion: str, tmp_path: Path) -> None:
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if congestion not in available:
        pytest.skip(f"this kernel has no {congestion}")
    rate, receive_buffer, send_buffer = CASES[limit]
    found = emulated(tmp_path, rate, receive_buffer, send_buffer, congestion)
    shares, kernel = found["shares"], found["kernel"]
    assert max(shares, key=lambda each: shares[each]) == limit, shares
    window = shares.get("receive-window", 0) + shares.get("slow-receiver", 0)
    # The clocks miss part of the time: see path_share.rs.
    if congestion == "cubic":
        assert window == pytest.approx(kernel["rwnd_limited"], abs=AGREES)
    else:
        assert window >= kernel["rwnd_limited"] - AGREES
    assert shares.get("application", 0) == pytest.approx(1 - kernel["busy"], abs=AGREES)
    assert shares.get("send-buffer", 0) >= kernel["sndbuf_limited"] - AGREES


def emulated(
    folder: Path, rate: str, receive_buffer: int, send_buffer: int, congestion: str
) -> dict[str, Any]:
    """What the client prints."""
    scenario, server = folder / "path.toml", folder / "server.py"
    scenario.write_text(SCENARIO.format(rate=rate), encoding="utf-8")
    server.write_text(SERVER, encoding="utf-8")
    client = [sys.executable, str(CLIENT), "5001", str(send_buffer), congestion]
    run = subprocess.run(
        [
            *(sys.executable, "-m", "netspurt", "emulate", str(scenario)),
            *("--server", f"{sys.executable} {server} {receive_buffer}", "--", *client),
        ],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONPATH": str(CLIENT.parents[1])},
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if not lines and "namespace" in run.stderr:
        pytest.skip(run.stderr.strip())
    assert lines, run.stderr
    found: dict[str, Any] = json.loads(lines[0])
    return found
