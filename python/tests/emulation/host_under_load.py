"""Serves honest clients while a host is under a load: ``unshare -rn python host_under_load.py FULL|SHORT [LOAD]``.

JSON comes out. For each load: how long honest clients waited for a file of 100 kB before and during it, whether all
were served, how many packets a second came to the host's device and how many of them it had no room for, and the host's
memory before, at most, and after it.

Exit status 77: something that this needs is not permitted; standard error says what.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from host_script import HOST, connect, start
from raw_packets import packet, resident_kb

PORT, DEVICE = 8080, "netspurt0"
FILE, LARGE = 100_000, 1_000_000
"""Bytes of the file of honest clients, and of the one of the load ``downloads``."""

APART_S = 0.02
"""Between two fetches of honest clients, which would be a load themselves."""

DIFFERENT = 40_000
"""Packets of a shower: of a flood, ten times the half-open connections that the host keeps."""

STEPS_BELOW = 10
"""By how much the priority of the load is lower: its programs would run elsewhere, and here must not take the processor
from the clients whose wait is measured."""

SYN_OPTIONS = b"\x02\x04\x05\xb4\x03\x03\x07\x00"


@dataclass(frozen=True)
class Size:
    """How heavy the loads are."""

    seconds: float
    settle: float
    """Seconds after a load until memory is compared: at full size longer than TIME-WAIT."""
    fetches: int
    slow: int
    idle: int
    downloads: int


SIZES = {"FULL": Size(30, 70, 200, 1000, 16_384, 5000), "SHORT": Size(1, 1, 10, 50, 300, 100)}

Load = Callable[[Size, Event], None]
"""Runs in a process of its own until the event is set; may end earlier."""


def fetch(name: str = "file", length: int = FILE) -> float:
    """Fetches a file as a client of the kernel; returns the seconds that it took."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(HOST, PORT, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", f"/{name}", headers={"Connection": "close"})
        answer = connection.getresponse()
        body = answer.read()
    if answer.status != 200 or len(body) != length:
        raise OSError(f"status {answer.status}, {len(body)} bytes")
    return time.monotonic() - began


def raw() -> socket.socket:
    """A socket for whole IPv4 packets."""
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)


def shower(make: Callable[[random.Random], bytes], stop: Event) -> None:
    """Sends packets as fast as Python can."""
    draw, out = random.Random(1), raw()
    some = [make(draw) for _ in range(DIFFERENT)]
    while not stop.is_set():
        for each in draw.sample(some, 500):
            with contextlib.suppress(OSError):
                out.sendto(each, (HOST, 0))


def syn_flood(_size: Size, stop: Event) -> None:
    """SYN segments from addresses that nobody has."""

    def make(draw: random.Random) -> bytes:
        source = f"10.98.{draw.randrange(256)}.{draw.randrange(1, 255)}"
        return packet(
            source, draw.randrange(1024, 65535), PORT, draw.getrandbits(32), 0, 2, 65535, (SYN_OPTIONS, b"")
        )

    shower(make, stop)


def blind(_size: Size, stop: Event) -> None:
    """Segments in the name of the honest clients' address: RST, SYN, ACK and data with guessed numbers."""

    def make(draw: random.Random) -> bytes:
        flags = draw.choice((2, 4, 16, 20, 24))
        text = bytes(1000 if flags == 24 else 0)
        numbers = (draw.getrandbits(32), draw.getrandbits(32))
        return packet("10.99.0.1", draw.randrange(32768, 61000), PORT, *numbers, flags, 1000, (b"", text))

    shower(make, stop)


def slowloris(size: Size, stop: Event) -> None:
    """Requests that never end: one byte of a header a second."""
    streams = []
    for _ in range(size.slow):
        stream = socket.create_connection((HOST, PORT), timeout=20)
        stream.sendall(b"GET /file HTTP/1.1\r\nX: ")
        streams.append(stream)
    while not stop.wait(1):
        for stream in streams:
            with contextlib.suppress(OSError):
                stream.sendall(b"x")
    for stream in streams:
        stream.close()


