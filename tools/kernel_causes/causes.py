"""The cases: a random path, and a cause that limits a transfer over it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

CONTROLS = ("cubic", "bbr", "reno")

LOSS_BASED = ("cubic", "reno")

MSS = 1448


@dataclass(frozen=True)
class Cause:
    """What limits a transfer, and what is changed for that.

    Attributes:
        octets: the length of the response.
        path: lines of the bottleneck link.
        changes: further sections of the scenario.
        server: settings of the server program.
        client: settings of the client program.
        others: number of other transfers over the same link.
        words: for ``netspurt emulate``.
        facts: what the truth needs to know, such as the rate of a policer in bits per second.
    """

    octets: int
    path: tuple[str, ...] = ()
    changes: str = ""
    server: Mapping[str, Any] = field(default_factory=dict)
    client: Mapping[str, Any] = field(default_factory=dict)
    others: int = 0
    words: tuple[str, ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Path:
    """A path: bits per second, the base round trip in seconds, the queue in packets, and the congestion control."""

    rate: float
    rtt: float
    queue: int
    control: str
    seconds: float
    draw: Callable[[float, float], float]

    @property
    def product(self) -> float:
        """The bandwidth-delay product in bytes."""
        return self.rate * self.rtt / 8

    def at(self, rate: float) -> int:
        """The bytes that this rate carries in the time of the case."""
        return round(rate / 8 * self.seconds)


def bottleneck(path: Path) -> Cause:
    """The link is the only limit."""
    return Cause(path.at(path.rate))


def cross_traffic(path: Path) -> Cause:
    """Other transfers use most of the link."""
    others = round(path.draw(2, 6))
    return Cause(path.at(path.rate / (others + 1)), others=others)


def receive_window(path: Path) -> Cause:
    """A receive buffer of a part of the bandwidth-delay product."""
    window = round(path.product * path.draw(0.15, 0.5))
    return Cause(round(window / path.rtt * path.seconds), client={"receive_buffer": window})


def slow_receiver(path: Path) -> Cause:
    """The program at the client reads slower than the link carries."""
    pace = path.rate / 8 * path.draw(0.1, 0.5)
    window = round(max(pace * path.rtt * 1.5, 65_536))
    reader = {"receive_buffer": window, "read_rate": pace, "read": 8192}
    return Cause(max(round(pace * path.seconds), 6 * window), client=reader)


def send_buffer(path: Path) -> Cause:
    """A send buffer of a part of the bandwidth-delay product."""
    # The kernel doubles it, and counts its own memory, too: data in flight is about one and a half times as much.
    buffer = round(path.draw(20e3, 80e3))
    octets = round(1.5 * buffer / path.rtt * path.seconds)
    return Cause(octets, server={"send_buffer": buffer}, facts={"least_rate": 4 * buffer * 8 / path.rtt})


def application(path: Path) -> Cause:
    """The program at the server writes pieces with pauses."""
    pause = max(path.draw(0.05, 0.4), 5 * path.rtt)
    piece = round(path.rate / 8 * pause * path.draw(0.02, 0.3))
    return Cause(piece * max(round(path.seconds / pause), 5), server={"piece": piece, "pause_s": pause})


def policer(path: Path) -> Cause:
    """A token bucket drops what exceeds a part of the rate."""
    rate, burst = path.rate * path.draw(0.15, 0.5), round(path.draw(20e3, 100e3))
    bucket = f'policer = [{{ rate = "{rate:.0f} bit/s", burst = "{burst} B" }}, "none"]'
    return Cause(path.at(rate) + burst, (bucket,), facts={"rate": rate, "burst": burst})


def shaper(path: Path) -> Cause:
    """A token bucket delays what exceeds a part of the rate."""
    rate, burst = path.rate * path.draw(0.15, 0.6), round(path.draw(10e3, 200e3))
    bucket = f'shaper = [{{ rate = "{rate:.0f} bit/s", burst = "{burst} B" }}, "none"]'
    return Cause(path.at(rate) + burst, (bucket,), facts={"rate": rate, "burst": burst})


def random_loss(path: Path) -> Cause:
    """Losses that do not depend on the load, on a link that is never full."""
    # Three times the rate that TCP is slower than by the loss alone (Mathis et al., 1997).
    share = path.draw(0.003, 0.015)
    goodput = 1.22 * MSS * 8 / (path.rtt * share**0.5)
    loss = f'loss = {{ kind = "packet-error", rate = {share:.5f}, direction = "server->router" }}'
    return Cause(path.at(goodput), (loss,), facts={"least_rate": 3 * goodput})


def outage(path: Path) -> Cause:
    """The link is down for seconds."""
    length = path.draw(2.5, 5.0)
    begins = 1.0 + path.draw(0.3, 1.0)

    def change(at: float, up: str) -> str:
        return f'[[change]]\nat = "{at:.3f} s"\nset = {{ "link.path.up" = {up} }}\n'

    changes = change(begins, "false") + change(begins + length, "true")
    return Cause(path.at(path.rate * 0.7), changes=changes)


def slow_start(path: Path) -> Cause:
    """A transfer that ends in slow start, on a link that it does not fill."""
    rounds = round(path.draw(5, 6))
    octets = 10 * MSS * (2**rounds - 1)
    # The window of the last round uses half of the path.
    return Cause(octets, facts={"least_rate": 10 * 2**rounds * 1500 * 8 / path.rtt})


def nagle_delayed_ack(path: Path) -> Cause:
    """A response is written in two pieces, with the rule of Nagle."""
    exchanges = round(path.draw(25, 60))
    length = round(path.draw(300, 1300))
    return Cause(length, server={"two_writes": True}, client={"exchanges": exchanges})


def path_mtu(path: Path) -> Cause:
    """A black hole: large packets are dropped without a message."""
    mtu = f'mtu = {{ size = "{round(path.draw(1100, 1400))} B", too_big = "silent" }}'
    probing = ("--sysctl", "net.ipv4.tcp_mtu_probing=1")
    return Cause(round(path.draw(100e3, 400e3)), (mtu,), words=probing)


def handshake(path: Path) -> Cause:
    """The first SYN-ACKs are lost."""
    lost = "[1]" if path.draw(1, 2) < 1.5 else "[1, 2]"
    loss = f'loss = {{ kind = "script", drop = {lost}, direction = "server->router" }}'
    return Cause(round(path.draw(3e3, 30e3)), (loss,))


CAUSES: Mapping[str, tuple[Callable[[Path], Cause], tuple[str, ...]]] = {
    "bottleneck": (bottleneck, CONTROLS),
    "cross-traffic": (cross_traffic, CONTROLS),
    "receive-window": (receive_window, CONTROLS),
    "slow-receiver": (slow_receiver, CONTROLS),
    "send-buffer": (send_buffer, CONTROLS),
    "application": (application, CONTROLS),
    "policer": (policer, CONTROLS),
    "shaper": (shaper, CONTROLS),
    # BBR takes little notice of random loss.
    "congestion-window": (random_loss, LOSS_BASED),
    "outage": (outage, CONTROLS),
    # Of BBR nothing but its pacing tells when its startup ends.
    "slow-start": (slow_start, LOSS_BASED),
    "nagle-delayed-ack": (nagle_delayed_ack, CONTROLS),
    "path-mtu": (path_mtu, CONTROLS),
    "handshake": (handshake, CONTROLS),
}
"""By the limit that must be found: how a case is made, and the congestion controls that it is made for."""


@dataclass(frozen=True)
class Case:
    """A cause on a path, as a scenario and settings of the programs."""

    name: str
    limit: str
    control: str
    scenario: str
    cause: Cause


def case(seed: int, limit: str) -> Case:
    """The case of a seed with this limit."""
    make, controls = CAUSES[limit]
    own = random.Random(f"{seed} {limit}")

    def draw(least: float, most: float) -> float:
        return float(least * (most / least) ** own.random())

    rate, rtt = draw(3e6, 40e6), draw(0.01, 0.1)
    if limit == "slow-start":
        rtt = draw(0.06, 0.15)
    if limit == "send-buffer":
        rtt = draw(0.04, 0.1)
    if limit == "nagle-delayed-ack":
        rtt = draw(0.004, 0.012)
    if limit == "outage":
        rate = draw(4e6, 10e6)
    # A window of the ends is the limit where the queue has room for the burst of slow start.
    least = 1.5 if limit in {"receive-window", "slow-receiver", "send-buffer"} else 0.5
    queue = max(round(rate * rtt / 8 * draw(least, 2.5) / 1500), 12)
    path = Path(rate, rtt, queue, own.choice(controls), max(draw(2.0, 4.0), 25 * rtt), draw)
    cause = make(path)
    rate = max(rate, cause.facts.get("least_rate", 0.0))
    queue = max(queue, round(queue * rate / path.rate))
    near = draw(0.05, 0.3) * rtt / 2
    lines = [
        'duration = "1 s"',
        '[link.path]\nbetween = ["server", "router"]',
        f'rate = "{rate:.0f} bit/s"\ndelay = "{(rtt / 2 - near) * 1e6:.0f} us"',
        f'queue = {{ kind = "drop-tail", limit = "{queue} packets" }}',
        *cause.path,
        f'[link.near]\nbetween = ["router", "client"]\nrate = "1 Gbit/s"\ndelay = "{near * 1e6:.0f} us"',
        '[link.side]\nbetween = ["router", "others"]\nrate = "1 Gbit/s"\ndelay = "1 ms"',
        *(
            f'[[flow]]\nfrom = "{host}"\nto = "server"\napp = {{ kind = "bulk" }}'
            for host in ("client", "others")
        ),
        cause.changes,
    ]
    facts = {"rtt": rtt, **cause.facts, "link_rate": rate}
    whole = Cause(**{**vars(cause), "facts": facts})
    return Case(f"{seed}-{limit}", limit, path.control, "\n".join(lines) + "\n", whole)
