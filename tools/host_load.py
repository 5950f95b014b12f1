"""Applies loads to `netspurt host http` and writes docs/engineering/host-load.md: how honest clients fared, and memory.

`host_load.py` takes about ten minutes; it needs root or user namespaces, and a TUN device.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "python" / "tests" / "emulation" / "host_under_load.py"
PAGE = ROOT / "docs" / "engineering" / "host-load.md"

FACTOR, ROOM = 2.0, 1.2
"""The goals: the median wait under load against before, and memory after it against before."""

HEAD = """# A host under load

`netspurt host http` serves files while others do it harm. Honest clients of the kernel fetch a file of
100 kB, one after the other: before the load, during it, and 70 s after it. Each load has a host of
its own. `make host-load` measures this anew and writes this page.

| load | what it does |
| --- | --- |
| SYN flood | for 30 s, 40,000 different SYN segments from random addresses, as fast as one Python process sends them |
| blind segments | for 30 s, RST, SYN, ACK and data with guessed ports and numbers, from the clients' address |
| slowloris | for 30 s, 1 000 requests that never end, one byte a second each |
| idle connections | 16 384 connections that never say anything |
| downloads | 5 000 downloads of 1 MB, sixteen at once |

The programs that apply the load share the processors with the host and the clients. They run with a lower priority
(nice 10), because elsewhere they would have processors of their own.

Goals: all clients are served; the median wait during a load is at most twice the one before; memory after
the load is within 20 % of the one before.

"""

COLUMNS = (
    *("load", "packets a second, dropped", "clients served", "median before", "median during"),
    *("95th percentile", "wait"),
    *("memory before / most / after", "memory"),
)


def row(name: str, found: dict[str, Any]) -> str:
    """One load as a row of the table."""
    before, during = (found[key]["p50"] * 1e3 for key in ("before_s", "during_s"))
    late = found["during_s"]["p95"] * 1e3
    memory = {key: value / 1e3 for key, value in found["memory_kb"].items()}
    factor, grown = during / before, memory["after"] / memory["before"]
    served = f"{found['served']}, {len(found['failed'])} failed"
    packets = found["packets_per_second"]
    came = f"{packets['arrived']:,.0f}, {packets['dropped']:,.0f}"
    return (
        f"| {name} | {came} | {served} | {before:.2f} ms | {during:.2f} ms ({factor:.1f} times) | {late:.2f} ms | "
        f"{met(factor <= FACTOR and not found['failed'])} | {memory['before']:.0f} / {memory['most']:.0f} / "
        f"{memory['after']:.0f} MB | {met(grown <= ROOM)} |\n"
    )


def met(holds: bool) -> str:
    """Whether a goal is met, in words."""
    return "met" if holds else "not met"


TAIL = """
Dropped are packets that found the queue of the device full. Clients, host and load share the processors, so a part of
each wait is for a processor.

While packets arrive faster than the host processes them, it sends few SYN cookies, and always few resets
([limits](../how-to/host.md#limits)). So the packets of connections wait little, and none finds the queue full. The
honest clients had connections before the flood. Where each had a new address (20 s of SYN flood, measured once, by
hand), all 55 were served: half of them within 0.8 ms, but one in twenty only after 2 s, with a repeated SYN.
"""


def main() -> int:
    """Measures and writes the page."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(SCRIPT.parent)])}
    command = ["unshare", "-rn", sys.executable, str(SCRIPT), "FULL"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        print(run.stderr.strip(), file=sys.stderr)
        return run.returncode
    found = json.loads(run.stdout)
    release = platform.release().partition("-")[0]
    table = f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}\n"
    table += "".join(row(name, each) for name, each in found.items())
    PAGE.write_text(f"{HEAD}{table}\nLinux {release}, {os.cpu_count()} processors.\n{TAIL}", encoding="utf-8")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
