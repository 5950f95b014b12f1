"""What runs on the hosts of an emulation: small programs with ordinary sockets, or with our TCP on a device.

Run by file name, without ``site``: dozens start at once. A program finds its task by its host's name in ``tasks.json`` of the folder
that it is given, makes ready, waits until all are, works, and leaves ``HOST.done.json`` with what it found. The program of the host that
leads says when all are ready, and ends when all have ended.

Lives here: programs. Must not live here: what their results should be, or any import that takes time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PORT = 5001
HERE_PORT = 5999
"""Where a program listens to nobody, to tell the emulator that it is ready."""

PIECE = bytes(1 << 18)
LOOK_S = 0.005
PATIENCE_S = 60.0
"""For others to make ready."""


def receive(task: dict[str, Any]) -> Iterator[Any]:
    """Takes what comes on so many connections, one after the other: octets of each, and when the last one came."""
    with socket.create_server(("", PORT)) as here:
        yield
        found = []
        for _ in range(task.get("transfers", 1)):
            there, _ = here.accept()
            with there:
                octets, at = 0, time.monotonic()
                while piece := there.recv(1 << 18):
                    octets += len(piece)
                    at = time.monotonic()
            found.append({"octets": octets, "at": at})
        yield found


def send(task: dict[str, Any]) -> Iterator[Any]:
    """Sends octets on so many connections, one after the other: when each began, and when the other end had all."""
    yield
    found = []
    for _ in range(task.get("transfers", 1)):
        began = time.monotonic()
        with _kernel_socket(task) as here:
            here.connect((task["to"], PORT))
            left = task["octets"]
            while left:
                left -= here.send(PIECE[: min(left, len(PIECE))])
            here.shutdown(socket.SHUT_WR)
            here.recv(1)
            found.append({"began": began, "ended": time.monotonic()})
    yield found


def _kernel_socket(task: dict[str, Any]) -> socket.socket:
    here = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if congestion := task.get("congestion"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    if buffer := task.get("receive_buffer"):
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    return here


def our_sink(task: dict[str, Any]) -> Iterator[Any]:
    """The same with our TCP: what became of so many connections."""
    host = _host({"kind": "sink", "port": PORT}, task)
    yield
    yield _closed(host, task.get("transfers", 1))
    host.stop()


def our_source(task: dict[str, Any]) -> Iterator[Any]:
    """Sends octets on one connection with our TCP: what became of it."""
    _core()  # The import takes longer than a short transfer.
    yield
    remote = socket.gethostbyname(task["to"])
    host = _host(
        {"kind": "source", "remote": remote, "port": PORT, "connections": 1, "bytes": task["octets"]}, task
    )
    yield _closed(host, 1)
    host.stop()


def our_http(task: dict[str, Any]) -> Iterator[Any]:
    """Serves files with our TCP until everybody else is done."""
    host = _host({"kind": "http", "port": PORT, "root": task["root"], "writes": task["writes"]}, task)
    yield
    yield None
    host.stop()


def http(task: dict[str, Any]) -> Iterator[Any]:
    """Serves any request with a head and a body of so many octets, handed to the kernel in these writes."""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {task['octets']}\r\n\r\n".encode()
    writes = _writes(head, task["octets"], task["pattern"])
    here = socket.create_server(("", PORT), backlog=64)

    def serve(there: socket.socket) -> None:
        with contextlib.suppress(OSError), there:
            there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(task["mode"] == "nodelay"))
            while _request(there):
                _answer(there, writes, corked=task["mode"] == "cork")

    def accept() -> None:
        while True:
            there, _ = here.accept()
            threading.Thread(target=serve, args=(there,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield
    yield None


def _writes(head: bytes, octets: int, pattern: list[int]) -> list[bytes]:
    """A response in pieces: the head by itself, then the body in these lengths, the last of them over and over."""
    writes, body, lengths = [head], bytes(octets), list(pattern)
    while body:
        length = lengths.pop(0) if len(lengths) > 1 else lengths[0]
        writes.append(body[:length])
        body = body[length:]
    return writes


def _request(there: socket.socket) -> bool:
    heard = b""
    while not heard.endswith(b"\r\n\r\n"):
        piece = there.recv(4096)
        if not piece:
            return False
        heard += piece
    return True


def _answer(there: socket.socket, writes: list[bytes], *, corked: bool) -> None:
    if corked:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    for piece in writes:
        there.sendall(piece)
    if corked:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


def fetch(task: dict[str, Any]) -> Iterator[Any]:
    """Asks for a path over and over on one connection: how long each answer took."""
    yield
    took, address = [], (socket.gethostbyname(task["to"]), PORT)
    with socket.create_connection(address, timeout=PATIENCE_S) as here:
        # A client that writes once for each request has nothing for Nagle's rule to hold.
        for _ in range(task["requests"]):
            began = time.monotonic()
            here.sendall(f"GET {task['path']} HTTP/1.1\r\nHost: server\r\n\r\n".encode())
            _read_answer(here)
            took.append(time.monotonic() - began)
    yield took


def pages(task: dict[str, Any]) -> Iterator[Any]:
    """Fetches pages of one file and some more at once, each on a connection of its own: how long each page took.

    ``task["files"]`` holds for each page the sizes of its files, the first of which is asked for first.
    """
    yield
    took = []
    for sizes in task["pages"]:
        began = time.monotonic()
        _fetch_alone(task["to"], sizes[0])
        rest = [threading.Thread(target=_fetch_alone, args=(task["to"], size)) for size in sizes[1:]]
        for thread in rest:
            thread.start()
        for thread in rest:
            thread.join()
        took.append(time.monotonic() - began)
        time.sleep(task["pause_s"])
    yield took


def files(_task: dict[str, Any]) -> Iterator[Any]:
    """Sends each connection as many octets as it asks for, and closes it."""
    here = socket.create_server(("", PORT), backlog=256)

    def serve(there: socket.socket) -> None:
        with contextlib.suppress(OSError), there:
            wanted = int.from_bytes(there.recv(8), "big")
            there.sendall(bytes(wanted))

    def accept() -> None:
        while True:
            there, _ = here.accept()
            threading.Thread(target=serve, args=(there,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield
    yield None


def _fetch_alone(host: str, octets: int) -> None:
    with socket.create_connection((host, PORT), timeout=PATIENCE_S) as here:
        here.sendall(octets.to_bytes(8, "big"))
        while here.recv(1 << 16):
            pass


def _read_answer(here: socket.socket) -> None:
    heard = b""
    while (end := heard.find(b"\r\n\r\n")) < 0:
        heard += here.recv(1 << 16)
    lines = heard[:end].lower().split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
    missing = length - (len(heard) - end - 4)
    while missing > 0:
        piece = here.recv(1 << 16)
        if not piece:
            raise ConnectionError("the server closed too early")
        missing -= len(piece)


def run(task: dict[str, Any]) -> Iterator[Any]:
    """Runs a command: its exit status, and what it said on standard error."""
    yield
    done = subprocess.run(task["words"], capture_output=True, text=True, check=False)
    yield {"status": done.returncode, "error": done.stderr}


def rest(_task: dict[str, Any]) -> Iterator[Any]:
    """Is there, and lets the kernel answer."""
    yield
    yield None


def _core() -> Any:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from netspurt import _core

    return _core


def _host(role: dict[str, Any], task: dict[str, Any]) -> Any:
    """Our TCP on a device behind the guest's address of this host."""
    tcp = [("profile", json.dumps(task.get("profile", "linux")))]
    tcp += [(key, json.dumps(value)) for key, value in task.get("tcp", {}).items()]
    guest = os.environ["NETSPURT_GUEST"]
    return _core().Host.start("guest0", [guest], role, tcp=tcp, mtu=1500, offload="segments")


