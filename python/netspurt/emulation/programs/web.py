"""Programs of the kernel's TCP that serve and fetch files: by HTTP on one connection, or one connection a file.

Lives here: these programs. Must not live here: bulk transfers (``transfers``), our TCP (``ours``).
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from netspurt.emulation.programs.sockets import DEVICE, PORT, TIME_LIMIT_S, Work, kernel_server, kernel_socket


def http(task: dict[str, Any]) -> Work:
    """Answers any request with a header and a body of a given size, written to the kernel in given pieces."""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {task['octets']}\r\n\r\n".encode()
    writes = _writes(head + bytes(task["octets"]), task["pattern"])
    here = kernel_server(task, backlog=64)

    def serve(there: socket.socket) -> None:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(task["mode"] == "nodelay"))
        while _request(there):
            _answer(there, writes, corked=task["mode"] == "cork")

    _serve_each(here, serve)
    yield
    yield None


def _serve_each(here: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    """Accepts connections, and serves each in a thread of its own until it ends or fails."""

    def served(there: socket.socket) -> None:
        with contextlib.suppress(OSError), there:
            serve(there)

    def accept() -> None:
        while True:
            there, _ = here.accept()
            threading.Thread(target=served, args=(there,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _writes(response: bytes, pattern: list[int]) -> list[bytes]:
    """Splits a response into pieces of these lengths; the last length repeats."""
    writes, lengths = [], list(pattern)
    while response:
        length = lengths.pop(0) if len(lengths) > 1 else lengths[0]
        writes.append(response[:length])
        response = response[length:]
    return writes


def _request(there: socket.socket) -> bool:
    received = b""
    while not received.endswith(b"\r\n\r\n"):
        piece = there.recv(4096)
        if not piece:
            return False
        received += piece
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
    with kernel_socket(task) as here:
        here.settimeout(TIME_LIMIT_S)
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
        subprocess.run(route, check=True, capture_output=True, timeout=TIME_LIMIT_S)
    here = kernel_server(task, backlog=256)

    def serve(there: socket.socket) -> None:
        there.sendall(bytes(int.from_bytes(there.recv(8), "big")))

    _serve_each(here, serve)
    yield
    yield None


def _fetch_alone(host: str, octets: int) -> None:
    """Reads to the last byte: with an initial window of one segment Linux's FIN waits for an ACK of the data."""
    here = socket.create_connection((host, PORT), timeout=TIME_LIMIT_S)
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
    received = b""
    while (end := received.find(b"\r\n\r\n")) < 0:
        received += here.recv(1 << 16)
    lines = received[:end].lower().split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
    missing = length - (len(received) - end - 4)
    while missing > 0:
        piece = here.recv(1 << 16)
        if not piece:
            raise ConnectionError("the server closed too early")
        missing -= len(piece)


PROGRAMS = (http, fetch, pages, files)
"""The programs of this file."""
