"""Segments of a script, in numbers relative to the connection, and their bytes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
HERE = socket.inet_aton("10.9.0.1")
NOTHING = -1
"""An echo of no segment: zero."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment. `seq` counts from the sender's SYN, `ack` and `sack` from the receiver's.

    `stamp` is the sender's timestamp in milliseconds. A segment of the peer names in `echo` the index of the host's
    segment that it echoes; one of the host holds the peer's timestamp there.
    """

    flags: int
    seq: int
    ack: int
    window: int
    length: int = 0
    mss: int | None = None
    shift: int | None = None
    sack_permitted: bool = False
    sack: tuple[tuple[int, int], ...] = ()
    stamp: int | None = None
    echo: int = NOTHING
    ecn: int = 0

    @property
    def is_bare_ack(self) -> bool:
        """Whether it has only an acknowledgment."""
        return not self.length and not self.flags & (SYN | FIN | RST)

    def __str__(self) -> str:
        """As tcpdump prints it, with relative numbers."""
        names = "".join(
            name
            for bit, name in zip((SYN, FIN, RST, PSH, ECE, CWR, URG), "SFRPEWU", strict=True)
            if self.flags & bit
        )
        text = f"{names}{'.' if self.flags & ACK else ''} {self.seq}:{self.seq + self.length}({self.length})"
        text += f" ack {self.ack} win {self.window}" + (f" ecn {self.ecn}" if self.ecn else "")
        if self.mss is not None:
            text += f" mss {self.mss}"
        if self.shift is not None:
            text += f" wscale {self.shift}"
        text += " sackOK" if self.sack_permitted else ""
        text += f" TS {self.stamp}:{self.echo}" if self.stamp is not None else ""
        return text + "".join(f" sack {left}:{right}" for left, right in self.sack)


@dataclass(frozen=True, slots=True)
class Sent:
    """A segment of the tested host, and when it left: nanoseconds since the script began."""

    at: int
    segment: Segment


@dataclass(slots=True)
class Numbers:
    """What the relative numbers of a connection are relative to."""

    remote: bytes
    remote_port: int
    local_port: int
    peer_first: int
    host_first: int | None = None
    host_stamp: int | None = None
    stamps: list[int] = field(default_factory=list)

    def encode(self, segment: Segment) -> bytes:
        """The headers of a segment of the peer. The payload is zeros."""
        host = self.host_first or 0
        options = b""
        if segment.mss is not None:
            options += struct.pack("!BBH", 2, 4, segment.mss)
        if segment.sack_permitted:
            options += b"\x04\x02"
        if segment.stamp is not None:
            if len(options) % 4 == 0:
                options += b"\x01\x01"
            options += struct.pack("!BBII", 8, 10, segment.stamp & 0xFFFFFFFF, self._echo(segment.echo))
        if segment.shift is not None:
            options += struct.pack("!BBBB", 1, 3, 3, segment.shift)
        if segment.sack:
            edges = [(edge + host) & 0xFFFFFFFF for block in segment.sack for edge in block]
            options += struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
        options += b"\x00" * (-len(options) % 4)
        acked = (segment.ack + host) & 0xFFFFFFFF if segment.flags & ACK else 0
        header = struct.pack(
            "!HHIIBBHHH",
            self.remote_port,
            self.local_port,
            (segment.seq + self.peer_first) & 0xFFFFFFFF,
            acked,
            (20 + len(options)) << 2,
            segment.flags,
            segment.window,
            0,
            0,
        )
        tcp = header + options
        length = len(tcp) + segment.length
        pseudo = struct.pack("!4s4sBBH", self.remote, HERE, 0, 6, length)
        tcp = tcp[:16] + struct.pack("!H", _checksum(pseudo + tcp)) + tcp[18:]
        ip = struct.pack(
            "!BBHHHBBH4s4s", 0x45, segment.ecn, 20 + length, 0, 0x4000, 64, 6, 0, self.remote, HERE
        )
        return ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:] + tcp

    def _echo(self, index: int) -> int:
        if index == NOTHING or not self.stamps:
            return 0
        return self.stamps[min(index, len(self.stamps) - 1)]

    def decode(self, at: int, packet: bytes) -> Sent:
        """A segment of the tested host. Its SYN sets what the others are relative to."""
        length = struct.unpack_from("!H", packet, 2)[0]
        start = (packet[0] & 15) * 4
        _, _, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", packet, start)
        if flags & SYN:
            # A segment after the end may open another connection.
            self.host_first = seq
        size = (offset >> 4) * 4
        options = _options(packet[start + 20 : start + size])
        stamp = options.get(8)
        relative = None
        echo = NOTHING
        if stamp is not None:
            value, echo = struct.unpack("!II", stamp)
            if self.host_stamp is None:
                self.host_stamp = value
            relative = _signed(value - self.host_stamp)
        self.stamps.append(0 if stamp is None else struct.unpack("!I", stamp[:4])[0])
        blocks = options.get(5, b"")
        edges = [_signed(edge - self.peer_first) for edge in struct.unpack(f"!{len(blocks) // 4}I", blocks)]
        # A reset for a segment without ACK has no sequence number of the connection (RFC 9293, section 3.10.7.1).
        is_outside = bool(flags & RST) and seq == 0
        segment = Segment(
            flags=flags,
            seq=0 if is_outside else _signed(seq - (self.host_first or 0)),
            ack=_signed(ack - self.peer_first) if flags & ACK else 0,
            window=window,
            length=length - start - size,
            mss=struct.unpack("!H", options[2])[0] if 2 in options else None,
            shift=options[3][0] if 3 in options else None,
            sack_permitted=4 in options,
            sack=tuple(zip(edges[::2], edges[1::2], strict=True)),
            stamp=relative,
            echo=echo,
            ecn=packet[1] & 3,
        )
        return Sent(at, segment)


def _signed(difference: int) -> int:
    return ((difference + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def _options(data: bytes) -> dict[int, bytes]:
    found = {}
    at = 0
    while at < len(data) and data[at] != 0:
        if data[at] == 1:
            at += 1
            continue
        found[data[at]] = data[at + 2 : at + data[at + 1]]
        at += data[at + 1]
    return found


def _checksum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\x00"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def lines_of(sent: Sequence[Sent]) -> list[str]:
    """The segments as text, for messages."""
    return [f"{one.at / 1e6:10.3f} ms  {one.segment}" for one in sent]
