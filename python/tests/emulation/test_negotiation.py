"""What our TCP and the kernel's agree on, whoever opens and whoever sends; in a namespace, else skipped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from negotiation_script import OCTETS

pytest.importorskip("netspurt._core")

SCRIPT = Path(__file__).with_name("negotiation_script.py")
NOT_PERMITTED = 77
ALL = ("sack", "scale", "timestamps")
TIMESTAMPS = 12
"""Octets of the option in every segment."""


@dataclass(frozen=True)
class Case:
    """How both are set, and what the kernel should know of the connection."""

    name: str
    options: tuple[str, ...] = ALL
    kernel: dict[str, str] = field(default_factory=dict)
    tcp: dict[str, str] = field(default_factory=dict)
    profile: str = "linux"
    route: tuple[str, ...] = ()
    mtu: int = 1500
    segments: tuple[int, int] = (1448, 1448)
    """Data in the longest segment of the kernel's, and of ours."""


ECN_ASKED, ECN_HEARD, ECN_OFF = ({"tcp_ecn": value} for value in "120")
OUR_ECN = {"ecn": '"rfc3168"'}

CASES = (
    Case("as both are"),
    Case("neither end asks for ECN", kernel=ECN_HEARD, tcp={"ecn": '"off"'}),
    Case("the kernel asks for ECN and we have none", kernel=ECN_ASKED, tcp={"ecn": '"off"'}),
    Case("we ask for ECN and the kernel has none", kernel=ECN_OFF, tcp=OUR_ECN),
    Case("both ask for ECN", (*ALL, "ecn"), kernel=ECN_ASKED, tcp=OUR_ECN),
    Case("the kernel has no timestamps", ("sack", "scale"), {"tcp_timestamps": "0"}, segments=(1460, 1460)),
    Case("the kernel has no SACK", ("scale", "timestamps"), {"tcp_sack": "0"}),
    Case("the kernel has no window scale", ("sack", "timestamps"), {"tcp_window_scaling": "0"}),
    Case("we have no timestamps", ("sack", "scale"), tcp={"timestamps": "false"}, segments=(1460, 1460)),
    Case("we have no window scale", ("sack", "timestamps"), tcp={"window_option": '"none"'}),
    Case("we are of 1988", (), profile="reno", segments=(1460, 1460)),
    Case("the kernel's route has an MSS", route=("advmss", "700"), segments=(1448, 700 - TIMESTAMPS)),
    Case(
        "the kernel's route has an MTU",
        route=("mtu", "lock", "900"),
        segments=(900 - 40 - TIMESTAMPS, 900 - 40 - TIMESTAMPS),
    ),
    Case("we announce a small MSS", tcp={"mss": '"600 B"'}, segments=(600 - TIMESTAMPS, 600 - TIMESTAMPS)),
    Case("packets are short", mtu=576, segments=(576 - 40 - TIMESTAMPS,) * 2),
    Case("packets are long", mtu=9000, segments=(9000 - 40 - TIMESTAMPS,) * 2),
    Case(
        # Of an MSS that counts data alone, the option that is not to be takes its room.
        "the kernel ignores RFC 1106's options",
        (),
        profile="bsd43-bigwindow-nak",
        segments=(1452, 1452),
    ),
    Case(
        "the kernel ignores a scale in every segment",
        ("sack", "timestamps"),
        tcp={"window_option": '"scale-every-segment"'},
    ),
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    missing = [name for name in ("unshare", "ip") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {' and no '.join(missing)} here")
    file = tmp_path_factory.mktemp("cases") / "cases.json"
    keys = [(case.name, opens) for case in CASES for opens in ("the kernel", "we")]
    asked = [
        {
            "opens": opens,
            "kernel": case.kernel,
            "tcp": case.tcp,
            "profile": case.profile,
            "route": case.route,
            "mtu": case.mtu,
        }
        for case in CASES
        for opens in ("the kernel", "we")
    ]
    file.write_text(json.dumps(asked), encoding="utf-8")
    run = subprocess.run(
        ["unshare", "-rn", sys.executable, str(SCRIPT), str(file)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if "unshare failed" in run.stderr or run.returncode == NOT_PERMITTED:
        pytest.skip(f"no network namespace with a TUN device: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    return dict(zip(keys, json.loads(run.stdout), strict=True))


@pytest.mark.parametrize("opens", ["the kernel", "we"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_agree_and_all_arrives(
    found: dict[tuple[str, str], dict[str, Any]], case: Case, opens: str
) -> None:
    ways = found[case.name, opens]
    kernel_sends, we_send = ways["kernel sends"], ways["we send"]
    for told in (kernel_sends, we_send):
        # "Seen" is told where the peer's packets carry the codepoint, which those without data do not.
        assert set(told["options"]) - {"ecn seen"} == set(case.options), told
        assert told["closed"]["why"] == "finished", told
    assert kernel_sends["closed"]["bytes_received"] == OCTETS
    assert (we_send["closed"]["bytes_sent"], we_send["taken"]) == (OCTETS, OCTETS)
    kernels, ours = case.segments
    assert kernel_sends["segment_sent"] == kernels
    assert we_send["segment_received"] == ours
    assert ("ecn seen" in we_send["options"]) == ("ecn" in case.options)
