"""A client on an emulated path: sends for some seconds while its socket is watched.

Arguments: port, bytes of the send buffer (0: as the kernel likes), congestion control. Prints the shares of the budget
and those of the kernel's clocks as JSON.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time

from socket_traffic import clocks

from netspurt.sockets.watching import Watching, budget

SECONDS = 3


def connect(port: int, send_buffer: int, congestion: str) -> socket.socket:
    """A connection to the other host, which may not listen yet."""
    for _ in range(100):
        client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        if send_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        with contextlib.suppress(OSError):
            client.connect(("space", port))
            return client
        client.close()
        time.sleep(0.1)
    raise SystemExit("no connection")


def main() -> None:
    """Sends and watches."""
    import polars as pl

    client = connect(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

    def write() -> None:
        with contextlib.suppress(OSError):
            while True:
                client.send(bytes(65536))

    threading.Thread(target=write, daemon=True).start()
    time.sleep(1)
    watching = Watching()
    begun, before = time.monotonic(), clocks(client)
    while time.monotonic() < begun + SECONDS:
        time.sleep(0.1)
        watching.poll()
    elapsed, after = time.monotonic() - begun, clocks(client)
    host, port = client.getsockname()[:2]
    row = watching.table().row(by_predicate=pl.col("local") == f"{host}:{port}", named=True)
    shares = {line["limit"]: line["share"] for line in budget(row)}
    print(json.dumps({"shares": shares, "kernel": {n: (after[n] - before[n]) / elapsed for n in before}}))
    client.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    main()