def idle(size: Size, stop: Event) -> None:
    """Connections that never say anything."""
    streams = []
    for number in range(size.idle):
        stream = socket.socket()
        stream.settimeout(20)
        # One address has too few ports.
        stream.bind((f"10.99.0.{1 if number % 2 else 3}", 0))
        with contextlib.suppress(OSError):
            stream.connect((HOST, PORT))
        streams.append(stream)
    stop.wait()
    for stream in streams:
        stream.close()


def downloads(size: Size, _stop: Event) -> None:
    """Many downloads, sixteen at once."""
    left = iter(range(size.downloads))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if next(left, None) is None:
                    return
            with contextlib.suppress(OSError):
                fetch("large", LARGE)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


LOADS: dict[str, Load] = {
    "SYN flood": syn_flood,
    "blind segments": blind,
    "slowloris": slowloris,
    "idle connections": idle,
    "downloads": downloads,
}


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A host that serves two files."""
    (folder / "file").write_bytes(bytes(FILE))
    (folder / "large").write_bytes(bytes(LARGE))
    words = ("http", str(PORT), "--root", str(folder))
    host = start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        connect(PORT).close()
        subprocess.run(["ip", "address", "add", "10.99.0.3/32", "dev", DEVICE], check=True)
        yield host
    finally:
        host.send_signal(signal.SIGINT)
        host.wait(20)


def apply(load: Load, size: Size, stop: Event) -> None:
    """A load, with a lower priority."""
    os.nice(STEPS_BELOW)
    load(size, stop)


def arrivals() -> tuple[int, int]:
    """Packets that came to the host's device so far, and those that found its queue full."""
    text = Path("/proc/self/net/dev").read_text(encoding="ascii")
    fields = next(line for line in text.splitlines() if line.strip().startswith(DEVICE)).split(":")[1].split()
    return int(fields[9]), int(fields[11])


def times(count: int) -> tuple[list[float], list[str]]:
    """How long so many fetches took, and why others failed."""
    took, failed = [], []
    for _ in range(count):
        try:
            took.append(fetch())
        except (OSError, http.client.HTTPException) as error:
            failed.append(str(error))
        time.sleep(APART_S)
    return took, failed


def under(load: Load, size: Size) -> dict[str, Any]:
    """Honest clients before and during a load, each with a host of its own."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as host:
        before, failed_before = times(size.fetches)
        memory = [resident_kb(host.pid)]
        stop = multiprocessing.Event()
        process = multiprocessing.Process(target=apply, args=(load, size, stop), daemon=True)
        process.start()
        arrived, dropped = arrivals()
        during: list[float] = []
        failed: list[str] = []
        began = time.monotonic()
        # At least a while; a load with an end of its own until then.
        while (time.monotonic() - began < size.seconds or load in (downloads, idle)) and process.is_alive():
            took, wrong = times(5)
            during += took
            failed += wrong
            memory.append(resident_kb(host.pid))
            if load is idle and time.monotonic() - began > 2 * size.seconds:
                break
        lasted = time.monotonic() - began
        rates = [(now - start) / lasted for now, start in zip(arrivals(), (arrived, dropped), strict=True)]
        stop.set()
        process.join(60)
        time.sleep(size.settle)
        after, failed_after = times(size.fetches)
        memory.append(resident_kb(host.pid))
        return {
            "before_s": quantiles(before),
            "during_s": quantiles(during),
            "after_s": quantiles(after),
            "served": len(during),
            "packets_per_second": {"arrived": rates[0], "dropped": rates[1]},
            "failed": failed_before + failed + failed_after,
            "memory_kb": {"before": memory[0], "most": max(memory), "after": memory[-1]},
            "alive": host.poll() is None,
        }


def quantiles(took: list[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    if len(took) < 2:
        return {"p50": float("nan"), "p95": float("nan")}
    return {"p50": statistics.median(took), "p95": statistics.quantiles(took, n=20)[-1]}


def main() -> int:
    """All loads, one after the other."""
    for words in ("link set lo up", "tuntap add mode tun name trial", "tuntap del mode tun name trial"):
        tried = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
        if tried.returncode:
            print(tried.stderr.strip(), file=sys.stderr)
            return 77
    size = SIZES[sys.argv[1]]
    wanted = sys.argv[2:] or list(LOADS)
    print(json.dumps({name: under(LOADS[name], size) for name in wanted}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
