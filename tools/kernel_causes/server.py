"""The server of a case: ``server.py FOLDER SETTINGS``, a program of its own.

A request is eight bytes, the number of bytes of the response. Port 80 is measured: at its end, the clocks of the
kernel for that connection are in ``FOLDER/server.json``, and what dumpcap of Wireshark captured in
``FOLDER/sender-offload.pcapng``. Port 81 is for other traffic.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MEASURED, OTHERS = 80, 81

WRITTEN = 65_536
"""Bytes of a write, without other settings."""

CLOCKS = struct.Struct("<QQQ")
"""tcpi_busy_time, tcpi_rwnd_limited and tcpi_sndbuf_limited of ``struct tcp_info``, in microseconds."""

CLOCKS_AT, WINDOW_AT, REPEATED_AT, ACKNOWLEDGED_AT = 168, 76, 100, 120
"""Where these, tcpi_snd_ssthresh with tcpi_snd_cwnd behind it, tcpi_total_retrans and tcpi_bytes_acked are."""

INFO_LENGTH = 256

CAPTURE = ("dumpcap", "-q", "-i", "any", "-s", "128", "-w")
"""In the kernel of this host, above segmentation: frames may be longer than the MTU."""

BUFFERED_S = 0.6
"""dumpcap reads what the kernel has captured every 0.25 s, and not when it is terminated."""


def main() -> None:
    """Serves until it is ended."""
    folder, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    measured, others = listening(MEASURED, settings), listening(OTHERS, {})
    sharing: list[socket.socket] = []
    threading.Thread(target=serve_others, args=(others, sharing), daemon=True).start()
    capture = subprocess.Popen([*CAPTURE, str(folder / "sender-offload.pcapng")], stderr=subprocess.PIPE)
    assert capture.stderr is not None
    capture.stderr.readline()  # It captures from here on.
    (folder / "listening").touch()
    connected, _ = measured.accept()
    accepted, before = time.monotonic(), acknowledged(sharing)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(not settings.get("two_writes")))
    while length := asked(connected):
        answer(connected, length, settings)
    report = {
        "seconds": time.monotonic() - accepted,
        "others_bytes": acknowledged(sharing) - before,
        **clocks(connected),
    }
    connected.close()
    time.sleep(BUFFERED_S)
    capture.terminate()
    capture.wait()
    (folder / "server.json").write_text(json.dumps(report), encoding="utf-8")
    threading.Event().wait()


def listening(port: int, settings: Mapping[str, Any]) -> socket.socket:
    """A listening socket."""
    made = socket.create_server(("", port), backlog=64)
    if "send_buffer" in settings:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings["send_buffer"])
    return made


def serve_others(others: socket.socket, sharing: list[socket.socket]) -> None:
    """Answers the requests of other traffic, on connections that are added to ``sharing``."""

    def serve(connected: socket.socket) -> None:
        with contextlib.suppress(OSError):
            answer(connected, asked(connected), {})

    while True:
        connected, _ = others.accept()
        sharing.append(connected)
        threading.Thread(target=serve, args=(connected,), daemon=True).start()


def acknowledged(connections: Sequence[socket.socket]) -> int:
    """Bytes that were acknowledged on these connections."""
    infos = (each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_LENGTH) for each in connections)
    return sum(int(struct.unpack_from("<Q", info, ACKNOWLEDGED_AT)[0]) for info in infos)


def asked(connected: socket.socket) -> int:
    """The length that the next request asks for; 0 when the client has closed."""
    request = connected.recv(8, socket.MSG_WAITALL)
    return int.from_bytes(request, "big") if len(request) == 8 else 0


def answer(connected: socket.socket, length: int, settings: Mapping[str, Any]) -> None:
    """Sends a response as the settings say."""
    if settings.get("two_writes"):
        connected.sendall(bytes(100))
        return connected.sendall(bytes(length - 100))
    piece = settings.get("piece", WRITTEN)
    for first in range(0, length, piece):
        connected.sendall(bytes(min(piece, length - first)))
        if "pause_s" in settings:
            time.sleep(settings["pause_s"])
    return None


def clocks(connected: socket.socket) -> dict[str, float]:
    """What the kernel knows of a connection."""
    info = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_LENGTH)
    busy, held, buffer = (value / 1e6 for value in CLOCKS.unpack_from(info, CLOCKS_AT))
    threshold, window = struct.unpack_from("<II", info, WINDOW_AT)
    (repeated,) = struct.unpack_from("<I", info, REPEATED_AT)
    return {
        "busy_s": busy,
        "window_s": held,
        "buffer_s": buffer,
        "threshold": threshold,
        "congestion_window": window,
        "retransmitted": repeated,
    }


if __name__ == "__main__":
    main()
