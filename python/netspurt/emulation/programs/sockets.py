"""Sockets of the kernel's TCP with the options of a task, and what all programs share.

Lives here: sockets, their port, reading a number of bytes. Must not live here: programs.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Generator
from typing import Any

Work = Generator[Any, None, None]
"""A program: its preparation, then ``yield``; the measured work, then ``yield`` of the outcome."""

PORT = 5001
DEVICE = "netspurt0"
"""The name of a host's interface."""
TIME_LIMIT_S = 60
"""Time limit in seconds for a peer, and for the other programs to get ready."""
SO_MAX_PACING_RATE = 47
"""asm-generic/socket.h."""
FAST = (1 << 32) - 2
"""Bytes per second that limit nothing; any rate makes the kernel pace."""


def kernel_socket(task: dict[str, Any]) -> socket.socket:
    """A socket with the options of the task."""
    return _controlled(socket.socket(socket.AF_INET, socket.SOCK_STREAM), task)


def kernel_server(task: dict[str, Any], backlog: int) -> socket.socket:
    """A listening socket on the programs' port with the options of the task."""
    # Accepted sockets inherit the options of the listening socket.
    return _controlled(socket.create_server(("", PORT), backlog=backlog), task)


def _controlled(here: socket.socket, task: dict[str, Any]) -> socket.socket:
    """Sets the options that the task names instead of the system's defaults."""
    if congestion := task.get("congestion"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    if task.get("nodelay"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if mss := task.get("mss"):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
    if buffer := task.get("send_buffer"):
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    if task.get("pacing"):
        here.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, FAST.to_bytes(4, sys.byteorder))
    if peer := task.get("quickack"):
        address = socket.gethostbyname(peer)
        route = ["ip", "route", "replace", address, "dev", DEVICE, "quickack", "1"]
        subprocess.run(route, check=True, capture_output=True, timeout=TIME_LIMIT_S)
    return here


def clamp(there: socket.socket, window: int | None) -> None:
    """Limits the window; Linux resets the clamp whenever it measures the segment size."""
    if window:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)


def read_bytes(there: socket.socket, length: int) -> bool:
    """Reads this many bytes; False if the peer has closed."""
    left = length
    while left:
        piece = there.recv(min(left, 1 << 18))
        if not piece:
            return False
        left -= len(piece)
    return True
