"""Programs for the hosts of an emulation: small programs with ordinary sockets, or with our TCP on a device.

They run by file name, without ``site``, because dozens start at once. A program reads its task by its host's name from
``tasks.json`` in the given folder, gets ready, waits until all are ready (or, with ``after`` in its task, until that
host is done), works, and writes its outcome to ``HOST.done.json``. The program of the first host leads: it starts all
programs when they are ready, and ends when all have ended. Programs synchronise by named pipes, ``HOST.ready``,
``HOST.done``, ``go`` and ``over``, which exist in the folder from the start.

Lives here: programs. Must not live here: the expected results, or any slow import.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

Work = Generator[Any, None, None]
"""A program: its preparation, then ``yield``; the measured work, then ``yield`` of the outcome."""

PORT = 5001
HERE_PORT = 5999
"""The address that tells the emulator that a program is ready; no program listens there."""

PIECE = bytes(1 << 18)
SO_MAX_PACING_RATE = 47
"""asm-generic/socket.h."""
FAST = (1 << 32) - 2
"""Bytes per second that limit nothing; any rate makes the kernel pace."""
LOOK_S = 0.005
SENTRY_S = 0.001
BEGINNING_S = 0.1
"""All programs start at once, and the creation of a device occupies a processor for some milliseconds."""
DEVICE = "netspurt0"
"""The name of a host's interface."""
PATIENCE_S = 60
"""Time limit in seconds for the other programs to get ready."""


def receive(task: dict[str, Any]) -> Work:
    """Receives and discards data on several connections in sequence; returns bytes and end time of each."""
    with socket.create_server(("", PORT)) as here:
        window = task.get("window")
        if window:
            # Linux autotunes the buffer unless a size is set, and doubles a set size.
            here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * window)
        yield
        found = []
        for _ in range(task.get("transfers", 1)):
            there, _ = here.accept()
            with there:
                octets, at = 0, time.monotonic()
                if window:
                    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
                while piece := there.recv(1 << 18):
                    octets += len(piece)
                    at = time.monotonic()
                    if window:
                        # Linux resets the clamp whenever it measures the segment size.
                        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
            found.append({"octets": octets, "at": at})
        yield found


def send(task: dict[str, Any]) -> Work:
    """Sends data on several connections in sequence; returns start of each, and the time of the last ACK."""
    yield
    found = []
    for _ in range(task.get("transfers", 1)):
        began = time.monotonic()
        _transfer(task)
        found.append({"began": began, "ended": time.monotonic()})
    yield found


def _transfer(task: dict[str, Any]) -> None:
    """Sends data on a connection, until the peer has closed."""
    with _kernel_socket(task) as here:
        here.connect((task["to"], PORT))
        left = task["octets"]
        while left:
            left -= here.send(PIECE[: min(left, len(PIECE))])
        here.shutdown(socket.SHUT_WR)
        here.recv(1)


def send_several(task: dict[str, Any]) -> Work:
    """Sends data on several connections at once; returns the start, and the time of the last ACK of all."""
    yield
    began = time.monotonic()
    failed: list[Exception] = []

    def one() -> None:
        try:
            _transfer(task)
        except Exception as error:
            failed.append(error)

    senders = [threading.Thread(target=one) for _ in range(task["connections"])]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    if failed:
        raise OSError(str(failed[0]))
    yield {"began": began, "ended": time.monotonic()}


