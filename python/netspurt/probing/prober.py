"""The prober: ICMP echo to one host or many, as tables.

Lives here: name resolution, and the Python interface of the native ``Prober``. Must not live here: packets (Rust
handles them), options, or display.
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
"""Bytes, IP header included: the lengths of a list in turn, or random ones from the first to the last."""

Pace = tuple[Literal["every", "between", "replies"], Sequence[float]]
"""Seconds: a fixed interval between volleys; a random one from the first to the last; or a minimum, after replies."""

SCHEMA: dict[str, type] = {
    **{"time_s": float, "host": str, "address": str, "number": int, "length_octets": int, "event": str},
    **{"rtt_ms": float, "stamped": str, "from": str, "icmp_type": int, "icmp_code": int, "errno": int},
}
"""The columns of the prober's table.

``time_s`` (departure, seconds since 1970), ``host`` (as named) and its ``address``, ``number`` (from 0, of the
packets to this host), ``length_octets`` (IP header included), ``event`` (see ``FATES`` and ``EXTRAS``), ``rtt_ms``
(until the answer, or the ICMP error; null without either), ``stamped`` (source of the arrival time: "kernel" or
"reader"), ``from`` (sender of the ICMP error, if not the host), ``icmp_type``, ``icmp_code`` (of the ICMP error),
``errno`` (the cause of a failed send).
"""

FATES = ("reply", "lost", "unreachable", "time-exceeded", "other-error", "send-failed")
"""The fates of a packet: one row for each packet, when its fate is known."""

EXTRAS = ("duplicate", "late")
"""Additional rows: a duplicate answer, or an answer after the timeout of its packet."""


@dataclass(frozen=True)
class Host:
    """A probed host: its name and its address; ``place`` is the address in the form of the native module."""

    name: str
    address: str
    place: str

    @property
    def family(self) -> Literal["ipv4", "ipv6"]:
        """The address family."""
        return "ipv6" if self.place.startswith("[") else "ipv4"


def resolve(name: str, family: Literal["any", "ipv4", "ipv6"] = "any") -> Host:
    """The first address of a name.

    Raises:
        RequestError: the name has no address.
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
    """The hosts that have an address, and a sentence for each other name.

    Raises:
        RequestError: no name has an address.
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
    """A running prober, from its creation until it ends or the context ends.

    With ``hasty_end``, packets are lost sooner after the last one: after two of the longest RTT (a second at least), or
    after 10 s where nothing was answered.

    Raises:
        RequestError: the plan is invalid, or no socket is available for any host.
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
        hasty_end: bool = False,
    ) -> None:
        from netspurt import _core

        self.hosts = tuple(hosts)
        self.counts = dict.fromkeys(("sent", "waiting", "foreign", "altered", "dropped"), 0)
        """Counts besides rows: packets sent, packets without an answer so far, foreign or altered messages, and rows
        that were dropped because they were not fetched in time."""
        try:
            self._native = _core.Prober.start(
                [host.place for host in hosts],
                (lengths[0], list(lengths[1])),
                (pace[0], [round(1e9 * seconds) for seconds in pace[1]]),
                speed=speed,
                count=count,
                lost_after_ns=round(1e9 * lost_after_s),
                seed=seed,
                hasty_end=hasty_end,
            )
        except (ValueError, PermissionError) as error:
            raise RequestError(str(error)) from error

    def wait(self, seconds: float) -> bool:
        """Waits at most this long for rows or for the end; False after the end."""
        return self._native.wait(seconds)

    def take(self) -> pl.DataFrame:
        """The rows since the last call, with the columns of ``SCHEMA``, in order of occurrence."""
        import polars as pl

        found, self.counts = self._native.take()
        columns: dict[str, Any] = dict(found)
        who = pl.Series(columns["host"], dtype=pl.Int64)
        names = pl.Series([host.name for host in self.hosts], dtype=pl.String)
        addresses = pl.Series([host.address for host in self.hosts], dtype=pl.String)
        columns |= {"host": names.gather(who), "address": addresses.gather(who)}
        return pl.DataFrame({name: columns[name] for name in SCHEMA}, schema=dict(SCHEMA), nan_to_null=True)

    def sockets(self) -> dict[str, str]:
        """The kind of socket for "ipv4" and "ipv6": "ping" (without privilege) or "raw"."""
        return self._native.sockets()

    def left_out(self) -> dict[Host, str]:
        """Hosts that are not probed because their address family has no socket, each with the reason as a sentence."""
        reasons = self._native.denied()
        left = {host: reasons.get(host.family) for host in self.hosts}
        return {host: f"{host.name} is not probed: {why}" for host, why in left.items() if why is not None}

    def stop(self) -> None:
        """Ends the prober. Packets without an answer so far get no row."""
        self._native.stop()

    def __enter__(self) -> Probing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
