"""Uses ``netspurt host`` in a namespace: ``unshare -rn python host_script.py WORK FOLDER``; JSON on standard output.

Exit status 77: there is no TUN device to be had; standard error says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOST = "10.99.0.2"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def start(*words: str, **streams: Any) -> subprocess.Popen[bytes]:
    """A host at work."""
    command = [sys.executable, "-m", "netspurt", "host", *words]
    return subprocess.Popen(command, env=ENVIRONMENT, **streams)


def connect(port: int) -> socket.socket:
    """A connection, as soon as the host is there."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection((HOST, port), timeout=20)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def splice(folder: Path) -> dict[str, Any]:
    """Two megabytes out, the same backwards in; the host's side ends first."""
    sent = bytes(n * n % 251 for n in range(2_000_000))
    (folder / "in").write_bytes(sent)
    with (folder / "in").open("rb") as source, (folder / "out").open("wb") as target:
        host = start("listen", "7000", stdin=source, stdout=target, stderr=subprocess.DEVNULL)
        with connect(7000) as stream:
            heard = b""
            while piece := stream.recv(1 << 16):
                heard += piece
            stream.sendall(sent[::-1])
            stream.shutdown(socket.SHUT_WR)
            status = host.wait(20)
    return {"status": status, "heard": hashlib.sha256(heard).hexdigest()}


def http(folder: Path) -> dict[str, Any]:
    """Two files in two patterns of writes, and one that is not there."""
    same = []
    (folder / "page").write_bytes(os.urandom(100_000))
    for pattern in ("whole", "300,1460"):
        capture = str(folder / "http.pcapng")
        host = start(
            *("http", "8080", "--root", str(folder), "--writes", pattern, "--capture", capture),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        connect(8080).close()
        with urllib.request.urlopen(f"http://{HOST}:8080/page", timeout=20) as answer:
            same.append(answer.read() == (folder / "page").read_bytes())
        with urllib.request.urlopen(f"http://{HOST}:8080/page", timeout=20) as answer:
            same[-1] = same[-1] and answer.read() == (folder / "page").read_bytes()
        missing = 0
        try:
            urllib.request.urlopen(f"http://{HOST}:8080/none", timeout=20).close()
        except urllib.error.HTTPError as error:
            missing = error.code
        host.send_signal(signal.SIGINT)
        status = host.wait(20)
    return {"same": same, "missing": missing, "status": status}


def keep_alive(_folder: Path) -> dict[str, Any]:
    """Our probes are answered for a while; then the kernel's answers find no way any more."""
    probes = 'keep_alive={ kind = "probes", idle = "300 ms", interval = "300 ms", probes = 3 }'
    with socket.create_server(("0.0.0.0", 9)) as here:
        host = start(
            *("sink", "9", "--to", "10.99.0.1", "--json", "--set", probes),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        here.settimeout(20)
        there, _ = here.accept()
        with there:
            time.sleep(3)
            alive = host.poll() is None
            subprocess.run(["ip", "route", "add", "blackhole", f"{HOST}/32"], check=True)
            said, error = host.communicate(timeout=20)
    closed = json.loads(said.decode().splitlines()[-1])
    return {"alive": alive, "closed": closed, "status": host.returncode, "error": error.decode()}


def errors(_folder: Path) -> dict[str, Any]:
    """A device that exists, and a port without a listener."""

    def said(*words: str) -> list[Any]:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        host = start(*words, **streams)
        _, error = host.communicate(timeout=20)
        return [host.returncode, error.decode().splitlines()[-1]]

    taken = said("sink", "9", "--device", "lo")
    refused = said("connect", "10.99.0.1", "7000")
    left = [name for _, name in socket.if_nameindex()]
    return {"taken": taken, "refused": refused, "left": left}


def main() -> int:
    """One kind of work."""
    work: dict[str, Callable[[Path], dict[str, Any]]] = {
        "splice": splice,
        "http": http,
        "errors": errors,
        "keep_alive": keep_alive,
    }
    for words in ("link set lo up", "tuntap add mode tun name trial", "tuntap del mode tun name trial"):
        tried = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
        if tried.returncode:
            print(tried.stderr.strip(), file=sys.stderr)
            return 77
    print(json.dumps(work[sys.argv[1]](Path(sys.argv[2]))))
    # A thread that is still blocked somewhere shall not hold this up.
    return 0 if threading.active_count() == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
