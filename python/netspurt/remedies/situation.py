"""What remedies look at: the scenario as a tree, the flow in question, its path, and what limits it.

Lives here: reading values of a merged scenario. Must not live here: any remedy, or a simulation.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from netspurt.remedies.quantities import directed, number

if TYPE_CHECKING:
    from netspurt.scenario import Scenario

DEFAULT_PROFILE = "rfc"
"""The profile of a connection for which the scenario names none."""

PACKET = 1500


def profiles() -> dict[str, dict[str, Any]]:
    """Every TCP profile with all its settings."""
    from netspurt import _core

    return {each["name"]: each["tcp"] for each in json.loads(_core.profiles())}


@dataclass(frozen=True)
class Hop:
    """A link of the path; ``way`` is 0 if data goes from its first node to its second, else 1."""

    name: str
    way: int


@dataclass(frozen=True)
class Situation:
    """A flow of a scenario and what limits it.

    Attributes:
        scenario: the scenario.
        flow: the position of the flow among those of the file.
        sender: the node that sends most of the data.
        shares: for each limit its share of the time, 0 to 1, of the direction in which it is larger.
        rtt_min_s: the least RTT, if known.
        goodput_bps: of the data, over the time of its connections.
    """

    scenario: Scenario
    flow: int
    sender: str
    shares: Mapping[str, float]
    rtt_min_s: float | None
    goodput_bps: float = 0.0

    @cached_property
    def tree(self) -> dict[str, Any]:
        """The merged scenario."""
        return tomllib.loads(self.scenario.merged())

    @cached_property
    def entry(self) -> dict[str, Any]:
        """The flow's table."""
        found: dict[str, Any] = self.tree["flow"][self.flow]
        return found

    @property
    def app(self) -> dict[str, Any]:
        """The table of the flow's application."""
        found: dict[str, Any] = self.entry["app"]
        return found

    @property
    def receiver(self) -> str:
        """The node that receives most of the data."""
        ends = (str(self.entry["from"]), str(self.entry["to"]))
        return ends[1] if self.sender == ends[0] else ends[0]

    @property
    def nodes(self) -> tuple[str, str]:
        """Sender and receiver."""
        return self.sender, self.receiver

    def share(self, *limits: str) -> float:
        """The share of the time of these limits together."""
        return sum(self.shares.get(limit, 0.0) for limit in limits)

    def _tables(self, node: str) -> list[tuple[str, dict[str, Any]]]:
        """The tables of choices that hold at a node with their paths, the nearest first."""
        host = self.tree.get("host", {}).get(node, {})
        return [
            (f"flow.{self.flow}.tcp", self.entry.get("tcp", {})),
            (f"host.{node}.tcp", host.get("tcp", {})),
            ("tcp", self.tree.get("tcp", {})),
        ]

    def tcp(self, node: str) -> dict[str, Any]:
        """All choices about TCP that hold at a node."""
        named: dict[str, Any] = {}
        for _path, table in reversed(self._tables(node)):
            named |= table
        found = {**profiles()[named.get("profile", DEFAULT_PROFILE)], **named}
        for buffer in ("receive_window", "send_buffer"):
            # A size that is named is all there from the beginning, as with SO_RCVBUF.
            if buffer in named and f"initial_{buffer}" not in named:
                found.pop(f"initial_{buffer}", None)
        return found

    def path_of(self, key: str, node: str) -> str:
        """The dotted path that sets a choice at a node: where the scenario names it, or for all hosts."""
        for path, table in self._tables(node):
            if key in table:
                return f"{path}.{key}"
        return f"tcp.{key}"

    def size(self, key: str, node: str) -> float | None:
        """A choice as a number: bytes, or segments turned into bytes."""
        value = self.tcp(node).get(key)
        found = number(value)
        if found is not None and isinstance(value, str) and "segments" in value:
            found *= self.mss(node)
        return found

    def mss(self, node: str) -> float:
        """The largest segment in bytes."""
        return number(self.tcp(node).get("mss")) or 1460.0

    @cached_property
    def hops(self) -> tuple[Hop, ...]:
        """The links from the sender to the receiver, on a way with the fewest links."""
        links: dict[str, dict[str, Any]] = self.tree.get("link", {})
        ways: list[tuple[str, tuple[Hop, ...]]] = [(self.sender, ())]
        seen = {self.sender}
        for node, hops in ways:
            if node == self.receiver:
                return hops
            for name, link in links.items():
                ends = link["between"]
                if node in ends:
                    way = ends.index(node)
                    if (other := ends[1 - way]) not in seen:
                        seen.add(other)
                        ways.append((other, (*hops, Hop(name, way))))
        return ()

    def link(self, hop: Hop, key: str) -> Any:
        """A key of a link in the direction of the data; None if it is not there."""
        return directed(self.tree["link"][hop.name].get(key), hop.way)

    @cached_property
    def bottleneck(self) -> Hop | None:
        """The link with the lowest rate; None if no link of the path has one."""
        rated = [(bps, hop) for hop in self.hops if (bps := number(self.link(hop, "rate"))) is not None]
        return min(rated, key=lambda each: each[0])[1] if rated else None

    @property
    def rate_bps(self) -> float | None:
        """The rate of the bottleneck; None if it has none, or varies."""
        return None if self.bottleneck is None else number(self.link(self.bottleneck, "rate"))

    @property
    def lowest_bps(self) -> float | None:
        """The lowest rate of links, shapers and policers of the path; None if there is none."""
        buckets = [self.link(hop, key) for hop in self.hops for key in ("policer", "shaper")]
        rates = [number(bucket.get("rate")) for bucket in buckets if isinstance(bucket, dict)]
        known = [each for each in (self.rate_bps, *rates) if each is not None]
        return min(known) if known else None

    @property
    def used(self) -> float:
        """The goodput as a share of the lowest rate of the path."""
        return self.goodput_bps / self.lowest_bps if self.lowest_bps else 0.0

    @cached_property
    def base_rtt_s(self) -> float:
        """The RTT of the empty path."""
        known = [each for each in (self.rtt_min_s, self._propagation_s) if each]
        return min(known) if known else 0.1

    @property
    def _propagation_s(self) -> float | None:
        """The delays of all links together; None where a delay varies."""
        links = self.tree["link"]
        delays = [number(directed(links[hop.name].get("delay"), way)) for hop in self.hops for way in (0, 1)]
        known = [delay for delay in delays if delay is not None]
        return sum(known) if len(known) == len(delays) else None

    @property
    def bdp(self) -> float:
        """The bandwidth-delay product in bytes; 0 if the rate is not known."""
        return (self.rate_bps or 0.0) * self.base_rtt_s / 8
