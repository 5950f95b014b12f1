"""Against the kernel, long and hard: every octet arrives over a bad path, and hostile segments do no harm.

Short here; as long as the project promises with ``make endure`` (``NETSPURT_ENDURE=1``). Skipped with the reason where
namespaces or devices are not permitted.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netspurt.emulation.emulating import NotPossible, emulated
from netspurt.emulation.packets import conversations

pytest.importorskip("netspurt._core")

FULL = bool(os.environ.get("NETSPURT_ENDURE"))
OCTETS = 1_000_000_000 if FULL else 30_000_000
HOSTILE_S = 60 if FULL else 4
LIMIT_S = 1200

BAD_PATH = """
duration = "1 s"
[link.path]
between = ["a", "b"]
rate = "500 Mbit/s"
delay = "1 ms"
queue = { kind = "drop-tail", limit = "1000 packets" }
loss = { kind = "packet-error", rate = 0.0005 }
reorder = { probability = 0.005, delay = "500 us" }
duplicate = { probability = 0.005 }
corrupt = { probability = 0.0002 }
[[flow]]
from = "a"
to = "b"
app = { kind = "bulk" }
"""


@pytest.mark.parametrize("opens", ["the kernel", "we"])
def test_both_ways_at_once_every_octet_arrives_over_a_path_that_loses_reorders_doubles_and_damages(
    opens: str,
) -> None:
    # One of the two is enough to be long.
    octets = OCTETS if opens == "the kernel" or not FULL else OCTETS // 10
    kernel_first = opens == "the kernel"
    one = {"program": "exchange" if kernel_first else "our_exchange", "octets": octets, "seed": 1}
    other = {"program": "our_exchange" if kernel_first else "exchange", "octets": octets, "seed": 2}
    tasks = {"a": one | {"to": "guest.b" if kernel_first else "b"}, "b": other}
    try:
        with emulated(BAD_PATH, tasks, limit_s=LIMIT_S) as done:
            here, there, links = done.found["a"], done.found["b"], done.report["links"]
    except NotPossible as reason:
        pytest.skip(str(reason))
    assert (here["sent"], there["sent"]) == (there["taken"], here["taken"])
    assert {here.get("status", 0), there.get("status", 0)} == {0}
    for link in links:
        assert min(link["drops"]["packet-error"], link["held"], link["duplicated"], link["corrupted"]) > 0
    print(f"{octets} octets each way, {done.report['seconds']:.1f} s")


MARKING_PATH = """
[link.path]
between = ["a", "b"]
rate = "20 Mbit/s"
delay = "5 ms"
queue = { kind = "codel", ecn = true }
"""

ECE, CWR = 0x40, 0x80


@pytest.mark.parametrize("sends", ["the kernel", "we"])
def test_marks_of_a_queue_are_echoed_and_reduce_cwnd_at_either_end(sends: str) -> None:
    octets, ecn = 4_000_000, {"ecn": "rfc3168"}
    if sends == "the kernel":
        tasks = {
            "a": {"program": "send", "to": "guest.b", "octets": octets, "congestion": "cubic"},
            "b": {"program": "our_sink", "tcp": ecn},
        }
    else:
        tasks = {
            "a": {"program": "our_source", "to": "b", "octets": octets, "tcp": ecn},
            "b": {"program": "receive"},
        }
    words = ("--sysctl", "net.ipv4.tcp_ecn=1")
    try:
        with emulated(MARKING_PATH, tasks, limit_s=60, captures=["a"], words=words) as done:
            (talk,) = conversations(done.captures["a"]).values()
            there = done.report["links"][0]
    except NotPossible as reason:
        pytest.skip(str(reason))
    assert there["marked"] > 0
    assert sum(there["drops"].values()) == 0, "who is told of congestion in time loses nothing"
    assert talk.resent == 0
    # Behind the SYN segments, where both bits mean something else: who receives echoes, who sends says it has heard.
    echoes = [answer.at_s for answer in talk.answered[1:] if answer.flags & ECE]
    heard = [segment.at_s for segment in talk.sent[1:] if segment.flags & CWR]
    assert echoes
    assert heard
    assert echoes[0] < heard[0]
    # No more often than once in a round trip, however many marks there were.
    assert all(after - before >= 0.010 for before, after in itertools.pairwise(heard))


def test_hostile_segments_at_full_rate_do_not_grow_memory() -> None:
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare here")
    script = Path(__file__).with_name("hostile_flood.py")
    run = subprocess.run(
        ["unshare", "-rn", sys.executable, str(script), str(HOSTILE_S)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if "unshare failed" in run.stderr or run.returncode == 77:
        pytest.skip(f"no network namespace with a TUN device: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["alive"], found
    assert found["served"], "an honest peer is served afterwards"
    assert found["status"] == 0, found
    assert "panicked" not in found["said"]
    # Lists of half-open and closing connections fill at first; all that may be kept are forty windows of 6 MiB.
    half, last = found["memory_kb"][len(found["memory_kb"]) // 2], found["memory_kb"][-1]
    assert last < (half + 4096 if FULL else 150_000), found
    print(f"{found['sent']} hostile segments in {found['seconds']:.0f} s, memory {found['memory_kb']} kB")
