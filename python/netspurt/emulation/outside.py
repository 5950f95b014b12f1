"""The machine's own network as one end of an emulated path.

Lives here: a free block of addresses, name servers, forwarding and address translation (NAT), and the state of the
machine before. Must not live here: the emulation, or words for the terminal.

The emulator puts a device into the network namespace of this process. Packets of the shell leave it there with an
address of RFC 6598; the kernel forwards them and translates the address. A shell in a shell is the same again, in the
namespace of the outer shell, with the next free block.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netspurt.errors import RequestError

BLOCKS = 256
CAP_NET_ADMIN = 12

FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
ADDRESSES = Path("/proc/net/fib_trie")
RESOLVERS = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


@dataclass(frozen=True)
class Outside:
    """What the emulator needs from this machine's network.

    Attributes:
        node: the node of the scenario that stands for it.
        device: the device in this namespace.
        block: the number of the block of addresses.
        resolver: the content of ``/etc/resolv.conf`` in the shell.
        doubts: what does not work, one sentence each.
    """

    node: str
    device: str
    block: int
    resolver: str
    doubts: tuple[str, ...] = ()

    @property
    def network(self) -> str:
        """The addresses of the emulation."""
        return f"100.64.{self.block}.0/24"

    def for_emulator(self) -> tuple[str, str, int, str]:
        """The argument of the native module."""
        return self.node, self.device, self.block, self.resolver


@contextlib.contextmanager
def joined(node: str) -> Iterator[Outside]:
    """Prepares this machine's network, and puts it back afterwards.

    Raises:
        RequestError: no privilege, or no free addresses.
    """
    if not _is_admin():
        raise RequestError(
            "a path to this machine's own network needs root or the capability cap_net_admin: use sudo, or emulate a "
            "path between two hosts instead: netspurt emulate --rate 10mbit --delay 40ms -- bash"
        )
    block = _free_block()
    resolver, doubts = _name_servers()
    outside = Outside(node, f"nspath{block}", block, resolver)
    with contextlib.ExitStack() as undo:
        doubts += undo.enter_context(_forwarding())
        doubts += undo.enter_context(_translation(outside))
        yield Outside(node, outside.device, block, resolver, tuple(doubts))


def _is_admin() -> bool:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> CAP_NET_ADMIN & 1)


def _free_block() -> int:
    """A block of which this namespace has no address and no route; in a shell, one above that of the shell around."""
    taken = {int(number) for number in re.findall(r"\b100\.64\.(\d+)\.\d+", _read(ADDRESSES))}
    above = max(taken, default=-1) + 1
    order = [*range(above, BLOCKS), *range(above)]
    free: int | None = next((block for block in order if block not in taken), None)
    if free is None:
        raise RequestError("every block of addresses from 100.64.0.0/24 to 100.64.255.0/24 is in use here")
    return free


def _name_servers() -> tuple[str, list[str]]:
    """A ``resolv.conf`` whose servers a shell can reach: none of them on this machine's loopback."""
    servers: list[str] = []
    for file in RESOLVERS:
        lines = _read(file).splitlines()
        kept = [line for line in lines if not re.match(r"\s*nameserver\s+(127\.|::1|.*:)", line)]
        if any(line.split()[:1] == ["nameserver"] for line in kept):
            return "\n".join(kept) + "\n", []
        servers += [line for line in lines if line.split()[:1] == ["nameserver"]]
    if not servers:
        return "", []
    return "", [
        "names are not resolved in the shell: the name server of this machine listens on its loopback only"
    ]


@contextlib.contextmanager
def _forwarding() -> Iterator[list[str]]:
    """Lets the kernel forward packets; the setting is restored at the end."""
    before = _read(FORWARDING).strip()
    if before == "1":
        yield []
        return
    try:
        FORWARDING.write_text("1\n", encoding="ascii")
    except OSError:
        yield ["only this machine can be reached: the sysctl net.ipv4.ip_forward is 0 and cannot be set"]
        return
    try:
        yield []
    finally:
        with contextlib.suppress(OSError):
            FORWARDING.write_text(f"{before}\n", encoding="ascii")


@contextlib.contextmanager
def _translation(outside: Outside) -> Iterator[list[str]]:
    """Translates the addresses of the emulation where packets leave this namespace."""
    table = f"netspurt_{outside.device}"
    if (nft := _tool("nft")) is not None:
        rules = (
            f"table ip {table} {{\n chain postrouting {{\n  type nat hook postrouting priority 100;\n"
            f'  ip saddr {outside.network} oifname != "{outside.device}" masquerade\n }}\n}}\n'
        )
        add, remove = ([nft, "-f", "-"], rules), [nft, "delete", "table", "ip", table]
    elif (iptables := _tool("iptables")) is not None:
        rule = ["POSTROUTING", "-s", outside.network, "!", "-o", outside.device, "-j", "MASQUERADE"]
        add, remove = ([iptables, "-t", "nat", "-A", *rule], ""), [iptables, "-t", "nat", "-D", *rule]
    else:
        yield [
            "only this machine can be reached: install nft (nftables) or iptables for address translation (NAT)"
        ]
        return
    done = subprocess.run(add[0], input=add[1], capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        yield [f"only this machine can be reached: {Path(add[0][0]).name} cannot translate addresses ({why})"]
        return
    try:
        yield []
    finally:
        subprocess.run(remove, capture_output=True, check=False)


def _tool(name: str) -> str | None:
    """Administrators' tools are not in everybody's path."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
