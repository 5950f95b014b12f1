"""What passes a network device, with the kernel's times.

The kernel copies the headers of each packet into a ring. A socket without a ring would hold the packet itself, and
TCP joins no data with a packet that somebody else holds (`skb_cloned()` in `skb_try_coalesce()`).
"""

from __future__ import annotations

import mmap
import socket
import struct
from collections.abc import Iterator

ETH_P_ALL, PACKET_OUTGOING = 0x0003, 4
SOL_PACKET, PACKET_RX_RING, PACKET_VERSION, TPACKET_V2 = 263, 5, 10, 1
TP_STATUS_KERNEL, TP_STATUS_USER = 0, 1
FRAME, BLOCK, BLOCKS = 256, 1 << 16, 256
"""Sizes of the ring. A frame holds the headers of a packet; the rest is cut off."""
TYPE_AT = 32 + 10
"""Where the direction stands: `sll_pkttype` behind `struct tpacket2_hdr`."""


class Capture:
    """The packets of a device, in both directions."""

    def __init__(self, device: str) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.frames = BLOCKS * BLOCK // FRAME
        self.socket.setsockopt(
            SOL_PACKET, PACKET_RX_RING, struct.pack("IIII", BLOCK, BLOCKS, FRAME, self.frames)
        )
        self.ring = mmap.mmap(self.socket.fileno(), BLOCKS * BLOCK)
        self.next = 0
        self.socket.bind((device, ETH_P_ALL))

    def read(self) -> Iterator[tuple[int, bool, bytes]]:
        """The packets since the last call: the time in nanoseconds, whether it leaves, and its first bytes."""
        while True:
            at = self.next * FRAME
            status, _, length, _, network, seconds, nanoseconds = struct.unpack_from("IIIHHII", self.ring, at)
            if not status & TP_STATUS_USER:
                return
            packet = self.ring[at + network : at + network + length]
            leaves = self.ring[at + TYPE_AT] == PACKET_OUTGOING
            struct.pack_into("I", self.ring, at, TP_STATUS_KERNEL)
            self.next = (self.next + 1) % self.frames
            yield seconds * 1_000_000_000 + nanoseconds, leaves, packet
