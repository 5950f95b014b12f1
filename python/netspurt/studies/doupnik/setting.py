"""The document's hosts, runs and replies, shared by the parts of the study."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from netspurt.settings import Value
from netspurt.studies.experiment import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from netspurt import _core

SCENARIO = "exchange.toml"
"""The document's hosts on their hub."""

LAN = "lan.toml"
"""Two hosts of which only the policies matter."""

HEADERS = (60, 76)
"""Bytes of the server's first two writes: chosen to fit; the document says only that they are short."""

PIECE = 4096
"""Bytes of each later write (section 3)."""

ACK_SHARE = 0.5
"""The cost of a segment without data, as a share of one with data: half, an assumption that was not fitted."""

STALLED = 10.0
"""Requests per second below which an exchange waits for timers."""


@dataclass(frozen=True)
class Machine:
    """One of the four hosts: its system's profile, its clock, and how it passes a write to TCP."""

    name: str
    profile: str
    mhz: int
    handover: str
    policies: Mapping[str, str]


MACHINES = {
    machine.name: machine
    for machine in (
        Machine("UW7", "unixware7", 400, "clusters", {"Nagle on": "nagle-strict", "Nagle off": "nodelay"}),
        Machine(
            "FreeBSD",
            "freebsd3",
            233,
            "clusters",
            {"Nagle on": "nagle-strict", "Nagle off": "nodelay", "new policy": "doupnik"},
        ),
        Machine(
            "Linux",
            "linux22",
            350,
            "segments",
            {"Nagle on": "linux22", "Nagle off": "nodelay", "new policy": "doupnik"},
        ),
        Machine(
            "Solaris7",
            "solaris7",
            350,
            "whole",
            {"Nagle on": "nagle-liberal", "Nagle off": "nodelay", "new policy": "doupnik-liberal"},
        ),
    )
}


@dataclass(frozen=True)
class Reply:
    """A file with its headers. The document names files; the sizes follow from its two rates, with K = 1000."""

    name: str
    bytes: int


SMALL, LARGE = Reply("2.2KB", 2333), Reply("33KB", 32143)
REPLIES = (SMALL, LARGE)


@dataclass(frozen=True)
class Pairing:
    """A row of the table: client and server, the receive window, and the policy of the server."""

    client: str
    server: str
    window_kb: int
    mode: str

    @property
    def words(self) -> str:
        """The row as text for the reader."""
        return f"{self.client} {self.window_kb}KB ← {self.server}, {self.mode}"

    @property
    def policy(self) -> str:
        """The server's transmission policy, by its name in a scenario."""
        return MACHINES[self.server].policies[self.mode]

    @property
    def role(self) -> str:
        """Whether the costs were fitted to this row."""
        return "fitted" if self.mode == "Nagle off" else "predicted"


@dataclass(frozen=True)
class Printed:
    """The printed numbers of one row and reply."""

    requests: float
    kbytes: float


@cache
def published() -> dict[tuple[Pairing, Reply], Printed]:
    """Table 1: requests and KB per second by row and reply, in the document's order."""
    path = DATA / "doupnik" / "published" / "table1.csv"
    replies = {"2.2": SMALL, "33": LARGE}
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            (
                Pairing(line["client"], line["server"], int(line["client_rwnd_kb"]), line["server_mode"]),
                replies[line["file_kb"]],
            ): Printed(float(line["req_per_s"]), float(line["kb_per_s"]))
            for line in csv.DictReader(lines)
        }


@dataclass(frozen=True)
class System:
    """The costs of one system that its clock rate does not explain.

    ``request_us`` is the time of a request beyond its reads, writes and segments, on both sides; ``read_us`` the time
    of a read; ``path`` the factor by which all operations are slower than the clock predicts, ``writing`` the factor
    for a written byte.
    """

    request_us: float = 0.0
    read_us: float = 0.0
    path: float = 1.0
    writing: float = 1.0


