"""The kernel's side: many scripts at once through one TUN device, in the network namespace of this process."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .capture import Capture
from .ours import RECEIVE_BUFFER, Played
from .packets import Numbers
from .scripts import MS, Arrival, Call, Event, Script, remote_of
from .tcp_info import LENGTH

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
SYSCTLS = {
    "tcp_no_metrics_save": "1",
    "tcp_syncookies": "0",
    "tcp_max_syn_backlog": "65536",
    "tcp_rmem": f"4096 131072 {RECEIVE_BUFFER}",
    "tcp_wmem": "4096 16384 4194304",
}
FIRST_PORT = 10_000
RESPONSE_NS = 200_000
"""A segment that leaves later than this after an event was caused by a timer."""
QUICK_RESPONSE_NS = 60_000
"""The same where the machine is not busy: most answers leave sooner."""
BURST_NS = 20_000
"""The pacing timer may have caused a segment that leaves later than this after the one before it."""


class NotPermittedError(Exception):
    """What this needs is not permitted here."""


@dataclass
class Run:
    """A script that is being played."""

    script: Script
    numbers: Numbers
    start: int
    next: int = 0
    listener: socket.socket | None = None
    connection: socket.socket | None = None
    played: Played = field(default_factory=Played)
    arrivals: list[int] = field(default_factory=list)
    happened: list[tuple[int, Event | None]] = field(default_factory=list)
    late: int = 0
    arrived: int = 0
    end: int = 0


class Kernel:
    """The kernel in a namespace of its own, with a TUN device."""

    def __init__(self, samples: bool = False) -> None:
        """`samples`: whether TCP_INFO is recorded before and after each event."""
        self.samples = samples
        try:
            self.device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            request = struct.pack("16sH22x", b"tested", IFF_TUN | IFF_NO_PI)
            fcntl.ioctl(self.device, TUNSETIFF, request)
            for words in (
                "link set lo up",
                "address add 10.9.0.1/32 dev tested",
                "link set tested txqueuelen 10000 gso_max_segs 1",
                "link set tested up",
                "route add 10.0.0.0/8 dev tested src 10.9.0.1",
            ):
                subprocess.run(["ip", *words.split()], check=True, timeout=10, capture_output=True)
            for name, value in SYSCTLS.items():
                Path("/proc/sys/net/ipv4", name).write_text(value)
            self.capture = Capture("tested")
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotPermittedError(str(error)) from error
        self.runs: dict[bytes, Run] = {}
        self.number = 0
        self.poll = select.poll()
        self.poll.register(self.device, select.POLLIN)

    def play(self, scripts: list[Script], at_once: int) -> list[Run]:
        """Plays all scripts, at most so many at once."""
        waiting = list(reversed(scripts))
        agenda: list[tuple[int, int, Run]] = []
        done: list[Run] = []
        free = list(range(at_once))
        slots: dict[int, int] = {}
        while waiting or agenda:
            while waiting and free:
                slot = free.pop()
                run = self._begin(waiting.pop(), slot)
                slots[id(run)] = slot
                heapq.heappush(agenda, (run.start + run.script.events[0].at, id(run), run))
            due, _, run = agenda[0]
            wait = due - time.time_ns()
            if wait > 0:
                self._drain(min(wait, 5_000_000))
                continue
            heapq.heappop(agenda)
            if self._step(run):
                following = (
                    run.script.events[run.next].at if run.next < len(run.script.events) else run.script.end
                )
                heapq.heappush(agenda, (run.start + following, id(run), run))
            else:
                done.append(run)
                free.append(slots.pop(id(run)))
        return done

    def _begin(self, script: Script, slot: int) -> Run:
        self.number += 1
        remote = remote_of(self.number)
        numbers = Numbers(remote, 5000, FIRST_PORT + slot, script.peer_first)
        # Scripts that begin together would have all their events at the same times.
        run = Run(script, numbers, time.time_ns() + self.number * 7919 % 20_000 * 1000)
        self.runs[remote] = run
        return run

    def _step(self, run: Run) -> bool:
        """Plays the next event of a script; `False` at its end."""
        self._sample(run)
        now = time.time_ns()
        if run.next == len(run.script.events):
            run.late = max(run.late, now - run.start - run.script.end)
            self._end(run, now)
            return False
        event = run.script.events[run.next]
        run.late = max(run.late, now - run.start - event.at)
        run.next += 1
        if isinstance(event, Arrival):
            run.arrivals.append(run.next - 1)
            try:
                os.write(self.device, run.numbers.encode(event.segment) + bytes(event.segment.length))
            except OSError as error:
                raise RuntimeError(f"writing to the device: {error}") from error
        else:
            run.happened.append((now - run.start, event))
            run.played.results.append((event.name, self._call(run, event)))
        self._drain(0)
        self._sample(run)
        return True

    def _sample(self, run: Run) -> None:
        if self.samples and run.connection is not None:
            info = run.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LENGTH)
            run.played.infos.append((time.time_ns() - run.start, info))

    def _call(self, run: Run, call: Call) -> int:
        try:
            return self._socket_call(run, call)
        except OSError as error:
            return -(error.errno or 0)

    def _socket_call(self, run: Run, call: Call) -> int:
        numbers = run.numbers
        match call.name, call.arguments, run.connection or run.listener:
            case "socket", (), _:
                made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                made.setblocking(False)
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, run.script.algorithm.encode())
                run.listener = made
            case "listen", _, socket.socket() as listener:
                listener.bind(("10.9.0.1", numbers.local_port))
                listener.listen(8)
            case "connect", _, socket.socket() as connection:
                run.listener, run.connection = None, connection
                connection.bind(("10.9.0.1", numbers.local_port))
                connection.connect((socket.inet_ntoa(numbers.remote), numbers.remote_port))
            case "accept", (), _ if run.listener is not None:
                run.connection, _ = run.listener.accept()
                run.connection.setblocking(False)
            case "option", (level, name, value), socket.socket() as any_socket:
                any_socket.setsockopt(level, name, value)
            case "write", (length, flags), socket.socket() if run.connection is not None:
                return run.connection.send(bytes(length), flags)
            case "read", (length,), socket.socket() if run.connection is not None:
                return len(run.connection.recv(length))
            case "shutdown", (how,), socket.socket() if run.connection is not None:
                run.connection.shutdown(how)
            case "close", (), socket.socket() if run.connection is not None:
                closing, run.connection = run.connection, None
                os.close(closing.detach())
            case _:
                raise OSError(errno.EBADF, call.name)
        return 0

    def _end(self, run: Run, now: int) -> None:
        self._drain(0)
        if run.connection is not None:
            run.played.info = run.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LENGTH)
        del self.runs[run.numbers.remote]
        for one in (run.connection, run.listener):
            if one is not None:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.close()
        run.end = now - run.start

    def _drain(self, wait_ns: int) -> None:
        """Reads what has been captured; waits if there is nothing."""
        if wait_ns:
            self.poll.poll(wait_ns / 1e6)
        try:
            while True:
                os.read(self.device, 65536)
        except BlockingIOError:
            pass
        for captured in self.capture.read():
            self._captured(*captured)

    def _captured(self, clock: int, outgoing: bool, packet: bytes) -> None:
        run = self.runs.get(packet[16:20] if outgoing else packet[12:16])
        if run is None or packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
            return
        at = clock - run.start
        if outgoing:
            run.played.sent.append(run.numbers.decode(at, packet))
            run.happened.append((at, None))
        else:
            run.happened.append((at, run.script.events[run.arrivals[run.arrived]]))
            run.arrived += 1


def happened(run: Run, response_ns: int = RESPONSE_NS) -> list[tuple[int, Event | int]]:
    """What happened in the order of time. A number is an emission that was not an answer, of that segment.

    A segment that leaves later than `response_ns` after an event was caused by a timer.

    The pacing timer is precise, so it often expires while ACKs arrive. All segments of a pacing sender that are not
    of one burst count as emissions: one that is an answer has left on our side when it is reached. A bare ACK is the
    last answer to a segment (`tcp_ack_snd_check()`), so data behind it counts as one, too.
    """
    kept: list[tuple[int, Event | int]] = []
    last, left, sent = -response_ns, -BURST_NS, 0
    is_answered = False
    paces = run.script.algorithm == "bbr"
    for at, event in sorted(run.happened, key=lambda one: one[0]):
        if event is not None:
            last, is_answered = at, False
            kept.append((at, event))
            continue
        is_bare = run.played.sent[sent].segment.is_bare_ack
        sent += 1
        if at - last > response_ns or (paces and at - left > BURST_NS) or (is_answered and not is_bare):
            kept.append((at, sent))
        else:
            last, is_answered = at, is_bare
        left = at
    return kept


def stamp_phase(run: Run) -> int:
    """When within a millisecond of the script the kernel's timestamp clock advances, in nanoseconds.

    A segment with stamp S has left after the clock has reached S, and before it reaches S + 1, but for the time of
    the processing.
    """
    rests = [sent.at - sent.segment.stamp * MS for sent in run.played.sent if sent.segment.stamp is not None]
    return ((min(rests) + max(rests) - MS) // 2 if rests else 0) % MS


def enter_namespace() -> None:
    """Moves this process to a network namespace of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000):
        raise NotPermittedError(os.strerror(ctypes.get_errno()))
