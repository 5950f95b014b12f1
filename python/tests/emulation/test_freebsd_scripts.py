"""Which scripts of FreeBSD's test suite `tools/packetdrill_freebsd.py` judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
IMPORT = "import sys, packetdrill_freebsd as tool; "
ASKED = IMPORT + "print(tool.asks_for(sys.stdin.read()))"
TRANSLATED = IMPORT + "sys.stdout.write(tool.translated(sys.stdin.read()))"
FLAGS = IMPORT + "print(tool.flags_of(sys.stdin.read()))"
BOUND = """+0.00 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0.00 bind(3, ..., ...) = 0
+0.10 < . 17:20(3) ack 34 win 32767
+0.00 > R 34:34(0) win 0
"""


def run(program: str, script: str) -> str:
    """What a program prints for a script."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, input=script, cwd=TOOLS, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("script", "asked"),
    [
        ("// `sockstat` would do\n 0.00 `sysctl -w net.inet.tcp.sack.enable=1`\n", None),
        ("+0.00 `sysctl -w net.inet.tcp.insecure_rst=1`\n", None),
        ("+0.00 `sysctl -w net.inet.tcp.insecure_syn=1`\n", "net.inet.tcp.insecure_syn"),
        (
            "+0.00 socket(...) = 3\n+0.00 `sysctl -w net.inet.tcp.insecure_rst=1`\n",
            "net.inet.tcp.insecure_rst",
        ),
        ("+0.00 `sysctl -w net.inet.tcp.unheard_of=1`\n", "net.inet.tcp.unheard_of"),
        ("+0.10 `sockstat -4 -P tcp | grep -c SYN_RCVD`\n", "sockstat"),
    ],
)
def test_a_script_is_judged_if_it_sets_only_defaults_and_runs_no_other_command(
    script: str, asked: str | None
) -> None:
    assert run(ASKED, script).strip() == str(asked)


def test_a_sysctl_with_an_option_becomes_a_flag_of_the_adapter() -> None:
    script = "+0 `sysctl -w net.inet.tcp.insecure_rst=1`\n+0 `sysctl -w net.inet.tcp.sack.enable=1`\n"
    rest = "+0 socket(...) = 3\n+0 `sysctl -w net.inet.tcp.insecure_rst=0`\n"
    assert run(FLAGS, script + rest).strip() == ",net.inet.tcp.insecure_rst=1"


def test_states_are_numbers_and_a_socket_that_is_only_bound_is_left_out() -> None:
    code = "+0 listen(3, 1) = 0\n+0.00 %{ assert tcpi_state == TCPI_FIN_WAIT_1 }%\n"
    assert run(TRANSLATED, BOUND + code) == BOUND + code.replace("TCPI_FIN_WAIT_1", "4")
    left = [line for line in run(TRANSLATED, BOUND).splitlines() if line]
    assert left == BOUND.splitlines()[2:]
