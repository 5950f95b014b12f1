"""A client that permits its server each further piece of a response: ``limited_client.py HOST OCTETS``.

For each piece that it has read it sends one byte, as a protocol with its own window does.
"""

from __future__ import annotations

import socket
import sys

PIECE = 16_384


def main() -> None:
    host, octets = sys.argv[1], int(sys.argv[2])
    with socket.create_connection((host, 80)) as connected:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.sendall(f"GET /{octets} HTTP/1.1\r\n\r\n".encode())
        read = permitted = 0
        while read < octets and (some := connected.recv(PIECE)):
            read += len(some)
            # One write for each piece, or the kernel would join them.
            while permitted < read // PIECE:
                connected.sendall(b"+")
                permitted += 1


if __name__ == "__main__":
    main()
