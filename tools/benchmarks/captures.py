"""Reading and diagnosing captures."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import ROOT, Figure, cost, number

CAPTURED = """
duration = "600 s"

[tcp]
profile = "linux"

[link.access]
between = ["a", "r"]
rate = "10 Gbit/s"
delay = "1 ms"

[link.wan]
between = ["r", "b"]
rate = "1 Gbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "2000 packets" }
loss = { kind = "packet-error", rate = 1e-5 }

[[flow]]
app = { kind = "bulk", bytes = "60 MiB" }
from = "a"
to = "b"
count = 16
"""
"""Makes a capture of 1.25 GB: 1.26 million packets, one in 16 of them retransmitted."""


def captures(program: Path, short: bool, runs: int) -> list[Figure]:
    """Reading captures, up to RTTs, if netspurt is built and can make them."""
    command = ROOT / ".venv" / "bin" / "netspurt"
    if not command.exists():
        print("bench: .venv/bin/netspurt is not built, so there is no capture to read", file=sys.stderr)
        return []
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        scenario, capture = Path(folder) / "big.toml", Path(folder) / "big.pcapng"
        scenario.write_text(CAPTURED.replace('"60 MiB"', '"2 MiB"') if short else CAPTURED)
        for what, snap in (("whole packets", []), ("headers only", ["--snaplen", "96"])):
            make = [str(command), "run", str(scenario), "--pcap", str(capture), *snap, "--json"]
            subprocess.run(make, check=True, capture_output=True)
            costs = [cost([str(program), "capture", str(capture)]) for _ in range(runs)]
            cpu = statistics.median(cpu for cpu, _, _ in costs)
            octets, packets = (number(rf"{name} (\d+)", costs[0][2]) for name in ("octets", "packets"))
            goals = (">= 1", "<= 200") if what == "whole packets" else ("", "")
            figures += [
                Figure(f"capture, {what}", octets / cpu / 1e9, "GB per CPU second", "", goals[0]),
                Figure(f"capture, {what}", packets / cpu / 1e6, "million packets per CPU second", "", ""),
                Figure(f"capture, {what}", max(memory for _, memory, _ in costs), "MB", "", goals[1]),
            ]
            if what == "whole packets":
                diagnose = [str(program), "why", str(capture)]
                cpu = statistics.median(cost(diagnose)[0] for _ in range(runs))
                rate = packets / cpu / 1e6
                figures.append(
                    Figure("why, whole packets", rate, "million packets per CPU second", "", ">= 3")
                )
    return figures