def receive_several(task: dict[str, Any]) -> Work:
    """Receives and discards data on several connections at once, until all other programs are done."""
    window = task.get("window")
    here = _kernel_server(task, backlog=256)
    if window:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * window)

    def read(there: socket.socket) -> None:
        with contextlib.suppress(OSError), there:
            _clamp(there, window)
            while there.recv(1 << 18):
                _clamp(there, window)

    def accept() -> None:
        while True:
            there, _ = here.accept()
            threading.Thread(target=read, args=(there,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield
    yield None


def _clamp(there: socket.socket, window: int | None) -> None:
    """Limits the window; Linux resets the clamp whenever it measures the segment size."""
    if window:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)


def ask(task: dict[str, Any]) -> Work:
    """Sends requests, each in given writes, and reads the answers; returns the start and the end of them all."""
    yield
    request = [bytes(length) for length in task["request"]]
    began = time.monotonic()
    with _kernel_socket(task) as here:
        here.settimeout(PATIENCE_S)
        here.connect((task["to"], PORT))
        for number in range(task["exchanges"]):
            if number and task["gap_s"]:
                time.sleep(task["gap_s"])
            for piece in request:
                here.sendall(piece)
            if not _read_bytes(here, task["response"]):
                raise ConnectionError("the server closed too early")
    yield {"began": began, "ended": time.monotonic()}


def respond(task: dict[str, Any]) -> Work:
    """Answers requests of a given length, each answer in given writes, until the peer closes."""
    response = [bytes(length) for length in task["response"]]
    here = _kernel_server(task, backlog=64)
    yield
    there, _ = here.accept()
    with there:
        while _read_bytes(there, task["request"]):
            for piece in response:
                there.sendall(piece)
    yield None


def _read_bytes(there: socket.socket, length: int) -> bool:
    """Reads this many bytes; False if the peer has closed."""
    left = length
    while left:
        piece = there.recv(min(left, 1 << 18))
        if not piece:
            return False
        left -= len(piece)
    return True


def _kernel_socket(task: dict[str, Any]) -> socket.socket:
    return _controlled(socket.socket(socket.AF_INET, socket.SOCK_STREAM), task)


def _kernel_server(task: dict[str, Any], backlog: int) -> socket.socket:
    # Accepted sockets inherit the options of the listening socket.
    return _controlled(socket.create_server(("", PORT), backlog=backlog), task)


def _controlled(here: socket.socket, task: dict[str, Any]) -> socket.socket:
    """Sets the options that the task names instead of the system's defaults."""
    if congestion := task.get("congestion"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    if task.get("nodelay"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if mss := task.get("mss"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
    if buffer := task.get("send_buffer"):
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    if task.get("pacing"):
        here.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, FAST.to_bytes(4, sys.byteorder))
    if peer := task.get("quickack"):
        address = socket.gethostbyname(peer)
        route = ["ip", "route", "replace", address, "dev", DEVICE, "quickack", "1"]
        subprocess.run(route, check=True, capture_output=True, timeout=PATIENCE_S)
    return here


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


def http(task: dict[str, Any]) -> Work:
    """Answers any request with a header and a body of a given size, written to the kernel in given pieces."""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {task['octets']}\r\n\r\n".encode()
    writes = _writes(head + bytes(task["octets"]), task["pattern"])
    here = _kernel_server(task, backlog=64)

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


def _writes(response: bytes, pattern: list[int]) -> list[bytes]:
    """Splits a response into pieces of these lengths; the last length repeats."""
    writes, lengths = [], list(pattern)
    while response:
        length = lengths.pop(0) if len(lengths) > 1 else lengths[0]
        writes.append(response[:length])
        response = response[length:]
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


def fetch(task: dict[str, Any]) -> Work:
    """Requests a path repeatedly on one connection; returns the time of each answer."""
    yield
    took: list[float] = []
    with _kernel_socket(task) as here:
        here.settimeout(PATIENCE_S)
        here.connect((task["to"], PORT))
        # Nagle's rule holds nothing of a client with one write per request.
        for _ in range(task["requests"]):
            began = time.monotonic()
            here.sendall(f"GET {task['path']} HTTP/1.1\r\nHost: server\r\n\r\n".encode())
            _read_answer(here)
            took.append(time.monotonic() - began)
    yield took


def pages(task: dict[str, Any]) -> Work:
    """Fetches pages of one file and then several at once, each on its own connection; returns the time of each page.

    ``task["clients"]`` contains for each client its pages: the pause before a page, and the sizes of its files. The
    client requests the first file alone. Clients are independent of one another.
    """
    yield
    took: list[list[float]] = [[] for _ in task["clients"]]
    clients = [
        threading.Thread(target=_browse, args=(task["to"], client, own))
        for client, own in zip(task["clients"], took, strict=True)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    yield [each for own in took for each in own]


def _browse(server: str, todo: list[tuple[float, list[int]]], took: list[float]) -> None:
    for pause_s, sizes in todo:
        time.sleep(pause_s)
        began = time.monotonic()
        _fetch_alone(server, sizes[0])
        rest = [threading.Thread(target=_fetch_alone, args=(server, size)) for size in sizes[1:]]
        for thread in rest:
            thread.start()
        for thread in rest:
            thread.join()
        took.append(time.monotonic() - began)


def files(task: dict[str, Any]) -> Work:
    """Sends as many bytes as each connection requests; to ``to`` with an initial window, if the task has one."""
    if window := task.get("initial_window"):
        address = socket.gethostbyname(task["to"])
        route = ["ip", "route", "replace", address, "dev", DEVICE, "initcwnd", str(window)]
        subprocess.run(route, check=True, capture_output=True, timeout=PATIENCE_S)
    here = _kernel_server(task, backlog=256)

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
    """Reads to the last byte: with an initial window of one segment Linux's FIN waits for an ACK of the data."""
    here = socket.create_connection((host, PORT), timeout=PATIENCE_S)
    here.sendall(octets.to_bytes(8, "big"))
    left = octets
    while left:
        piece = here.recv(min(left, 1 << 16))
        if not piece:
            raise ConnectionError("the server closed too early")
        left -= len(piece)
    threading.Thread(target=_hear_out, args=(here,), daemon=True).start()


def _hear_out(here: socket.socket) -> None:
    """Closes after the peer."""
    with contextlib.suppress(OSError), here:
        here.recv(1)


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


def exchange(task: dict[str, Any]) -> Work:
    """Sends and receives the same number of bytes at once on one connection; returns hashes of both streams.

    With ``to`` it opens the connection, otherwise it accepts one.
    """
    here = None if "to" in task else socket.create_server(("", PORT))
    yield
    if here is None:
        there = socket.create_connection((socket.gethostbyname(task["to"]), PORT))
    else:
        there, _ = here.accept()
    hashes: dict[str, str] = {}
    with there:
        sender = threading.Thread(target=_send_content, args=(there, task, hashes))
        sender.start()
        taken = hashlib.sha256()
        while piece := there.recv(1 << 18):
            taken.update(piece)
        sender.join()
    yield hashes | {"taken": taken.hexdigest()}


def _content(task: dict[str, Any]) -> Generator[bytes, None, None]:
    """Bytes that depend on their position: a block of a prime length, repeated."""
    block, left = random.Random(task["seed"]).randbytes(1_000_003), task["octets"]
    while left:
        yield block[: min(left, len(block))]
        left -= min(left, len(block))


def _send_content(there: socket.socket, task: dict[str, Any], hashes: dict[str, str]) -> None:
    sent = hashlib.sha256()
    for piece in _content(task):
        sent.update(piece)
        there.sendall(piece)
    there.shutdown(socket.SHUT_WR)
    hashes["sent"] = sent.hexdigest()


def our_exchange(task: dict[str, Any]) -> Work:
    """The same as ``exchange`` with our TCP, by ``netspurt host connect`` or ``listen``."""
    role = ["connect", socket.gethostbyname(task["to"])] if "to" in task else ["listen"]
    where = ["--device", "guest0"]
    where += [word for address in os.environ["NETSPURT_GUEST"].split() for word in ("--address", address)]
    words = [sys.executable, "-m", "netspurt", "host", *role, str(PORT), *where]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    host = None if "to" in task else begin()
    deadline = time.monotonic() + PATIENCE_S
    while host is not None and not Path("/sys/class/net/guest0").exists() and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    yield
    host = host or begin()
    sent, taken = hashlib.sha256(), hashlib.sha256()

    def feed(into: Any) -> None:
        with into:
            for piece in _content(task):
                sent.update(piece)
                into.write(piece)

    sender = threading.Thread(target=feed, args=(host.stdin,))
    sender.start()
    assert host.stdout is not None
    while piece := host.stdout.read1(1 << 18):  # type: ignore[attr-defined]
        taken.update(piece)
    sender.join()
    yield {"sent": sent.hexdigest(), "taken": taken.hexdigest(), "status": host.wait()}


def run(task: dict[str, Any]) -> Work:
    """Runs a command; returns its exit status, its standard error, and the time it took."""
    yield
    began = time.monotonic()
    done = subprocess.run(task["words"], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    yield {"status": done.returncode, "error": done.stderr, "seconds": seconds}


def rest(_task: dict[str, Any]) -> Work:
    """Does nothing; the kernel answers."""
    yield
    yield None


def _core() -> Any:
    sys.path.insert(0, str(Path(__file__).parents[2]))
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


PROGRAMS: dict[str, Callable[[dict[str, Any]], Work]] = {
    program.__name__: program
    for program in (receive, send, our_sink, our_source, our_http, http, fetch, pages, files, exchange)
} | {
    program.__name__: program
    for program in (our_exchange, run, rest, send_several, receive_several, ask, respond)
}


def _wait_for(pipe: Path) -> None:
    """Waits until the pipe is opened for writing. It sleeps, because hundreds of polling programs would use all CPU."""
    os.close(os.open(pipe, os.O_RDONLY))


def _say(pipe: Path) -> None:
    """Wakes all programs that wait for a pipe, now or later: a pipe opens for reading while it is open for writing."""
    os.open(pipe, os.O_RDWR)  # until this program ends


def _on_alarm(_signal: int, _frame: Any) -> None:
    raise TimeoutError("the other programs did not get ready in time")


def _leave(path: Path, content: Any) -> None:
    """Writes a temporary file and renames it, so that a reader sees the complete content."""
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(content), encoding="utf-8")
    beside.rename(path)


def _be_prompt() -> None:
    """Raises the priority over ordinary programs: otherwise late answers would measure the machine."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


class _LatenessMonitor:
    """One thread per processor wakes up every millisecond and records its lateness, with this program's priority.

    Whatever delays these threads also delays answers, and the run then measures the machine. The scheduler may move
    the threads between processors, as it may move programs: a thread bound to the emulator's processor would only
    measure that one.
    """

    def __init__(self) -> None:
        self.over = threading.Event()
        self.worst_s = 0.0
        self.threads = [threading.Thread(target=self._watch) for _ in os.sched_getaffinity(0)]
        for thread in self.threads:
            thread.start()

    def _watch(self) -> None:
        time.sleep(BEGINNING_S)
        while not self.over.is_set():
            wanted = time.monotonic() + SENTRY_S
            time.sleep(SENTRY_S)
            self.worst_s = max(self.worst_s, time.monotonic() - wanted)

    def stop(self) -> float:
        """Ends the threads; returns the largest lateness in seconds."""
        self.over.set()
        for thread in self.threads:
            thread.join()
        return self.worst_s


def _outcome(work: Work) -> Any:
    try:
        return next(work)
    except OSError as error:
        return {"failed": str(error)}


def main() -> None:
    """Runs the task of this host, from the folder on the command line."""
    folder, me = Path(sys.argv[1]), os.environ["NETSPURT_HOST"]
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if tasks[me].get("prompt"):
        _be_prompt()
    work = PROGRAMS[tasks[me]["program"]](tasks[me])
    leads = me == next(iter(tasks))
    next(work)
    _say(folder / f"{me}.ready")
    with socket.create_server(("127.0.0.1", HERE_PORT)):
        if leads:
            signal.signal(signal.SIGALRM, _on_alarm)
            signal.alarm(PATIENCE_S)
            for name in tasks:
                _wait_for(folder / f"{name}.ready")
            signal.alarm(0)
            lateness = _LatenessMonitor() if tasks[me].get("prompt") else None
            _say(folder / "go")
        _wait_for(folder / f"{tasks[me]['after']}.done" if "after" in tasks[me] else folder / "go")
        _leave(folder / f"{me}.done.json", _outcome(work))
        _say(folder / f"{me}.done")
        if leads:
            for name in tasks:
                _wait_for(folder / f"{name}.done")
            if lateness is not None:
                _leave(folder / "machine.json", {"late_s": lateness.stop()})
            _say(folder / "over")
        # Servers and our hosts must continue, if only to acknowledge.
        _wait_for(folder / "over")
    work.close()


if __name__ == "__main__":
    main()
