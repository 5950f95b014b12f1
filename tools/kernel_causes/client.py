"""A client of a case: ``client.py FOLDER SETTINGS``, a program of its own.

It asks for responses on one connection. The measured client writes ``FOLDER/client.json``; one of the other traffic
asks without end.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MEASURED, OTHERS = 80, 81
"""Ports of the server."""

READ = 65_536
"""Bytes of a read, without other settings."""

WAIT_S = 10.0
"""For the server to listen, and to end."""

LIMIT_S = 60.0
"""For a whole case."""


def main() -> None:
    """Does what the settings say."""
    folder, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    wait_for(folder / "listening", WAIT_S)
    time.sleep(settings.get("after_s", 0.0))
    if settings.get("others"):
        # The emulator starts the measured client when the other programs listen.
        listening = socket.create_server(("", OTHERS))
        for _ in range(settings["others"]):
            threading.Thread(target=ask_for_ever, args=(settings,), daemon=True).start()
        # Then the kernel resets their connections.
        wait_for(folder / "server.json", LIMIT_S)
        return listening.close()
    report = measured(settings)
    (folder / "client.json").write_text(json.dumps(report), encoding="utf-8")
    return wait_for(folder / "server.json", WAIT_S)


def wait_for(file: Path, seconds: float) -> None:
    """Waits for a file of another program."""
    ends = time.monotonic() + seconds
    while not file.exists() and time.monotonic() < ends:
        time.sleep(0.01)


def connected(settings: Mapping[str, Any], port: int) -> socket.socket:
    """A connection to the server."""
    made = socket.socket()
    if "receive_buffer" in settings:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings["receive_buffer"])
    made.connect((settings["server"], port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def ask_for_ever(settings: Mapping[str, Any]) -> None:
    """A transfer of other traffic."""
    with connected(settings, OTHERS) as mine:
        mine.sendall((1 << 50).to_bytes(8, "big"))
        while mine.recv(READ):
            pass


def measured(settings: Mapping[str, Any]) -> dict[str, float]:
    """The measured transfer: its times in seconds."""
    began = time.monotonic()
    with connected(settings, MEASURED) as mine:
        opened = last = time.monotonic()
        longest = 0.0
        for _ in range(settings.get("exchanges", 1)):
            mine.sendall(settings["bytes"].to_bytes(8, "big"))
            left = settings["bytes"]
            while left > 0:
                read = len(mine.recv(min(settings.get("read", READ), left)))
                if read == 0:
                    raise ConnectionError("the server closed early")
                left -= read
                now = time.monotonic()
                longest, last = max(longest, now - last), now
                if "read_rate" in settings:
                    time.sleep(read / settings["read_rate"])
    return {"seconds": last - began, "connecting_s": opened - began, "longest_wait_s": longest}


if __name__ == "__main__":
    main()