@dataclass(frozen=True)
class Costs:
    """The costs of hosts and network cards; the free parameters of the study.

    The first three apply at 100 MHz and scale inversely with the clock. ``arrival_us`` is the delay between an arrival
    and its processing; it occupies no processor. ``gap_octets`` is the gap that a card leaves after a frame beyond
    Ethernet's own, in byte times.
    """

    segment_us: float
    byte_read_ns: float
    byte_written_ns: float
    arrival_us: float
    gap_octets: float
    systems: Mapping[str, System]

    @classmethod
    def load(cls, path: Path | None = None) -> Costs:
        """The costs in a file; by default the file of the study."""
        with (path or DATA / "doupnik" / "costs.toml").open("rb") as file:
            table = tomllib.load(file)
        systems = {name: System(**table.pop(name)) for name in MACHINES}
        return cls(**table, systems=systems)

    def toml(self) -> str:
        """The text of the file that ``load`` reads."""
        lines = [_HEAD]
        lines += [f"{name} = {getattr(self, name):.2f}" for name in SHARED]
        for name, system in self.systems.items():
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {value:.2f}" for key, value in asdict(system).items() if value != _PLAIN[key]]
        return "\n".join(lines) + "\n"

    def processor(self, machine: Machine) -> dict[str, Value]:
        """The keys of ``[host.NAME.processor]``."""
        system = self.systems[machine.name]
        slower = system.path * 100 / machine.mhz
        segment = self.segment_us * slower
        ack = segment * ACK_SHARE
        microseconds = {
            "request": system.request_us,
            "read": system.read_us,
            "byte_read": self.byte_read_ns * slower / 1000,
            "byte_written": self.byte_written_ns * slower * system.writing / 1000,
            "segment_in": segment,
            "segment_out": segment,
            "ack_in": ack,
            "ack_out": ack,
        }
        return {key: f"{value:.6f} us" for key, value in microseconds.items()}


SHARED = ("segment_us", "byte_read_ns", "byte_written_ns", "arrival_us", "gap_octets")
"""The costs common to all systems, in the order of the file."""

_PLAIN = asdict(System())

_HEAD = """\
# Costs of hosts and network cards: made by `netspurt reproduce doupnik --fit` from the rows with Nagle's rule off
# and no others. The first three are for a clock of 100 MHz."""

FRAMING_OCTETS = 26
"""The overhead of Ethernet per packet: preamble, header, check sequence."""


def settings(pairing: Pairing, reply: Reply, costs: Costs) -> dict[str, Value]:
    """The settings of one row and reply, applied to the scenario file."""
    client, server = MACHINES[pairing.client], MACHINES[pairing.server]
    chosen: dict[str, Value] = {
        "host.client.tcp.profile": client.profile,
        "host.client.tcp.receive_window": f"{pairing.window_kb} KiB",
        "host.client.handover": client.handover,
        "host.server.tcp.profile": server.profile,
        "host.server.tcp.transmit": pairing.policy,
        "host.server.handover": server.handover,
        "flow.0.app.response.size": f"{reply.bytes} B",
    }
    chosen["hub.ethernet.framing"] = f"{FRAMING_OCTETS + round(costs.gap_octets)} B"
    for host, machine in (("client", client), ("server", server)):
        chosen[f"host.{host}.latency"] = f"{costs.arrival_us:.6f} us"
        chosen |= {f"host.{host}.processor.{key}": value for key, value in costs.processor(machine).items()}
    return chosen


@dataclass(frozen=True)
class Rate:
    """The outcome of a run: requests per second, the number of replies, and the held tails among them."""

    requests: float
    replies: int
    held_tails: int
    held_tail_s: float


WARM_S = 1.0
"""Requests of the first second are excluded: the congestion window is still opening, and the document's runs took up
to 60 s."""


def rate(run: _core.Run) -> Rate:
    """Reads the only flow of a run that recorded its pages.

    Requests follow one another without a pause, so their mean delay covers the whole time.
    """
    flows, pages = run.flows(), run.pages()
    asked, delay = (np.asarray(pages[name], dtype=np.float64) for name in ("asked_s", "delay_s"))
    counted = delay[asked >= WARM_S]
    return Rate(
        requests=1.0 / float(counted.mean()) if counted.size else 0.0,
        replies=len(delay),
        held_tails=int(flows["held_tails"][0]),
        held_tail_s=float(flows["held_tail_s"][0]),
    )


def null_model(pairing: Pairing, reply: Reply) -> float:
    """A rate without a protocol, in requests per second: 5 under strict Nagle, else the rate without Nagle."""
    if pairing.policy == "nagle-strict":
        return 5.0
    off = Pairing(pairing.client, pairing.server, pairing.window_kb, "Nagle off")
    return published()[off, reply].requests
