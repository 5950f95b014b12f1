"""What our TCP and the kernel's agree on: ``unshare -rn python negotiation_script.py CASES.json``; JSON comes out.

Each case sets the kernel and our host, has one of them open two connections, over each of which one side sends, and
tells what the kernel knows of them (``struct tcp_info``) and what our host counted.

Exit status 77: there is no TUN device to be had; standard error says why.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from netspurt import _core

OURS, KERNELS, PORT = "10.99.0.2", "10.99.0.1", 7000
OCTETS = 400_000
BLOCK = bytes(n * n % 251 for n in range(OCTETS))
TIME_LIMIT_S = 20.0
OPTIONS = {1: "timestamps", 2: "sack", 4: "scale", 8: "ecn", 16: "ecn seen"}
"""Bits of ``tcpi_options``."""


def info(stream: socket.socket) -> dict[str, Any]:
    """What the kernel agreed on, and how large segments are."""
    raw = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    sent, received = struct.unpack_from("II", raw, 16)
    return {
        "options": sorted(name for bit, name in OPTIONS.items() if raw[5] & bit),
        "segment_sent": sent,
        "segment_received": received,
        "maximum": stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG),
    }


def sysctl(name: str, value: str) -> str:
    """Sets one of the kernel's; what it was."""
    path = Path("/proc/sys/net/ipv4") / name
    before = path.read_text(encoding="ascii").strip()
    path.write_text(value, encoding="ascii")
    return before


def carry(case: dict[str, Any], way: str) -> dict[str, Any]:
    """One connection: the kernel sends or takes."""
    role: dict[str, Any] = {"kind": "sink" if way == "kernel sends" else "source", "port": PORT}
    if role["kind"] == "source":
        role["bytes"] = OCTETS
    listener = None
    if case["opens"] == "we":
        listener = socket.create_server((KERNELS, PORT))
        listener.settimeout(TIME_LIMIT_S)
        role |= {"remote": KERNELS, "connections": 1}
    tcp = [("profile", json.dumps(case.get("profile", "linux")))]
    tcp += [(key, value) for key, value in case.get("tcp", {}).items()]
    with contextlib.ExitStack() as stack:
        # The device outlives hosts here, and so do the kernel's address and routes.
        host = _core.Host.start(
            "wire", [f"{OURS}/24"], role, tcp=tcp, mtu=case.get("mtu", 1500), offload="segments"
        )
        stack.callback(host.stop)
        if listener is not None:
            stack.enter_context(listener)
            stream, _ = listener.accept()
        else:
            stream = socket.create_connection((OURS, PORT), timeout=TIME_LIMIT_S)
        stack.enter_context(stream)
        stream.settimeout(TIME_LIMIT_S)
        if way == "kernel sends":
            stream.sendall(BLOCK)
            told = info(stream)
            stream.shutdown(socket.SHUT_WR)
            if stream.recv(1):
                raise ValueError("a sink sends nothing")
        else:
            taken = b""
            while piece := stream.recv(1 << 16):
                taken += piece
            told = info(stream)
            told["taken"] = len(taken)
        stream.close()
        closed = None
        deadline = time.monotonic() + TIME_LIMIT_S
        while closed is None and time.monotonic() < deadline:
            host.wait(0.05)
            closed = next((news for news in host.take_news() if news["event"] == "closed"), None)
        return told | {"closed": closed}


def command(*words: str) -> None:
    """Runs one of iproute2's."""
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=10)


def main() -> int:
    """All cases."""
    try:
        command("link", "set", "lo", "up")
        command("tuntap", "add", "mode", "tun", "vnet_hdr", "name", "wire")
    except (OSError, subprocess.CalledProcessError) as error:
        print(getattr(error, "stderr", "") or error, file=sys.stderr)
        return 77
    command("link", "set", "wire", "up")
    command("address", "add", f"{KERNELS}/24", "dev", "wire")
    found = []
    for case in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        before = {name: sysctl(name, value) for name, value in case.get("kernel", {}).items()}
        command("link", "set", "wire", "mtu", str(case.get("mtu", 1500)))
        command("route", "replace", OURS, "dev", "wire", *case.get("route", []))
        found.append({way: carry(case, way) for way in ("kernel sends", "we send")})
        for name, value in before.items():
            sysctl(name, value)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
