"""What runs on the hosts of an emulated network in tests: small programs with ordinary sockets.

Lives here: programs, started by name with their arguments. Must not live here: what their results should be.
"""

from __future__ import annotations

import hashlib
import json
import random
import socket
import sys
import time

PORT = 5000


def echo() -> None:
    """Sends every datagram back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("", PORT))
        while True:
            here.sendto(*here.recvfrom(2048))


def ask(host: str, count: int) -> None:
    """Round-trip times of so many datagrams, in seconds."""
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.settimeout(2)
        for number in range(count):
            sent = time.perf_counter()
            here.sendto(str(number).encode(), (host, PORT))
            here.recv(2048)
            times.append(time.perf_counter() - sent)
    print(json.dumps(times))


def serve(octets: int, seed: int) -> None:
    """Sends octets to everybody who connects, and then those that came back, as a hash."""
    content = random.Random(seed).randbytes(octets)
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    with socket.create_server(("", PORT), family=family, dualstack_ipv6=both) as here:
        while True:
            there, _ = here.accept()
            with there:
                there.sendall(content)
                there.shutdown(socket.SHUT_WR)
                hashed = hashlib.sha256()
                while piece := there.recv(1 << 16):
                    hashed.update(piece)
                there.close()
                print(hashed.hexdigest(), flush=True)


def fetch(host: str, octets: int, seed: int) -> None:
    """Takes what is sent, sends octets of its own, and tells the hash of what came and for how long it did."""
    began = time.perf_counter()
    hashed, took = hashlib.sha256(), 0.0
    with socket.create_connection((host, PORT)) as here:
        while piece := here.recv(1 << 16):
            hashed.update(piece)
            took = time.perf_counter() - began
        here.sendall(random.Random(seed).randbytes(octets))
    print(json.dumps([hashed.hexdigest(), took]), flush=True)
    # The last octets are under way when the socket is closed; they end with the kernel, and the kernel with us.
    time.sleep(1 if octets else 0)


if __name__ == "__main__":
    program, *arguments = sys.argv[1:]
    globals()[program](*(int(word) if word.isdigit() else word for word in arguments))
