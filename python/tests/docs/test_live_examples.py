"""The examples of the pages that need the kernel's network or do not end: each is carried out as it is written.

They run in a network namespace of their own. Those that name hosts of the Internet are left out.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import netspurt as ns

ROOT = Path(__file__).parents[3]

LIVE = re.compile(r"netspurt (emulate|shell|host|lab|ping|why --sockets)\b")
ELSEWHERE = re.compile(r"example\.org|192\.0\.2\.")

ENDLESS = re.compile(r"netspurt (host|lab|why --sockets(?! --for 10s))\b")
"""Until Ctrl-C; a minute of watching counts as endless too."""

WATCHED_S = 3.0
LIMIT_S = 90

SETUP = """
ip link set lo up && ip addr add 198.51.100.1/32 dev lo || exit 99
python -c '
import socket, threading
def read(there):
    try:
        while there.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass  # Ctrl-C ends a host in the middle of a transfer.
def accept(port):
    listening = socket.create_server(("", port))
    while True:
        threading.Thread(target=read, args=listening.accept()[:1]).start()
for port in (7000, 9000):
    threading.Thread(target=accept, args=(port,)).start()
' & listening=$!
sleep 0.3
"""
"""What the pages suppose: peers that listen and read."""


def _lines() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found: dict[str, None] = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                words = line.split("  #")[0].strip()
                if LIVE.match(words) and not ELSEWHERE.search(words):
                    found[words] = None
    return list(found)


LINES = _lines()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the files that the examples name."""
    for name in ("examples", "studies", "docs", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("mine.toml", "other.toml"):
        shutil.copy(ROOT / "examples" / "satellite.toml", tmp_path / name)
    for name in ("phone.up", "phone.down"):
        (tmp_path / name).write_text("".join(f"{ms}\n" for ms in range(1, 2001)))
    scenario = ns.load(ROOT / "examples" / "satellite.toml").set({"flow.0.app.bytes": "100 KiB"})
    scenario.run().write_pcap(tmp_path / "trace.pcapng")
    return tmp_path


def test_there_are_live_examples() -> None:
    assert len(LINES) >= 15


@pytest.mark.parametrize("line", LINES)
def test_a_live_example_works_as_it_is_written(line: str, here: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can run a shell or a host in a network namespace of its own")
    for program in ("iperf3", "curl"):
        if program in line and shutil.which(program) is None:
            pytest.skip(f"there is no {program} here (on Debian: apt-get install {program})")
    # Ctrl-C goes to the command alone.
    script = f"{SETUP}\n(trap - INT; exec {line}) </dev/null\nstatus=$?; kill $listening; exit $status"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", script],
        cwd=here,
        env=os.environ | {"PATH": path, "SHELL": "/bin/sh"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = _watched(process) if ENDLESS.match(line) else process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        # What still runs would disturb the tests behind this one.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    if process.returncode == 99 or "/dev/net/tun" in err:
        pytest.skip(f"no network namespace or TUN device: {err.strip()}")
    assert "Traceback" not in err, err
    # Whether a host has sockets to watch is not the example's business.
    allowed = (0, 130) if ENDLESS.match(line) else (0, 1) if "--sockets" in line else (0,)
    assert process.returncode in allowed, (process.returncode, out, err)


def _watched(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The output of a command that Ctrl-C ends. The first one may come before the command has started."""
    for patience_s in (20.0, 20.0, 20.0):
        time.sleep(WATCHED_S)
        for child in _below(process.pid):
            if b"netspurt" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[1]:
                os.kill(child, signal.SIGINT)
        try:
            return process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            continue
    return process.communicate(timeout=LIMIT_S)


def _below(parent: int) -> list[int]:
    """The children of a process."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
