"""A web server that limits its own transfers: ``limited_server.py BEHAVIOUR``.

The path of each request is the number of bytes of the response.
"""

from __future__ import annotations

import socket
import sys
import threading
import time

PIECE = 16_384
WINDOW = 4 * PIECE
"""How much the behaviour ``credits`` sends before the client permits more."""

SO_MAX_PACING_RATE = 47
PACE = 350_000
"""The rate of the behaviour ``paced`` in bytes per second."""


def main() -> None:
    behaviour = sys.argv[1]
    with socket.create_server(("", 80), backlog=64) as listening:
        if behaviour == "small-buffer":
            # The kernel doubles it.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 12_000)
        while True:
            connected, _ = listening.accept()
            threading.Thread(target=serve, args=(connected, behaviour), daemon=True).start()


def serve(connected: socket.socket, behaviour: str) -> None:
    """Answers requests until the client closes."""
    with connected:
        if behaviour == "paced":
            connected.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, PACE)
        if behaviour != "two-writes":
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while request := head_of(connected):
            octets = int(request.split()[1].strip("/"))
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {octets}\r\n\r\n".encode()
            if behaviour == "late-close":
                # The client reads until the end. The response is acknowledged before the FIN is sent.
                connected.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + bytes(octets))
                time.sleep(0.1)
                return
            if behaviour == "slow-to-answer":
                time.sleep(1.2)
            if behaviour == "two-writes":
                connected.sendall(head)
                connected.sendall(bytes(octets))
                continue
            answer(connected, head + bytes(octets), behaviour)


def answer(connected: socket.socket, content: bytes, behaviour: str) -> None:
    """Sends it in pieces."""
    for first in range(0, len(content), PIECE):
        connected.sendall(content[first : first + PIECE])
        if behaviour == "slow-source":
            time.sleep(0.15)
        if behaviour == "credits" and WINDOW <= first + PIECE < len(content):
            # The client's program permits the next piece.
            connected.recv(1)


def head_of(connected: socket.socket) -> str:
    """A request without a body; empty when the client has closed."""
    head = b""
    while b"\r\n\r\n" not in head:
        try:
            more = connected.recv(PIECE)
        except OSError:
            return ""
        if not more:
            return ""
        head += more
    return head.decode()


if __name__ == "__main__":
    main()
