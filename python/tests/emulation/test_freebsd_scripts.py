"""Which scripts of FreeBSD's test suite `tools/packetdrill_freebsd.py` judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
ASKED = "import sys, packetdrill_freebsd as tool; print(tool.asks_for(sys.stdin.read()))"


@pytest.mark.parametrize(
    ("script", "asked"),
    [
        ("// `sockstat` would do\n 0.00 `sysctl -w net.inet.tcp.sack.enable=1`\n", None),
        ("+0.00 `sysctl -w net.inet.tcp.insecure_rst=1`\n", "net.inet.tcp.insecure_rst"),
        ("+0.00 `sysctl -w net.inet.tcp.unheard_of=1`\n", "net.inet.tcp.unheard_of"),
        ("+0.10 `sockstat -4 -P tcp | grep -c SYN_RCVD`\n", "sockstat"),
    ],
)
def test_a_script_is_judged_if_it_sets_only_defaults_and_runs_no_other_command(
    script: str, asked: str | None
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ASKED], input=script, cwd=TOOLS, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == str(asked)
