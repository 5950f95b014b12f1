"""The kernel's TCP with a limit that was put in: ``netspurt why`` on a capture at the server names it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns

pytest.importorskip("netspurt._core")

from emulations import ENVIRONMENT, emulate, report  # what it needs is looked for first

from netspurt.emulation.agreement import PUNCTUAL_S

SERVER = Path(__file__).with_name("limited_server.py")
CLIENT = Path(__file__).with_name("limited_client.py")

Direction = dict[str, Any]
"""The diagnosis of a direction of a connection, as a document."""

TRIES = 3

FULL = 'queue = { kind = "drop-tail", limit = "60 packets" }'
FAST = f'rate = "50 Mbit/s"\n{FULL}'


@dataclass(frozen=True)
class Injected:
    """A cause, and how it is put in.

    Attributes:
        limit: the limit that the diagnosis must name.
        link: lines of the link, whose delay is 10 ms.
        octets: the length of the response.
        behaviour: of the server.
        words: for ``netspurt emulate``.
        client: for curl, in front of the address.
        times: how often curl asks, on one connection.
        congestion: of the kernel.
        program: in place of curl, with the address and the length behind it.
        share: the least share of the time of a limit that cannot be the largest; None if it must be.
    """

    limit: str
    link: str = FAST
    octets: int = 3_000_000
    behaviour: str = "plain"
    words: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    times: int = 1
    congestion: str = "cubic"
    program: tuple[str, ...] = ()
    share: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def delay(at: str, span: str) -> str:
    """A section that sets the delay of the link."""
    return f'[[change]]\nat = "{at}"\nset = {{ "link.path.delay" = "{span}" }}'


def lines(*each: str) -> str:
    return "\n".join(each)


def change(at: str, up: str) -> str:
    """A section that sets whether the link is up."""
    return f'[[change]]\nat = "{at}"\nset = {{ "link.path.up" = {up} }}'


DELAY_SPIKE = lines('rate = "8 Mbit/s"', FULL, delay("1 s", "900 ms"), delay("1.2 s", "10 ms"))

CASES = {
    "bottleneck": Injected("bottleneck", lines('rate = "8 Mbit/s"', FULL)),
    "bottleneck-bbr": Injected("bottleneck", lines('rate = "8 Mbit/s"', FULL), congestion="bbr"),
    "receive-window": Injected(
        "receive-window",
        lines('rate = "100 Mbit/s"', FULL),
        words=("--sysctl", "net.ipv4.tcp_rmem=4096 65536 65536"),
    ),
    "slow-receiver": Injected(
        "slow-receiver",
        client=("--limit-rate", "300k"),
        octets=1_200_000,
        words=("--sysctl", "net.ipv4.tcp_rmem=4096 65536 65536"),
    ),
    "application": Injected("application", behaviour="slow-source", octets=200_000),
    "slow-start": Injected("slow-start", octets=500_000, share=0.2, settings={"link.path.delay": "100 ms"}),
    "congestion-window": Injected(
        "congestion-window",
        lines(
            'rate = "100 Mbit/s"',
            FULL,
            'loss = { kind = "packet-error", rate = 0.01, direction = "space->earth" }',
        ),
        congestion="reno",
        settings={"link.path.delay": "30 ms"},
    ),
    "policer": Injected(
        "policer", lines(FAST, 'policer = ["none", { rate = "4 Mbit/s", burst = "40 kB" }]'), octets=2_500_000
    ),
    "shaper": Injected(
        "shaper", lines(FAST, 'shaper = ["none", { rate = "6 Mbit/s", burst = "150 kB" }]'), octets=2_500_000
    ),
    "nagle-delayed-ack": Injected("nagle-delayed-ack", behaviour="two-writes", octets=900, times=40),
    "idle-restart": Injected(
        "idle-restart",
        behaviour="slow-to-answer",
        octets=300_000,
        times=3,
        share=0.05,
        settings={"link.path.delay": "60 ms"},
    ),
    "round-trip": Injected("round-trip", octets=3000, times=30, share=0.3),
    "handshake": Injected(
        "handshake",
        lines(FAST, 'loss = { kind = "script", drop = [1], direction = "space->earth" }'),
        octets=20_000,
    ),
    "cross-traffic": Injected(
        "cross-traffic",
        lines('rate = "10 Mbit/s"', FULL),
        octets=1_500_000,
        times=4,
        client=("-Z",),
        share=0.5,
    ),
    "path-mtu": Injected(
        "path-mtu",
        lines(FAST, 'mtu = { size = "1200 B", too_big = "silent" }'),
        octets=200_000,
        words=("--sysctl", "net.ipv4.tcp_mtu_probing=1"),
    ),
    "outage": Injected(
        "outage",
        lines('rate = "8 Mbit/s"', FULL, change("3 s", "false"), change("8 s", "true")),
        octets=4_000_000,
        share=0.3,
    ),
    "reordering": Injected(
        "reordering",
        lines(FAST, 'reorder = { probability = 0.03, delay = "9 ms" }'),
        share=0.02,
    ),
    "fast-recovery": Injected(
        "fast-recovery",
        lines(FAST, 'loss = { kind = "packet-error", rate = 0.05, direction = "space->earth" }'),
        octets=1_000_000,
        share=0.1,
    ),
    # The third of eight data segments is lost, and its retransmission: without RACK only the timer notices that.
    "timeout": Injected(
        "timeout",
        lines(FAST, 'loss = { kind = "script", drop = [5, 11], direction = "space->earth" }'),
        octets=11_000,
        words=("--sysctl", "net.ipv4.tcp_recovery=0", "--sysctl", "net.ipv4.tcp_early_retrans=0"),
    ),
    # The path holds all packets for 0.9 s, which is an outage. The needless retransmissions take 5 % of the time.
    "delay-spike": Injected("outage", DELAY_SPIKE, octets=2_000_000, share=0.1),
    "spurious": Injected("spurious", DELAY_SPIKE, octets=2_000_000, share=0.02),
    "application-window": Injected(
        "application-window",
        behaviour="credits",
        program=(sys.executable, str(CLIENT)),
        settings={"link.path.delay": "30 ms"},
    ),
    # The writer is woken when a third of the buffer is free; a round trip of 60 ms is long beside that.
    "send-buffer": Injected(
        "send-buffer",
        lines('rate = "100 Mbit/s"', FULL),
        behaviour="small-buffer",
        octets=2_000_000,
        share=0.3,
        settings={"link.path.delay": "30 ms"},
    ),
    "ack-path": Injected(
        "ack-path",
        lines(FAST, 'ack_thinning = [{ keep = 1000, interval = "60 ms" }, "none"]'),
    ),
    # The FIN is lost twice.
    "teardown": Injected(
        "teardown",
        lines(FAST, 'loss = { kind = "script", drop = [4, 5], direction = "space->earth" }'),
        octets=1200,
        behaviour="late-close",
    ),
    "tail-loss": Injected(
        "tail-loss",
        lines(FAST, 'loss = { kind = "script", drop = [3], direction = "space->earth" }'),
        octets=1200,
        share=0.3,
    ),
}


def fetch(case: Injected) -> list[str]:
    """The words of the client."""
    if case.program:
        return [*case.program, "space", str(case.octets)]
    each = ("-o", "/dev/null", f"http://space/{case.octets}")
    return ["curl", "-sf", *case.client, *each * case.times]


def measured(name: str) -> list[Direction]:
    """What the server sends on each connection of a case: of the first run that names the limit or was punctual.

    Where the machine delivers packets late, other things happen than were put in.
    """
    for _ in range(TRIES):
        servers, late_s = run(name)
        if late_s <= PUNCTUAL_S or names(CASES[name], servers):
            break
    return servers


def run(name: str) -> tuple[list[Direction], float]:
    """What the server sends on each connection of a case, diagnosed, and the largest lateness of a packet, in s."""
    case = CASES[name]
    settings = [word for path, value in case.settings.items() for word in ("--set", f"{path}={value}")]
    with tempfile.TemporaryDirectory() as directory:
        capture = Path(directory) / "space.pcapng"
        done = emulate(
            Path(directory),
            *("--json", "--congestion", case.congestion, *settings, *case.words),
            *("--capture", f"space={capture}"),
            *("--server", f"{sys.executable} {SERVER} {case.behaviour}"),
            *("--", *fetch(case)),
            link=case.link,
            env=ENVIRONMENT,
        )
        assert done.returncode == 0, done.stderr
        late_s = max(link["delay_error_max_s"] or 0.0 for link in report(done)["links"])
        return [row["directions"][1] for row in ns.why(capture).documents()], late_s


def judged(case: Injected, servers: list[Direction]) -> Direction:
    """The connection on which the limit is looked for. Of several, the last one is alone at the end."""
    if case.share is None:
        return max(servers, key=lambda each: float(each["duration_s"]))
    return max(servers, key=lambda each: shares(each).get(case.limit, 0.0))


def names(case: Injected, servers: list[Direction]) -> bool:
    """Whether the diagnosis names the limit that was put in."""
    server = judged(case, servers)
    if case.share is None:
        return bool(server["limit"] == case.limit)
    return shares(server).get(case.limit, 0.0) >= case.share


@pytest.mark.skipif(
    not shutil.which("curl"), reason="there is no curl here (on Debian: apt-get install curl)"
)
@pytest.mark.parametrize("name", sorted(CASES))
def test_the_cause_that_was_put_in_is_named(name: str, at_once: dict[str, Future[list[Direction]]]) -> None:
    case = CASES[name]
    servers = at_once[name].result()
    server = judged(case, servers)
    assert names(case, servers), shares(server)
    assert server["vantage"] == "sender"


def shares(direction: Direction) -> dict[str, float]:
    """The part of each limit in the time of a direction."""
    return {line["limit"]: line["share"] for line in direction["budget"]}
