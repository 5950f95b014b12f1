"""``netspurt host`` as a user has it: against the kernel, in a namespace of its own; else skipped with the reason."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("netspurt._core")

SCRIPT = Path(__file__).with_name("host_script.py")
NOT_PERMITTED = 77


def inside(work: str, folder: Path) -> dict[str, object]:
    """What a part of ``host_script.py`` says, run in a namespace of its own."""
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare here")
    run = subprocess.run(
        ["unshare", "-rn", sys.executable, str(SCRIPT), work, str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    denied = "unshare failed" in run.stderr or run.returncode == NOT_PERMITTED
    if denied:
        pytest.skip(f"no network namespace with a TUN device: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    found: dict[str, object] = json.loads(run.stdout)
    return found


def test_standard_input_and_output_are_spliced_to_a_connection_and_half_of_it_may_end_first(
    tmp_path: Path,
) -> None:
    found = inside("splice", tmp_path)
    assert found["status"] == 0
    sent, kept = (tmp_path / "in").read_bytes(), (tmp_path / "out").read_bytes()
    assert found["heard"] == hashlib.sha256(sent).hexdigest()
    assert kept == sent[::-1]


def test_files_are_served_and_what_passed_is_captured(tmp_path: Path) -> None:
    found = inside("http", tmp_path)
    assert found["same"] == [True, True]
    assert found["missing"] == 404
    assert found["status"] == 0
    assert (tmp_path / "http.pcapng").stat().st_size > 200_000


def test_our_keep_alives_are_answered_and_end_a_connection_without_a_peer(tmp_path: Path) -> None:
    found = inside("keep_alive", tmp_path)
    assert found["alive"]
    closed = found["closed"]
    assert isinstance(closed, dict)
    assert closed["why"] == "keep-alive timed out"
    assert closed["segments_received"] > 5, "answers to probes"
    assert found["status"] == 1
    assert "no longer responds" in str(found["error"])


def test_a_used_name_and_a_refusing_peer_are_reported_in_a_sentence(tmp_path: Path) -> None:
    found = inside("errors", tmp_path)
    taken, refused = found["taken"], found["refused"]
    assert isinstance(taken, list)
    assert isinstance(refused, list)
    assert taken[0] == 2
    assert "lo" in taken[1]
    assert refused[0] == 1
    assert "refused the connection" in refused[1]
    assert found["left"] == ["lo"]


def test_wrong_keys_and_addresses_are_refused_before_anything_is_made() -> None:
    for words, said in (
        (["sink", "9", "--set", "tcp.recieve_window=3"], "receive_window"),
        (["sink", "9", "--profile", "linus"], "linux"),
        (["sink", "9", "--address", "10.0.0.1/33"], "10.0.0.1/33"),
        (["sink", "0"], "port"),
        (["http", "80", "--writes", "half"], "head-first"),
        (["sink", "9", "--device", "a b"], "a b"),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "netspurt", "host", *words],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert run.returncode == 2, run.stderr
        assert said in run.stderr
        assert run.stderr.count("\n") == 1
