"""Scripts on which the running kernel and the profile ``linux`` agree: `tools/differential.py` plays them.

The scripts are stored in ``tools/against_kernel/agreed.jsonl.gz``. A script that differs is played again, so that a
busy machine does not make the test fail. It is skipped where no network namespace or TUN device can be made, on kernels
older than 6.17, whose TCP announces other windows, and where there is no cargo.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOL = ROOT / "tools" / "differential.py"
SCRIPTS = ROOT / "tools" / "against_kernel" / "agreed.jsonl.gz"
OLDEST = (6, 17)
LIMIT_S = 600

TOLERATED = 4
"""Scripts, of more than 200, that may differ in all replays of one run: the kernel's timers run by its own ticks, and a
segment may fall on either side of one. A real deviation changes many more."""


@pytest.fixture(scope="module")
def program() -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo here to build netspurt-replay")
    build = [
        "cargo",
        "build",
        "--quiet",
        "--release",
        "-p",
        "netspurt-packetdrill",
        "--bin",
        "netspurt-replay",
    ]
    subprocess.run(build, cwd=ROOT, check=True, timeout=LIMIT_S)
    return ROOT / "target" / "release" / "netspurt-replay"


def kernel() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def test_the_kernel_and_the_profile_send_the_same_segments(program: Path) -> None:
    if kernel() < OLDEST:
        pytest.skip(f"the scripts were compared with Linux 6.18; this is {platform.release()}")
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("there is no unshare or no ip here")
    trial = subprocess.run(["unshare", "-rn", "true"], capture_output=True, text=True, timeout=LIMIT_S)
    if trial.returncode:
        pytest.skip(f"no network namespace can be made here: {trial.stderr.strip()}")
    command = [
        "unshare",
        "-rn",
        sys.executable,
        str(TOOL),
        "--program",
        str(program),
        "--scripts",
        str(SCRIPTS),
    ]
    command += ["--at-once", "40", "--again", "8", "--segments"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if run.returncode == 77:
        pytest.skip(f"TUN devices or packet sockets are not permitted here: {run.stderr.strip()}")
    told = re.search(r"(\d+) agree, (\d+) are explained, (\d+) are not", run.stdout)
    assert run.returncode in (0, 1), f"{run.stdout[-10_000:]}{run.stderr}"
    assert told is not None, f"{run.stdout[-10_000:]}{run.stderr}"
    assert int(told[1]) >= 150
    assert int(told[3]) <= TOLERATED, f"{run.stdout[-10_000:]}{run.stderr}"
