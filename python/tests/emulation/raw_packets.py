"""Packets that a program makes by itself, for tests of a host, and the memory of the host."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

from host_script import HOST


def checksum(data: bytes) -> int:
    """RFC 1071's."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def packet(
    source: str, port: int, to: int, seq: int, ack: int, flags: int, window: int, rest: tuple[bytes, bytes]
) -> bytes:
    """An IPv4 packet to a port of the host; ``rest`` are options, a multiple of four octets, and text."""
    options, text = rest
    ends = socket.inet_aton(source) + socket.inet_aton(HOST)
    words = struct.pack(">HHIIBBHHH", port, to, seq, ack, (20 + len(options)) << 2, flags, window, 0, 0)
    tcp = words + options + text
    total = checksum(ends + struct.pack(">HH", socket.IPPROTO_TCP, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack(">H", total) + tcp[18:]
    # The kernel fills in what is zero.
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, socket.IPPROTO_TCP, 0) + ends + tcp


def resident_kb(process: int) -> int:
    """Memory of a process."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])