def _closed(host: Any, connections: int) -> list[dict[str, Any]]:
    over: list[dict[str, Any]] = []
    while len(over) < connections:
        host.wait(0.05)
        over += [news for news in host.take_news() if news["event"] == "closed"]
    return over


PROGRAMS: dict[str, Callable[[dict[str, Any]], Iterator[Any]]] = {
    program.__name__: program
    for program in (receive, send, our_sink, our_source, our_http, http, fetch, pages, files, run, rest)
}


def _wait_for(path: Path, until: float | None = None) -> None:
    while not path.exists():
        if until is not None and time.monotonic() > until:
            raise TimeoutError(f"{path.name} never came")
        time.sleep(LOOK_S)


def _leave(path: Path, content: Any) -> None:
    """Written beside and renamed: who sees it sees all of it."""
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(content), encoding="utf-8")
    beside.rename(path)


def _outcome(work: Iterator[Any]) -> Any:
    try:
        return next(work)
    except OSError as error:
        return {"failed": str(error)}


def main() -> None:
    """The task of this host, from the folder on the command line."""
    folder, me = Path(sys.argv[1]), os.environ["NETSPURT_HOST"]
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    work = PROGRAMS[tasks[me]["program"]](tasks[me])
    leads = me == next(iter(tasks))
    next(work)
    _leave(folder / f"{me}.ready", None)
    with socket.create_server(("127.0.0.1", HERE_PORT)):
        if leads:
            until = time.monotonic() + PATIENCE_S
            for name in tasks:
                _wait_for(folder / f"{name}.ready", until)
            _leave(folder / "go", None)
        _wait_for(folder / "go")
        _leave(folder / f"{me}.done.json", _outcome(work))
        if leads:
            for name in tasks:
                _wait_for(folder / f"{name}.done.json")
            _leave(folder / "over", None)
        # Servers and our hosts are still wanted, if only for an ACK.
        _wait_for(folder / "over")


if __name__ == "__main__":
    main()
