"""Sends a host hostile segments as fast as Python can: ``unshare -rn python hostile_flood.py SECONDS``; JSON comes out.

Segments come from addresses that nobody has: floods of SYNs; wild sequence numbers, flags and options on connections
that were opened properly; overlapping text, windows of nothing, garbage. Afterwards an honest peer must be served.

Exit status 77: something that this needs is not permitted; standard error says what.
"""

from __future__ import annotations

import json
import random
import select
import signal
import socket
import subprocess
import sys
import time

from host_script import HOST, connect, start
from raw_packets import packet, resident_kb

PORT = 9
PEERS = 40
"""Connections that are opened properly, as far as the host lets them live."""

SAMPLES = 8


class Flood:
    """What is sent, drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.heard = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self.heard.bind(("netspurt0", 0x0800))
        self.open: dict[tuple[str, int], tuple[int, int]] = {}

    def send(self, what: bytes) -> None:
        """One packet; a queue that is full is no error."""
        try:
            self.out.sendto(what, (HOST, 0))
        except (BlockingIOError, OSError):
            time.sleep(0.0001)

    def handshake(self) -> None:
        """Opens a connection in somebody's name."""
        who = (f"10.98.0.{self.draw.randrange(1, 255)}", self.draw.randrange(1024, 65535))
        self.send(packet(*who, PORT, 1000, 0, 2, 65535, (b"\x02\x04\x05\xb4\x03\x03\x07\x00", b"")))
        until = time.monotonic() + 0.2
        while time.monotonic() < until and select.select([self.heard], [], [], 0.02)[0]:
            said = self.heard.recv(4096)
            if said[9] == 6 and said[16:20] == socket.inet_aton(who[0]) and said[33] & 18 == 18:
                theirs = (int.from_bytes(said[24:28], "big") + 1) % (1 << 32)
                self.open[who] = (1001, theirs)
                self.send(packet(*who, PORT, 1001, theirs, 16, 65535, (b"", b"")))
                return

    def wild(self) -> bytes:
        """A segment that nobody decent sends."""
        draw = self.draw
        kind = draw.randrange(4)
        if kind == 0 or not self.open:
            source = f"10.98.{draw.randrange(256)}.{draw.randrange(256)}"
            return packet(
                source, draw.randrange(1024, 65535), PORT, draw.getrandbits(32), 0, 2, 1000, (b"", b"")
            )
        who = draw.choice(list(self.open))
        seq, ack = self.open[who]
        shift = draw.choice((0, 1, draw.randrange(1 << 17), -draw.randrange(1 << 17), draw.getrandbits(32)))
        moved = draw.choice((0, draw.randrange(1 << 17), draw.getrandbits(32)))
        options = draw.randbytes(4 * draw.randrange(11)) if kind == 1 else b""
        # A reset, or a SYN, would end it too soon.
        flags = 16 | draw.getrandbits(8) & ~6
        text = bytes(draw.randrange(1400))
        sent = packet(
            *who,
            PORT,
            (seq + shift) % (1 << 32),
            (ack + moved) % (1 << 32),
            flags,
            draw.choice((0, 1, 65535)),
            (options, text),
        )
        if kind == 2:
            at = draw.randrange(20, len(sent))
            sent = sent[:at] + draw.randbytes(1) + sent[at + 1 :]
        return sent


def main() -> int:
    seconds = float(sys.argv[1])
    for words in ("link set lo up", "tuntap add mode tun name trial", "tuntap del mode tun name trial"):
        tried = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
        if tried.returncode:
            print(tried.stderr.strip(), file=sys.stderr)
            return 77
    host = start("sink", str(PORT), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    connect(PORT).close()
    flood = Flood(1)
    began, sent, memory = time.monotonic(), 0, []
    # A set of packets made beforehand, renewed now and then: most of the time is for sending.
    while (passed := time.monotonic() - began) < seconds:
        for _ in range(5):
            if len(flood.open) < PEERS:
                flood.handshake()
        some = [flood.wild() for _ in range(1500)]
        for _ in range(40):
            flood.draw.shuffle(some)
            for each in some:
                flood.send(each)
            sent += len(some)
        if passed >= len(memory) * seconds / SAMPLES:
            memory.append(resident_kb(host.pid))
    memory.append(resident_kb(host.pid))
    with connect(PORT) as honest:
        honest.sendall(bytes(1_000_000))
        honest.shutdown(socket.SHUT_WR)
        served = honest.recv(1) == b""
    alive = host.poll() is None
    host.send_signal(signal.SIGINT)
    _, said = host.communicate(timeout=20)
    found = {"sent": sent, "seconds": time.monotonic() - began, "memory_kb": memory, "served": served}
    print(json.dumps(found | {"alive": alive, "status": host.returncode, "said": said.decode()[-500:]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
