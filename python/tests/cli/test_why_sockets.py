"""``netspurt why --sockets``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from socket_traffic import connected, place, read_slowly, transfer, write_always

from netspurt.sockets.watching import INTERVALS

pytest.importorskip("netspurt._core")

LIMIT_S = 60


def command(*words: str) -> list[str]:
    """The command as words."""
    return [sys.executable, "-m", "netspurt", "why", "--sockets", *words]


def why(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs it."""
    return subprocess.run(command(*words), capture_output=True, text=True, timeout=LIMIT_S)


def lines(text: str) -> list[dict[str, Any]]:
    """Its documents."""
    return [json.loads(line) for line in text.splitlines()]


def test_json_is_one_document_a_line_and_the_last_one_counts() -> None:
    with transfer(write_always, read_slowly) as (client, _):
        own = place(client)
        run = why("--for", "2s", "--json", "--filter", f"local port {client.getsockname()[1]}")
    found = lines(run.stdout)
    assert run.returncode == 0
    assert {each["event"] for each in found[:-1]} == {"interval", "socket"}
    intervals = [each for each in found if each["event"] == "interval"]
    (whole,) = [each for each in found if each["event"] == "socket"]
    assert {each["local"] for each in intervals} == {own}
    assert len(intervals) > 1
    assert whole["limit"] == whole["budget"][0]["limit"] == "slow-receiver"
    assert whole["sentence"]
    assert whole["pid"] == os.getpid()
    for each in (*intervals, whole):
        assert sum(line["seconds"] for line in each["budget"]) == pytest.approx(each["duration_s"], abs=1e-6)
    assert found[-1]["event"] == "summary"
    assert found[-1]["sockets"] == 1


def test_a_socket_that_ends_while_watching_has_its_line() -> None:
    client, accepted = connected()
    port = accepted.getsockname()[1]
    closing = threading.Timer(0.7, lambda: (client.close(), accepted.close()))
    closing.start()
    run = why("--for", "3s", "--json", "--filter", f"port {port}")
    closing.join()
    ended = [each for each in lines(run.stdout) if each["event"] == "socket"]
    assert len(ended) == 2
    assert {each["local"] for each in ended} == {each["remote"] for each in ended}
    assert all(each["duration_s"] < 2.5 for each in ended)


def test_the_table_names_the_limit_and_the_file_has_the_intervals(tmp_path: Path) -> None:
    file = tmp_path / "sockets.parquet"
    with transfer(write_always, read_slowly) as (client, _):
        own, port = place(client), client.getsockname()[1]
        run = why("--for", "1s", "--filter", f"local port {port}", "--out", str(file))
        again = why("--for", "300ms", "--filter", f"local port {port}", "--out", str(file))
    assert "slow-receiver" in run.stdout
    assert f"written to {file}" in run.stdout
    rows = pl.read_parquet(file)
    assert rows.schema == pl.Schema(INTERVALS)
    assert rows.height > 0
    assert set(rows["local"]) == {own}
    # An earlier output is replaced.
    assert (run.returncode, again.returncode) == (0, 0)


def test_no_socket_is_exit_status_1() -> None:
    run = why("--for", "200ms", "--filter", "pid 0")
    assert run.returncode == 1
    assert "no TCP connection that passes the filter" in run.stderr


def test_ctrl_c_keeps_what_was_found() -> None:
    with transfer(write_always, read_slowly) as (client, _):
        running = subprocess.Popen(
            command("--json", "--filter", f"local port {client.getsockname()[1]}"),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert running.stdout is not None
        first = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        rest, _ = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 130
    assert lines(first + rest)[-1]["event"] == "summary"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--filter", "port http2"), "'http2' is not a port from 0 to 65535"),
        (("--netns", "no-such-namespace"), "there is no network namespace /run/netns/no-such-namespace"),
        (("--interval", "0"), "is not a time above zero, such as"),
        (("--out", "x.csv"), "end its name in .parquet"),
    ],
)
def test_a_wrong_request_is_exit_status_2(words: tuple[str, ...], said: str) -> None:
    run = why("--for", "200ms", *words)
    assert run.returncode == 2
    assert said in run.stderr


def test_another_namespace_has_other_sockets() -> None:
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no program unshare")
    inside = subprocess.Popen(
        [unshare, "--net", sys.executable, "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert inside.stdout is not None
    ready = inside.stdout.readline()
    try:
        if not ready:
            pytest.skip("this user may not make a network namespace")
        with transfer(write_always, read_slowly):
            run = why("--for", "300ms", "--json", "--netns", f"/proc/{inside.pid}/ns/net")
    finally:
        inside.communicate("\n", timeout=LIMIT_S)
    (summary,) = lines(run.stdout)
    assert (summary["seen"], summary["missed"]) == (0, 0)
    assert run.returncode == 1
