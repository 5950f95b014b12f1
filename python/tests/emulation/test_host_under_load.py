"""A host serves honest clients while others flood it, guess at its connections, or hold them open.

Short here; ``make host-load`` applies the loads at full length and writes the table of the documentation. Skipped with
the reason where namespaces or devices are not permitted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("netspurt._core")

LIMIT_S = 300
ROOM_KB = 30_000
"""What a host keeps for half-open connections and for windows, however long the load lasts."""


@pytest.mark.parametrize(
    "load", ["SYN flood", "blind segments", "slowloris", "idle connections", "downloads"]
)
def test_honest_clients_are_served_during_and_after_a_load(load: str) -> None:
    found = _under(load)
    assert found["failed"] == []
    assert found["served"] > 0
    assert found["alive"]
    memory = found["memory_kb"]
    assert memory["most"] < memory["before"] + ROOM_KB, memory


def _under(load: str) -> dict[str, Any]:
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare here")
    script = Path(__file__).with_name("host_under_load.py")
    run = subprocess.run(
        ["unshare", "-rn", sys.executable, str(script), "SHORT", load],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if "unshare failed" in run.stderr or run.returncode == 77:
        pytest.skip(f"no network namespace with a TUN device: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)[load]
    return found
