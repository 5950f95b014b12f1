"""Programs of the kernel's TCP that transfer bulk data, exchange it, or send requests and answers.

Lives here: these programs. Must not live here: programs that fetch files (``web``), our TCP (``ours``).
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import socket
import subprocess
import threading
import time
from collections.abc import Generator
from typing import Any

from netspurt.emulation.programs.sockets import (
    PORT,
    TIME_LIMIT_S,
    Work,
    clamp,
    kernel_server,
    kernel_socket,
    read_bytes,
)

PIECE = bytes(1 << 18)


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
    with kernel_socket(task) as here:
        here.connect((task["to"], PORT))
        left = task["octets"]
        while left:
            left -= here.send(PIECE[: min(left, len(PIECE))])
        here.shutdown(socket.SHUT_WR)
        here.recv(1)


def send_several(task: dict[str, Any]) -> Work:
    """Sends data on several connections, each from its start; returns the start, and the time of the last ACK."""
    yield
    began = time.monotonic()
    failed: list[Exception] = []

    def one(transfer: dict[str, Any]) -> None:
        try:
            time.sleep(max(began + transfer["start_s"] - time.monotonic(), 0.0))
            _transfer({**task, "octets": transfer["octets"]})
        except Exception as error:
            failed.append(error)

    senders = [threading.Thread(target=one, args=(transfer,)) for transfer in task["transfers"]]
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
    here = kernel_server(task, backlog=256)
    if window:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * window)

    def read(there: socket.socket) -> None:
        with contextlib.suppress(OSError), there:
            clamp(there, window)
            while there.recv(1 << 18):
                clamp(there, window)

    def accept() -> None:
        while True:
            there, _ = here.accept()
            threading.Thread(target=read, args=(there,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield
    yield None


def ask(task: dict[str, Any]) -> Work:
    """Sends requests, each in given writes, and reads the answers; returns the start and the end of them all."""
    yield
    request = [bytes(length) for length in task["request"]]
    began = time.monotonic()
    with kernel_socket(task) as here:
        here.settimeout(TIME_LIMIT_S)
        here.connect((task["to"], PORT))
        for number in range(task["exchanges"]):
            if number and task["gap_s"]:
                time.sleep(task["gap_s"])
            _write(here, request, task.get("write_gap_s", 0.0))
            if not read_bytes(here, task["response"]):
                raise ConnectionError("the server closed too early")
    yield {"began": began, "ended": time.monotonic()}


def respond(task: dict[str, Any]) -> Work:
    """Answers requests of a given length, each answer in given writes, until the peer closes."""
    response = [bytes(length) for length in task["response"]]
    here = kernel_server(task, backlog=64)
    yield
    there, _ = here.accept()
    with there:
        while read_bytes(there, task["request"]):
            _write(there, response, task.get("write_gap_s", 0.0))
    yield None


def _write(there: socket.socket, pieces: list[bytes], gap_s: float) -> None:
    """Writes the pieces at even intervals, or later if the socket has no room."""
    began = time.monotonic()
    for number, piece in enumerate(pieces):
        if number and gap_s:
            time.sleep(max(began + number * gap_s - time.monotonic(), 0.0))
        there.sendall(piece)


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


def content(task: dict[str, Any]) -> Generator[bytes, None, None]:
    """Bytes that depend on their position: a block of a prime length, repeated."""
    block, left = random.Random(task["seed"]).randbytes(1_000_003), task["octets"]
    while left:
        yield block[: min(left, len(block))]
        left -= min(left, len(block))


def _send_content(there: socket.socket, task: dict[str, Any], hashes: dict[str, str]) -> None:
    sent = hashlib.sha256()
    for piece in content(task):
        sent.update(piece)
        there.sendall(piece)
    there.shutdown(socket.SHUT_WR)
    hashes["sent"] = sent.hexdigest()


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


PROGRAMS = (receive, send, send_several, receive_several, ask, respond, exchange, run, rest)
"""The programs of this file."""
