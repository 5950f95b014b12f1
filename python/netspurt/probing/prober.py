"""The prober: ICMP echo to one host or many, as tables.

Lives here: names to addresses, and the Python face of the native ``Prober``. Must not live here: packets (those are
Rust's), options, or how anything is shown.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from netspurt.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

Lengths = tuple[Literal["listed", "uniform"], Sequence[int]]
"""Octets, IP header included: those of a list in turn, or any from the first to the last."""

Pace = tuple[Literal["every", "between", "replies"], Sequence[float]]
"""Seconds: between volleys; at least and at most between volleys; at least, when the last volley is over."""

SCHEMA: dict[str, type] = {
    **{"time_s": float, "host": str, "address": str, "number": int, "length_octets": int, "event": str},
    **{"rtt_ms": float, "stamped": str, "from": str, "icmp_type": int, "icmp_code": int, "errno": int},
}
"""The columns of what a prober finds.

``time_s`` (when it was sent, seconds since 1970), ``host`` (as named) and its ``address``, ``number`` (from 0, of the
packets to this host), ``length_octets`` (IP header included), ``event`` (see ``FATES`` and ``EXTRAS``), ``rtt_ms``
(until the answer, or the complaint; null where nothing came), ``stamped`` (who noted when: "kernel" or "reader"),
``from`` (who complained, if not the host), ``icmp_type``, ``icmp_code`` (of the complaint), ``errno`` (why it could
not be sent).
"""

FATES = ("reply", "lost", "unreachable", "time-exceeded", "other-error", "send-failed")
"""What becomes of a packet: one row for each, when it is known."""

EXTRAS = ("duplicate", "late")
"""Rows in addition: an answer that came again, or after its packet had been given up."""


@dataclass(frozen=True)
class Host:
    """Whom to ask: as named, and by address; ``place`` is the address as the native module wants it."""

    name: str
    address: str
    place: str

    @property
    def family(self) -> Literal["ipv4", "ipv6"]:
        """Of the address."""
        return "ipv6" if self.place.startswith("[") else "ipv4"


def resolve(name: str, family: Literal["any", "ipv4", "ipv6"] = "any") -> Host:
    """The first address of a name.

    Raises:
        RequestError: there is none, in one sentence.
    """
    families = {"any": socket.AF_UNSPEC, "ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
    try:
        found = socket.getaddrinfo(name, None, families[family], socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        version = {"any": "", "ipv4": "IPv4 ", "ipv6": "IPv6 "}[family]
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RequestError(f"cannot find an {version}address of '{name}': {why.lower()}") from error
    kind, _, _, _, place = found[0]
    if kind == socket.AF_INET6:
        scope = f"%{place[3]}" if len(place) > 3 and place[3] else ""
        return Host(name, str(place[0]), f"[{str(place[0]).partition('%')[0]}{scope}]:0")
    return Host(name, str(place[0]), f"{place[0]}:0")


def resolve_all(
    names: Iterable[str], family: Literal["any", "ipv4", "ipv6"] = "any"
) -> tuple[list[Host], list[str]]:
    """The hosts that have an address, and a sentence for each of the others.

    Raises:
        RequestError: none has one.
    """
    hosts: list[Host] = []
    complaints: list[str] = []
    for name in names:
        try:
            hosts.append(resolve(name, family))
        except RequestError as error:
            complaints.append(str(error))
    if not hosts:
        raise RequestError(complaints[0])
    return hosts, complaints


class Probing:
    """A prober at work, from when it is made until it is over or the context ends.

    Raises:
        RequestError: the plan cannot be carried out, or no socket can be had for any host; in one sentence.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        lengths: Lengths,
        pace: Pace,
        *,
        speed: Literal["gentle", "fast"] = "gentle",
        count: int | None = None,
        lost_after_s: float = 30.0,
        seed: int = 1,
    ) -> None:
        from netspurt import _core

        self.hosts = tuple(hosts)
        self.counts = dict.fromkeys(("sent", "waiting", "foreign", "altered", "dropped"), 0)
        """Beside rows: packets sent, waiting for an answer; messages that are none of ours, or were altered; and rows
        that nobody fetched in time."""
        try:
            self._native = _core.Prober.start(
                [host.place for host in hosts],
                (lengths[0], list(lengths[1])),
                (pace[0], [round(1e9 * seconds) for seconds in pace[1]]),
                speed=speed,
                count=count,
                lost_after_ns=round(1e9 * lost_after_s),
                seed=seed,
            )
        except (ValueError, PermissionError) as error:
            raise RequestError(str(error)) from error

    def wait(self, seconds: float) -> bool:
        """Waits until something is found or it is over, at most so long; False once it is over."""
        return self._native.wait(seconds)

    def take(self) -> pl.DataFrame:
        """What was found since the last call, with the columns of ``SCHEMA``, in the order in which it was found."""
        import polars as pl

        found, self.counts = self._native.take()
        columns: dict[str, Any] = dict(found)
        who = pl.Series(columns["host"], dtype=pl.Int64)
        names = pl.Series([host.name for host in self.hosts], dtype=pl.String)
        addresses = pl.Series([host.address for host in self.hosts], dtype=pl.String)
        columns |= {"host": names.gather(who), "address": addresses.gather(who)}
        return pl.DataFrame({name: columns[name] for name in SCHEMA}, schema=dict(SCHEMA), nan_to_null=True)

    def sockets(self) -> dict[str, str]:
        """Which kind serves "ipv4" and "ipv6": "ping" (without privilege) or "raw"."""
        return self._native.sockets()

    def left_out(self) -> dict[Host, str]:
        """Hosts that are not probed, because there is no socket for their family, each with why in a sentence."""
        reasons = self._native.denied()
        left = {host: reasons.get(host.family) for host in self.hosts}
        return {host: f"{host.name} is not probed: {why}" for host, why in left.items() if why is not None}

    def stop(self) -> None:
        """Ends it. What still waits for an answer stays without a row."""
        self._native.stop()

    def __enter__(self) -> Probing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
