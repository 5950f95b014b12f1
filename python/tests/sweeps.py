"""What the tests of sweeps share: a small scenario, sweep files, and the command in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SCENARIO = """
duration = "60 s"

[link.line]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
loss = { kind = "packet-error", rate = 0.01 }

[[flow]]
app = { kind = "bulk", bytes = "200 kB" }
from = "a"
to = "b"
"""

SWEEP = """
scenario = "scenario.toml"
seeds = 10

[grid]
"link.line.delay" = ["1 ms", "10 ms", "50 ms"]
"tcp.congestion" = ["reno", "cubic"]
"""


def written(folder: Path, sweep: str = SWEEP) -> Path:
    """Puts scenario and sweep file into a folder."""
    (folder / "scenario.toml").write_text(SCENARIO)
    path = folder / "sweep.toml"
    path.write_text(sweep)
    return path


def start(arguments: list[str], program: Sequence[str] = ("-m", "netspurt")) -> subprocess.Popen[str]:
    """``netspurt sweep --json`` with arguments, in another process; ``program`` is what Python runs."""
    import netspurt

    package = str(Path(netspurt.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, *program, "sweep", "--json", *arguments],
        env={**os.environ, "PYTHONPATH": package},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Its document, when it is through."""
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    document: dict[str, Any] = json.loads(out)
    return document


def contents(folder: Path) -> dict[str, bytes]:
    """What the tasks of a folder have left, by name."""
    return {path.name: path.read_bytes() for path in (folder / "tasks").iterdir()}
