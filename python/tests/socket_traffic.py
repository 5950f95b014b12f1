"""TCP connections on the loopback interface, with a known limit, for the tests of live sockets."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

INFO_LENGTH = 512
CLOCKS_AT = 168
"""The place of the three clocks in ``tcp_info``: busy, rwnd_limited, sndbuf_limited."""


def connected(send_buffer: int | None = None, host: str = "127.0.0.1") -> tuple[socket.socket, socket.socket]:
    """A client and the socket that a server has accepted."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        client = socket.socket(family)
        if send_buffer is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
    return client, accepted


def clocks(of: socket.socket) -> dict[str, float]:
    """The kernel's clocks of a socket in seconds, from ``getsockopt``."""
    info = of.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_LENGTH)
    names = ("busy", "rwnd_limited", "sndbuf_limited")
    return dict(zip(names, (us / 1e6 for us in struct.unpack_from("=3Q", info, CLOCKS_AT)), strict=True))


def write_always(client: socket.socket, _stop: threading.Event) -> None:
    """Writes as much as the socket takes."""
    client.send(bytes(65536))


def write_with_pauses(client: socket.socket, stop: threading.Event) -> None:
    """Writes a little twenty times a second."""
    client.send(bytes(2000))
    stop.wait(0.05)


def read_always(accepted: socket.socket, _stop: threading.Event) -> None:
    """Reads all that has arrived."""
    accepted.recv(1 << 20)


def read_slowly(accepted: socket.socket, stop: threading.Event) -> None:
    """Reads 2 MB a second at most."""
    accepted.recv(20_000)
    stop.wait(0.01)


Step = Callable[[socket.socket, threading.Event], None]


@contextlib.contextmanager
def transfer(
    write: Step, read: Step = read_always, send_buffer: int | None = None
) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection whose client writes and whose server reads, both in threads of their own."""
    client, accepted = connected(send_buffer)
    stop = threading.Event()

    def repeat(step: Step, end: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while not stop.is_set():
                step(end, stop)

    threads = [threading.Thread(target=repeat, args=each) for each in ((write, client), (read, accepted))]
    for thread in threads:
        thread.start()
    try:
        yield client, accepted
    finally:
        stop.set()
        for end in (client, accepted):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        client.close()
        accepted.close()


def place(of: socket.socket) -> str:
    """Its own end as the tables show it."""
    host, port = of.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
