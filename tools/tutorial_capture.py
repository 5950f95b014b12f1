#!/usr/bin/env python3
"""Makes the capture of the tutorial "A slow download, from pcap to proof": examples/slow-download.pcapng.gz.

Two programs with the kernel's TCP (CUBIC) transfer 4 MB over an emulated path of 20 Mbit/s with 60 ms of RTT. The
receiving program has set SO_RCVBUF to 32 KiB, which the kernel doubles. The capture is taken at the sender. It needs
the privileges of `netspurt emulate`.

    tools/tutorial_capture.py [--out examples/slow-download.pcapng.gz]
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path

from netspurt.emulation.emulating import NotPossible, emulated

OUT = Path(__file__).parents[1] / "examples" / "slow-download.pcapng.gz"

PATH = """
[link.line]
between = ["server", "laptop"]
rate = "20 Mbit/s"
delay = "30 ms"
queue = { kind = "drop-tail", limit = "100 packets" }
[[flow]]
app = { kind = "bulk" }
from = "server"
to = "laptop"
"""
TASKS = {
    "server": {"program": "send", "to": "laptop", "octets": 4_000_000, "congestion": "cubic"},
    "laptop": {"program": "receive", "window": 32 << 10},
}
LIMIT_S = 60.0


def main() -> int:
    """Writes the capture."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--out", type=Path, default=OUT)
    out = options.parse_args().out
    try:
        with emulated('duration = "60 s"' + PATH, TASKS, limit_s=LIMIT_S, captures=["server"]) as run:
            capture = run.captures["server"].read_bytes()
    except NotPossible as reason:
        print(f"tutorial_capture: {reason}", file=sys.stderr)
        return 1
    out.write_bytes(gzip.compress(capture, compresslevel=9, mtime=0))
    print(f"{out}: {out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
