"""Two kernels' TCPs with a bad path between them, captured: ``unshare -rn python kernel_pair.py OUT.pcap``.

The script's own namespace sends, a second one receives. Each has a TUN device, and what enters one leaves the other
after ``DELAY_S``, unless ``fate`` says otherwise. The capture is taken at the sender by a packet socket, with the
kernel's times. What the sending kernel counted goes to standard output as JSON.

Exit status 77: something that this needs is not permitted; standard error says what.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

DELAY_S = 0.02
SENDER, RECEIVER, PORT = "10.7.0.1", "10.7.0.2", 5001

TRANSFERS = (400_000, 2_500, 150_000, 40_000)
"""Octets of each connection, one after the other."""

DROPPED = {
    0: {12, 40, 41, 42, 90, 130, 131, 170, 210},
    1: {0, 1, 2, 3},
    2: {*range(20, 32), 40},
    3: {0, 1, 2, 9, 25, 26},
}
"""Of each connection, the packets with data or a FIN that never arrive: single ones, bursts, all there are."""

LATE = {0: {60, 110}, 2: {10}}
"""Those that three others overtake at least."""

ALL_PACKETS, ATTACH = 0x0003, 35  # ETH_P_ALL, SO_TIMESTAMPNS
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
CLONE_NEWNET = 0x40000000


def tun(name: str, address: str) -> int:
    """Makes a TUN device, gives it an address, and sets it up."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    for words in (f"address add {address}/24 dev {name}", f"link set {name} up"):
        subprocess.run(["ip", *words.split()], check=True, timeout=10)
    return fd


def receive(theirs: socket.socket) -> None:
    """The receiver: its device goes to the sender's process, which forwards; then it reads all that comes."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    device = tun("far", RECEIVER)
    listener = socket.create_server((RECEIVER, PORT))
    socket.send_fds(theirs, [b"."], [device])
    for _ in TRANSFERS:
        connection, _ = listener.accept()
        while connection.recv(1 << 16):
            pass
        connection.close()


class Forwarder:
    """Carries packets from each device to the other."""

    def __init__(self, near: int, far: int) -> None:
        self.near, self.far = near, far
        self.seen: Counter[int] = Counter()
        self.ports: dict[int, int] = {}
        self.waiting: list[tuple[float, int, int, bytes]] = []
        self.over = threading.Event()

    def fate(self, packet: bytes) -> float | None:
        """How much later than others a packet of the sender's arrives; None if never."""
        head = (packet[0] & 15) * 4
        data = len(packet) - head - (packet[head + 12] >> 4) * 4
        fin = packet[head + 13] & 1
        if packet[9] != socket.IPPROTO_TCP or data + fin <= 0:
            return 0.0
        port = int.from_bytes(packet[head : head + 2], "big")
        connection = self.ports.setdefault(port, len(self.ports))
        number = self.seen[connection]
        self.seen[connection] += 1
        if number in DROPPED.get(connection, ()):
            return None
        return 0.012 if number in LATE.get(connection, ()) else 0.0

    def run(self) -> None:
        order = 0
        while not self.over.is_set():
            due = self.waiting[0][0] - time.monotonic() if self.waiting else 0.05
            ready, _, _ = select.select([self.near, self.far], [], [], max(due, 0.0))
            for device in ready:
                packet = os.read(device, 1 << 16)
                if packet[0] >> 4 != 4:
                    continue
                extra = self.fate(packet) if device == self.near else 0.0
                if extra is not None:
                    order += 1
                    other = self.far if device == self.near else self.near
                    heapq.heappush(self.waiting, (time.monotonic() + DELAY_S + extra, order, other, packet))
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, device, packet = heapq.heappop(self.waiting)
                os.write(device, packet)


def capture(where: socket.socket, over: threading.Event, name: str) -> None:
    """Writes pcap with nanoseconds and raw IP."""
    with Path(name).open("wb") as file:
        file.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 16, 101))
        while True:
            if not select.select([where], [], [], 0.05)[0]:
                if over.is_set():
                    return
                continue
            packet, control, _, _ = where.recvmsg(1 << 16, 256)
            stamps = [data for level, kind, data in control if (level, kind) == (socket.SOL_SOCKET, ATTACH)]
            seconds, nanoseconds = struct.unpack("qq", stamps[0])
            file.write(struct.pack("=IIII", seconds, nanoseconds, len(packet), len(packet)) + packet)


def counters() -> dict[str, int]:
    """What the kernel of this namespace has counted, by the names of /proc/net/snmp and netstat."""
    found: dict[str, int] = {}
    for name in ("snmp", "netstat"):
        lines = Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            found |= {
                key: int(value) for key, value in zip(names.split()[1:], values.split()[1:], strict=True)
            }
    return found


def send(octets: int) -> int:
    """One transfer with CUBIC; how many segments the kernel says it sent again."""
    with socket.create_connection((RECEIVER, PORT)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        connection.sendall(bytes(octets))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        # struct tcp_info, tcpi_total_retrans.
        (again,) = struct.unpack_from(
            "I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 100
        )
        return int(again)


def main() -> None:
    signal.alarm(60)
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            receive(theirs)
        finally:
            os._exit(0)
    theirs.close()
    try:
        near = tun("near", SENDER)
        packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PACKETS))
        packets.setsockopt(socket.SOL_SOCKET, ATTACH, 1)
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        packets.bind(("near", ALL_PACKETS))
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        path = Forwarder(near, fds[0])
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        print(error, file=sys.stderr)
        os.kill(child, signal.SIGKILL)
        sys.exit(77)
    threads = [
        threading.Thread(target=path.run),
        threading.Thread(target=capture, args=(packets, path.over, sys.argv[1])),
    ]
    for thread in threads:
        thread.start()
    try:
        before = counters()
        again = [send(octets) for octets in TRANSFERS]
        time.sleep(0.2)
        after = counters()
    finally:
        path.over.set()
        for thread in threads:
            thread.join()
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    print(json.dumps({"again": again, "counters": changed}))
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
