"""The live table of ``netspurt host``, drawn onto terminals of several sizes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from netspurt.emulation.watching import COLUMNS, Watch, number


def row(port: int, **other: Any) -> dict[str, Any]:
    """A connection of the kernel's."""
    return {
        "local": "10.99.0.2:9",
        "remote": f"10.99.0.1:{port}",
        "state": "ESTABLISHED",
        "phase": "slow start",
        "cwnd": 14480,
        "ssthresh": None,
        "srtt_ms": 0.0837,
        "rto_ms": 200.1,
        "unacknowledged": 0,
        "peer_window": 64512,
        "retransmitted": 0,
        "timeouts": 0,
        "send_queue": 0,
        "receive_queue": 0,
        "holding": "no-data",
        "bytes_sent": 0,
        "bytes_received": 0,
    } | other


def drawn(
    watch: Watch, rows: list[dict[str, Any]], width: int, height: int = 24, now: float = 0.0
) -> list[str]:
    """Its lines."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=False)
    console.print(watch.table(rows, {"open": len(rows), "half_open": 0}, (width, height), now))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [50, 80, 100, 120, 160, 240])
def test_nothing_is_cut_or_broken_and_what_has_no_room_is_left_out(width: int) -> None:
    rows = [row(53000 + n, state="FIN-WAIT-1", ssthresh=10_000_000) for n in range(3)]
    lines = drawn(Watch(), rows, width)
    assert len(lines) == 5
    assert not any("…" in line for line in lines)
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("remote")
    assert lines[0].endswith("Mbit/s")
    assert lines[1].split()[:2] == ["10.99.0.1:53000", "FIN-WAIT-1"]
    assert lines[-1] == "3 open"


def test_the_wider_the_terminal_the_more_is_shown() -> None:
    heads = [drawn(Watch(), [row(1)], width)[0] for width in (50, 80, 120, 240)]
    assert [len(head.split()) for head in heads] == sorted(len(head.split()) for head in heads)
    assert all(column.head in heads[-1] for column in COLUMNS)
    assert {"cwnd", "srtt", "flight"} <= set(heads[1].split())


def test_rates_are_those_since_the_last_look_and_columns_do_not_shrink() -> None:
    watch = Watch()
    first = drawn(watch, [row(1)], 120, now=1.0)
    assert first[1].endswith("–")
    second = drawn(watch, [row(1, bytes_received=125_000_000, cwnd=123_456_789)], 120, now=2.0)
    assert second[1].endswith("1000")
    third = drawn(watch, [row(1, bytes_received=125_000_000)], 120, now=3.0)
    assert third[1].endswith("0.000")
    assert third[0] == second[0]


def test_what_does_not_fit_the_height_is_counted() -> None:
    lines = drawn(Watch(), [row(n) for n in range(100)], 120, height=24)
    assert len(lines) <= 24
    assert lines[-1] == "80 more connections, 100 open"
    assert drawn(Watch(), [], 80)[-1] == "waiting for connections"


def test_numbers_have_the_digits_that_count() -> None:
    assert [number(value) for value in (None, 3, 0.08371, 31.6372, 12345.6)] == [
        "–",
        "3",
        "0.084",
        "31.64",
        "12346",
    ]


def test_the_native_module_names_states_as_rfc_9293_does() -> None:
    script = (
        "import json, socket, time; from netspurt import _core; "
        "role = {'kind': 'sink', 'port': 9, 'remote': None, 'connections': 1, 'bytes': None}; "
        "host = _core.Host.start('watched0', ['10.97.0.2/24'], role | {'root': None, 'writes': None}, tcp=[], "
        "mtu=1500, offload='segments', capture=None); "
        "line = socket.create_connection(('10.97.0.2', 9), timeout=5); time.sleep(0.2); "
        "print(json.dumps([row['state'] for row in host.snapshot()[0]])); host.stop()"
    )
    run = subprocess.run(
        ["unshare", "-rn", sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    if run.returncode and (
        "unshare" in run.stderr or "PermissionError" in run.stderr or "OSError" in run.stderr
    ):
        pytest.skip(f"no network namespace with a TUN device here: {run.stderr.strip().splitlines()[-1]}")
    assert json.loads(run.stdout) == ["ESTABLISHED"], run.stderr
