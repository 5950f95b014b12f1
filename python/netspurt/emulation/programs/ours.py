"""Programs with our TCP on a device, with the guest address of the host.

Lives here: these programs. Must not live here: the kernel's TCP.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from netspurt.emulation.programs.sockets import PORT, TIME_LIMIT_S, Work
from netspurt.emulation.programs.transfers import content

LOOK_S = 0.005


def our_sink(task: dict[str, Any]) -> Work:
    """The same as ``receive`` with our TCP, until all other programs are done.

    It does not wait for the end of its own connections: when a source ends, its TIME-WAIT state ends too, and no host
    would acknowledge a retransmitted FIN of this end.
    """
    host = _host({"kind": "sink", "port": PORT}, task)
    yield
    yield None
    host.stop()


def our_source(task: dict[str, Any]) -> Work:
    """Sends data on one connection with our TCP; returns the outcome of the connection."""
    _core()  # The import takes longer than a short transfer.
    yield
    remote = socket.gethostbyname(task["to"])
    host = _host(
        {"kind": "source", "remote": remote, "port": PORT, "connections": 1, "bytes": task["octets"]}, task
    )
    yield _closed(host, 1)
    host.stop()


def our_http(task: dict[str, Any]) -> Work:
    """Serves files whose name is their length, with our TCP, until all other programs are done."""
    with tempfile.TemporaryDirectory() as root:
        for length in task["files"]:
            (Path(root) / str(length)).write_bytes(bytes(length))
        host = _host({"kind": "http", "port": PORT, "root": root, "writes": task["writes"]}, task)
        yield
        yield None
        host.stop()


def our_exchange(task: dict[str, Any]) -> Work:
    """The same as ``exchange`` with our TCP, by ``netspurt host connect`` or ``listen``."""
    role = ["connect", socket.gethostbyname(task["to"])] if "to" in task else ["listen"]
    where = ["--device", "guest0"]
    where += [word for address in os.environ["NETSPURT_GUEST"].split() for word in ("--address", address)]
    words = [sys.executable, "-m", "netspurt", "host", *role, str(PORT), *where]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    host = None if "to" in task else begin()
    deadline = time.monotonic() + TIME_LIMIT_S
    while host is not None and not Path("/sys/class/net/guest0").exists() and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    yield
    host = host or begin()
    sent, taken = hashlib.sha256(), hashlib.sha256()

    def feed(into: Any) -> None:
        with into:
            for piece in content(task):
                sent.update(piece)
                into.write(piece)

    sender = threading.Thread(target=feed, args=(host.stdin,))
    sender.start()
    assert host.stdout is not None
    while piece := host.stdout.read1(1 << 18):  # type: ignore[attr-defined]
        taken.update(piece)
    sender.join()
    yield {"sent": sent.hexdigest(), "taken": taken.hexdigest(), "status": host.wait()}


def _core() -> Any:
    from netspurt import _core

    return _core


def _host(role: dict[str, Any], task: dict[str, Any]) -> Any:
    """Our TCP on a device with the guest address of this host."""
    tcp = [("profile", json.dumps(task.get("profile", "linux")))]
    tcp += [(key, json.dumps(value)) for key, value in task.get("tcp", {}).items()]
    guest = os.environ["NETSPURT_GUEST"].split()
    return _core().Host.start("guest0", guest, role, tcp=tcp, mtu=1500, offload="segments")


def _closed(host: Any, connections: int) -> list[dict[str, Any]]:
    over: list[dict[str, Any]] = []
    while len(over) < connections:
        host.wait(0.05)
        over += [news for news in host.take_news() if news["event"] == "closed"]
    return over


PROGRAMS = (our_sink, our_source, our_http, our_exchange)
"""The programs of this file."""
