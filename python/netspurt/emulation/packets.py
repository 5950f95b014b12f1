"""The TCP segments of a capture one by one, with relative sequence numbers.

Lives here: the conversion of raw IPv4 packets, as netspurt captures them, to plain values.
Must not live here: the pcapng format (the native module reads it), captures of other tools
(``netspurt.analysis.capture`` reads them), analysis.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from netspurt import _core

SYN, FIN, RST, ACK = 2, 1, 4, 16
SACK = 5


class Segment(NamedTuple):
    """A segment; ``seq`` and ``ack`` are relative to the initial sequence numbers, ``at_s`` to the first packet."""

    at_s: float
    seq: int
    length: int
    flags: int
    ack: int
    sacks: tuple[tuple[int, int], ...]
    window: int


@dataclass(frozen=True)
class Conversation:
    """The segments of a connection of two hosts: those of the client, and those of the server."""

    sent: tuple[Segment, ...]
    answered: tuple[Segment, ...]

    @property
    def seconds(self) -> float:
        """Time from the first SYN to the ACK of the last byte of the client."""
        last = max(segment.seq + segment.length for segment in self.sent)
        over = next((answer.at_s for answer in self.answered if answer.ack >= last), float("nan"))
        return over - self.sent[0].at_s

    @property
    def resent(self) -> int:
        """Data segments that start below the highest byte sent before them."""
        return count_resent((segment.seq, segment.length) for segment in self.sent if segment.length)


def count_resent(data: Iterable[tuple[int, int]]) -> int:
    """How many data segments start below the highest byte sent before them, of first bytes and lengths in order."""
    furthest, count = 0, 0
    for seq, length in data:
        count += seq < furthest
        furthest = max(furthest, seq + length)
    return count


def conversations(path: Path, since_ns: int | None = None) -> dict[tuple[str, str], Conversation]:
    """All connections of a capture, by the addresses of client and server; the last one of each pair.

    Times are those since ``since_ns``, nanoseconds since 1970; by default since the first packet.
    """
    found: dict[tuple[str, str], tuple[int, list[Segment], int, list[Segment]]] = {}
    for at_s, packet in packets(path, since_ns):
        if packet[0] >> 4 != 4 or packet[9] != 6:
            continue
        source, target = (".".join(map(str, packet[place : place + 4])) for place in (12, 16))
        tcp = packet[(packet[0] & 15) * 4 :]
        seq, ack = struct.unpack_from(">II", tcp, 4)
        flags = tcp[13]
        if flags & (SYN | ACK) == SYN and (source, target) not in found:
            found[source, target] = (seq, [], 0, [])
        if (source, target) in found:
            first, sent, other, _ = found[source, target]
            sent.append(_segment(at_s, packet, tcp, (seq - first, ack - other)))
        elif (target, source) in found:
            first, sent, other, answered = found[target, source]
            if flags & SYN:
                other = seq
                found[target, source] = (first, sent, other, answered)
            answered.append(_segment(at_s, packet, tcp, (seq - other, ack - first)))
    return {
        ends: Conversation(tuple(sent), tuple(answered)) for ends, (_, sent, _, answered) in found.items()
    }


def _segment(at_s: float, packet: bytes, tcp: bytes, numbers: tuple[int, int]) -> Segment:
    header = (tcp[12] >> 4) * 4
    seq, ack = (number % (1 << 32) for number in numbers)
    length = int.from_bytes(packet[2:4], "big") - (packet[0] & 15) * 4 - header
    ack = ack if tcp[13] & ACK else 0
    base = int.from_bytes(tcp[8:12], "big") - ack
    return Segment(
        at_s, seq, length, tcp[13], ack, _sacks(tcp[20:header], base), int.from_bytes(tcp[14:16], "big")
    )


def _sacks(options: bytes, base: int) -> tuple[tuple[int, int], ...]:
    """The blocks of a SACK option, relative like ACKs."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1]
        if options[at] == SACK:
            edges = struct.unpack(f">{(length - 2) // 4}I", options[at + 2 : at + length])
            edges = tuple((edge - base) % (1 << 32) for edge in edges)
            return tuple(zip(edges[::2], edges[1::2], strict=True))
        at += length
    return ()


def first_ns(path: Path) -> int:
    """The time of the first packet of a pcapng file, in nanoseconds since 1970."""
    return next(at_ns for at_ns, *_ in _core.Packets().feed(path.read_bytes()))


def packets(path: Path, since_ns: int | None = None) -> Iterator[tuple[float, bytes]]:
    """Times in seconds, and packets, of a pcapng file; it may be truncated. ``since_ns`` as in ``conversations``."""
    began = since_ns
    for at_ns, _, _, packet in _core.Packets().feed(path.read_bytes()):
        began = at_ns if began is None else began
        yield (at_ns - began) / 1e9, packet
