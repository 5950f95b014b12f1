"""``netspurt responsiveness`` between two hosts of an emulation."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("netspurt._core")

from emulations import emulate, said  # what they need is looked for first

pytestmark = pytest.mark.usefixtures("permitted", "nothing_is_left")

NETSPURT = f"{shlex.quote(sys.executable)} -m netspurt"


def test_the_load_of_the_emulated_path_lengthens_its_round_trips(tmp_path: Path) -> None:
    serve = f"{NETSPURT} responsiveness --serve 0.0.0.0:4043"
    # The server prints its address when it listens; here the client waits for its port instead.
    wait = (
        "for n in 1 2 3 4 5 6 7 8 9 10; do (: < /dev/tcp/space/4043) 2> /dev/null && break; sleep 0.5; done"
    )
    ask = f"{NETSPURT} responsiveness --server http://space:4043 --duration 4s --interval 1s -P 2 --json"
    link = 'rate = "10 Mbit/s"\nqueue = { kind = "drop-tail", limit = "200 ms" }'
    words = ("--json", "--congestion", "cubic", "--server", serve, "--", "bash", "-c", f"{wait}; {ask}")
    run = emulate(tmp_path, *words, link=link)
    assert run.returncode == 0, run.stderr
    found = json.loads(next(line for line in said(run).splitlines() if line.startswith("{")))
    # An idle round trip takes 20 ms; the queues hold up to 200 ms each way.
    assert 100 < found["rpm"] < 1500, found
    assert found["self_ms"] > 40, found
    assert 3e6 < found["goodput_bps"] < 20e6, found
