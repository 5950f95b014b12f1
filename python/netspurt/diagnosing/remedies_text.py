"""What may help against each limit, in plain words, with the command that does it on Linux.

Lives here: advice. Must not live here: the choice of a limit, or any promise of how much a remedy helps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from netspurt.analysis import formats

LEAST_SHARE = 0.02
"""A limit with a smaller share of the time gets no advice."""

MOST_LIMITS = 3
"""The maximal number of limits with advice."""

MIB = 1 << 20

BUFFER = 6 * MIB
"""The default maximum of a socket buffer on Linux (tcp_rmem), in bytes."""

UNSCALED = 65535
"""The largest window without the window scale option, in bytes."""

NEAR = 3000
"""A window without scaling is at most two segments smaller, since many receivers announce whole segments."""

WHERE = {
    "sender": "at the sender",
    "receiver": "at the receiver",
    "path": "on the path",
    "program": "in the program",
}
"""The places of a remedy, as text."""

LAST_ROUND_TRIP = 1.5
"""An application that sends nothing only for so many round trips at the end has finished."""

Line: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Advice:
    """Something to try.

    Attributes:
        limit: the limit that it relaxes.
        where: a key of ``WHERE``.
        words: what to do and why, in one or two sentences.
        commands: the commands, settings or calls that do it; capitals stand for names to fill in.
    """

    limit: str
    where: str
    words: str
    commands: tuple[str, ...] = ()


def advice(direction: Line) -> list[Advice]:
    """What to try for one direction of a connection, for the largest limit first.

    Args:
        direction: an element of "directions" in the document of ``netspurt why --json``.
    """
    found: list[Advice] = []
    lines = [line for line in direction["budget"] if line["share"] >= LEAST_SHARE]
    for line in lines[:MOST_LIMITS]:
        found += of_limit(line["limit"], line["evidence"], direction)
    return found


def of_limit(limit: str, evidence: Line, direction: Line) -> list[Advice]:
    """What to try against one limit; nothing for a limit that is not known."""
    make = _SIZED.get(limit)
    if make is not None:
        return [Advice(limit, *each) for each in make(evidence, direction)]
    return [Advice(limit, *each) for each in _PLAIN.get(limit, ())]


def has_bufferbloat(evidence: Line, direction: Line) -> bool:
    """Whether the queueing delay exceeds the RTT of the empty path."""
    least = direction.get("rtt_min_s")
    return bool(least) and evidence.get("queueing_s", 0.0) > least


_Words: TypeAlias = tuple[str, str, tuple[str, ...]]


def _buffer(held: float) -> int:
    """The size of a buffer for four times the data in flight, in whole MiB."""
    return max(BUFFER, -(-int(4 * held) // MIB) * MIB)


def _receive_window(evidence: Line, _direction: Line) -> list[_Words]:
    window = evidence.get("window_bytes", 0.0)
    size = _buffer(window)
    found: list[_Words] = [
        (
            "receiver",
            "Let the receive window grow: raise the maximum of the receive buffer, and remove SO_RCVBUF from the "
            "program, since it turns automatic growth off.",
            (f"sysctl -w net.ipv4.tcp_rmem='4096 131072 {size}'",),
        )
    ]
    if UNSCALED - NEAR <= window <= UNSCALED:
        words = (
            "The window stopped at 64 KiB. That is the largest window without the window scale option: check "
            "that both ends offer it and that no firewall removes it."
        )
        found.insert(0, ("receiver", words, ("sysctl -w net.ipv4.tcp_window_scaling=1",)))
    return found


def _send_buffer(evidence: Line, _direction: Line) -> list[_Words]:
    size = _buffer(evidence.get("flight_bytes", 0.0))
    return [
        (
            "sender",
            "Let the send buffer grow: raise its maximum, and remove SO_SNDBUF from the program, since it turns "
            "automatic growth off.",
            (f"sysctl -w net.ipv4.tcp_wmem='4096 16384 {size}'",),
        )
    ]


def _bottleneck(evidence: Line, direction: Line) -> list[_Words]:
    rate = evidence.get("rate_bps", 0.0)
    found: list[_Words] = [
        (
            "path",
            "The path is full. No setting of TCP makes this transfer faster; a path with a higher rate does.",
            (),
        )
    ]
    if has_bufferbloat(evidence, direction):
        words = (
            f"The queue adds {1e3 * evidence['queueing_s']:.0f} ms to a round trip of "
            f"{1e3 * direction['rtt_min_s']:.3g} ms (bufferbloat). A shorter queue at the bottleneck keeps the rate "
            "and helps other traffic."
        )
        found.append(("path", words, (f"tc qdisc replace dev DEV root cake bandwidth {_below(rate)}",)))
    return found


def _policer(evidence: Line, _direction: Line) -> list[_Words]:
    rate = evidence.get("rate_bps", 0.0)
    return [
        (
            "sender",
            "Shape the traffic slightly below the rate of the policer, so that packets wait instead of being dropped.",
            (f"tc qdisc replace dev DEV root tbf rate {_below(rate)} burst 32kb latency 50ms",),
        ),
        (
            "sender",
            "BBR reduces its rate less than CUBIC after the losses of a policer.",
            ("sysctl -w net.ipv4.tcp_congestion_control=bbr",),
        ),
    ]


def _handshake(_evidence: Line, direction: Line) -> list[_Words]:
    seconds = sum(line["seconds"] for line in direction["budget"] if line["limit"] == "handshake")
    found: list[_Words] = [
        (
            "program",
            "Keep connections open and reuse them, or send data with the SYN (TCP Fast Open).",
            ("sysctl -w net.ipv4.tcp_fastopen=3",),
        )
    ]
    if seconds >= 0.9:
        words = "A handshake of a second or more usually means a lost SYN: look for a full accept queue at the server."
        found.insert(0, ("receiver", words, ("nstat -az TcpExtListenOverflows TcpExtListenDrops",)))
    return found


def _application(_evidence: Line, direction: Line) -> list[_Words]:
    if _waits_for_last_acks(direction):
        return []
    words = (
        "TCP is not the cause. Find out what the sending program waits for: its disk, a database, the CPU, or a "
        "rate limit of its own."
    )
    return [("program", words, ("ss -tip",))]


def _waits_for_last_acks(direction: Line) -> bool:
    """Whether the application has nothing to send only at the end, until its last data is acknowledged."""
    intervals = direction.get("intervals", ())
    lines = direction["budget"]
    round_trip = max((line["evidence"].get("rtt_s") or 0.0 for line in lines), default=0.0)
    if not intervals or intervals[-1]["limit"] != "application":
        return False
    last = intervals[-1]["until_s"] - intervals[-1]["from_s"]
    is_only = sum(each["limit"] == "application" for each in intervals) == 1
    return is_only and len(intervals) > 1 and last <= LAST_ROUND_TRIP * round_trip


def _below(bps: float) -> str:
    """A rate 5 % lower, as tc writes it."""
    return f"{formats.digits(0.95 * bps / 1e6, 3)}mbit" if bps > 0 else "RATE"


def _congestion_window(_evidence: Line, direction: Line) -> list[_Words]:
    if direction.get("retransmitted") == 0:
        return [
            (
                "path",
                "No segment was lost: ECN marks of a queue, or a congestion control that avoids delay, keep cwnd "
                "small. Find the queue that marks. An interval of CoDel that is shorter than the RTT makes it mark too "
                "early.",
                (
                    "tc -s qdisc show dev DEV",
                    "tc qdisc replace dev DEV root fq_codel interval 200ms target 10ms",
                ),
            ),
            (
                "sender",
                "A congestion control that marks and delay slow down less.",
                ("sysctl -w net.ipv4.tcp_congestion_control=cubic",),
            ),
        ]
    return [
        (
            "path",
            "Find the place of the losses and repair it: interface errors, a bad cable, weak radio.",
            ("ethtool -S DEV", "tc -s qdisc show dev DEV"),
        ),
        (
            "sender",
            "A congestion control that sparse losses slow down less.",
            ("sysctl -w net.core.default_qdisc=fq", "sysctl -w net.ipv4.tcp_congestion_control=bbr"),
        ),
    ]


_SIZED: dict[str, Callable[[Line, Line], list[_Words]]] = {
    "application": _application,
    "receive-window": _receive_window,
    "send-buffer": _send_buffer,
    "bottleneck": _bottleneck,
    "congestion-window": _congestion_window,
    "policer": _policer,
    "handshake": _handshake,
}
"""Advice that depends on the evidence."""

_PLAIN: dict[str, tuple[_Words, ...]] = {
    "application-window": (
        (
            "program",
            "Raise the window of the application's protocol at the receiver, such as the stream and connection "
            "windows of HTTP/2, or transfer over several connections.",
            (),
        ),
    ),
    "nagle-delayed-ack": (
        (
            "program",
            "Write each message with one call, or turn Nagle's algorithm off at the sender.",
            ("setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)",),
        ),
        (
            "receiver",
            "If the sending program cannot be changed, let the receiver acknowledge at once.",
            ("ip route change ROUTE quickack 1",),
        ),
    ),
    "slow-receiver": (
        (
            "program",
            "The receiving program does not read as fast as data arrives. Find out what it waits for: its disk, the "
            "CPU, or its consumer. A larger buffer only delays the effect.",
            ("ss -tipm",),
        ),
    ),
    "slow-start": (
        (
            "program",
            "Keep connections open and reuse them, so that cwnd does not start again at the initial window.",
            (),
        ),
        (
            "sender",
            "A larger initial window saves round trips of short transfers; the default is 10 segments.",
            ("ip route change ROUTE initcwnd 20",),
        ),
    ),
    "cross-traffic": (
        (
            "path",
            "Others share the path. Fair queueing at the bottleneck gives each connection its share and keeps the "
            "delay low.",
            ("tc qdisc replace dev DEV root fq_codel",),
        ),
    ),
    "pacing": (
        (
            "sender",
            "Look for a limit of the rate at the sender: SO_MAX_PACING_RATE of the program, or maxrate of the queue "
            "discipline fq.",
            ("ss -tin", "tc qdisc show"),
        ),
    ),
    "shaper": (
        (
            "path",
            "The provider or an administrator limits the rate. TCP cannot change that. A queue of your own slightly "
            "below the rate keeps the delay low.",
            ("tc qdisc replace dev DEV root cake bandwidth RATE",),
        ),
    ),
    "fast-recovery": (
        (
            "sender",
            "Selective acknowledgements and loss detection by time repair losses within a round trip; both must be on "
            "(the default), SACK at both ends.",
            ("sysctl -w net.ipv4.tcp_sack=1", "sysctl -w net.ipv4.tcp_recovery=1"),
        ),
        (
            "path",
            "Find the place of the losses. If they come from an overflowing queue, ECN avoids most of them.",
            ("sysctl -w net.ipv4.tcp_ecn=1",),
        ),
    ),
    "timeout": (
        (
            "sender",
            "Tail loss probes, loss detection by time and SACK replace most timeouts; all must be on (the default).",
            (
                "sysctl -w net.ipv4.tcp_early_retrans=3",
                "sysctl -w net.ipv4.tcp_recovery=1",
                "sysctl -w net.ipv4.tcp_sack=1",
            ),
        ),
        (
            "sender",
            "On a path with a short and stable RTT the least retransmission timeout can be lower than 200 ms.",
            ("ip route change ROUTE rto_min 50ms",),
        ),
    ),
    "tail-loss": (
        (
            "sender",
            "A tail loss probe repairs the loss of the last segments without a timeout; it needs SACK.",
            ("sysctl -w net.ipv4.tcp_early_retrans=3", "sysctl -w net.ipv4.tcp_sack=1"),
        ),
    ),
    "reordering": (
        (
            "path",
            "Let all packets of a connection take the same way: balance the load by flow, not by packet.",
            (),
        ),
        (
            "sender",
            "Loss detection by time tolerates reordering within a quarter of the RTT, and learns more from D-SACK.",
            ("sysctl -w net.ipv4.tcp_recovery=1", "sysctl -w net.ipv4.tcp_dsack=1"),
        ),
    ),
    "spurious": (
        (
            "sender",
            "Timestamps, D-SACK and F-RTO let the sender notice that a retransmission was not needed and undo its "
            "reaction.",
            (
                "sysctl -w net.ipv4.tcp_timestamps=1",
                "sysctl -w net.ipv4.tcp_dsack=1",
                "sysctl -w net.ipv4.tcp_frto=2",
            ),
        ),
    ),
    "idle-restart": (
        (
            "sender",
            "Keep cwnd over pauses of the application.",
            ("sysctl -w net.ipv4.tcp_slow_start_after_idle=0",),
        ),
    ),
    "path-mtu": (
        (
            "path",
            "Let ICMP messages 'fragmentation needed' and 'packet too big' pass, or clamp the MSS at the router.",
            ("iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",),
        ),
        (
            "sender",
            "Let the sender search for a size that passes.",
            ("sysctl -w net.ipv4.tcp_mtu_probing=1",),
        ),
    ),
    "outage": (
        (
            "path",
            "Nothing passed in either direction. Look for link flaps, roaming and route changes at that time.",
            ("ip monitor link route", "dmesg --ctime"),
        ),
        (
            "path",
            "If the transfer stops for good and short packets still pass, a link drops full packets silently. Find the "
            "largest that passes, and lower the MTU or clamp the MSS.",
            ("ping -M do -s 1472 HOST",),
        ),
    ),
    "ack-path": (
        (
            "path",
            "ACKs are lost or wait in a queue on the way back. Keep the queue of the reverse direction short.",
            ("tc qdisc replace dev DEV root cake bandwidth RATE ack-filter",),
        ),
    ),
    "round-trip": (
        (
            "program",
            "The exchange consists of round trips. Use fewer of them: send requests without waiting for each answer, "
            "combine small requests, or bring the server nearer.",
            (),
        ),
    ),
    "unknown": (
        (
            "path",
            "Capture at the sender, from the first packet on, with at least 96 bytes of each packet.",
            ("tcpdump -i DEV -s 96 -w trace.pcap tcp",),
        ),
    ),
    "teardown": (),
}
"""Advice that does not depend on the evidence."""
