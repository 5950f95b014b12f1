"""Remedies at the bottleneck: its queue, its rate, a policer, its MTU.

Lives here: one function for each remedy. Must not live here: the choice among remedies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netspurt.remedies.quantities import directed, number, rate, size, tc_rate
from netspurt.remedies.remedy import Remedy, commands
from netspurt.remedies.situation import PACKET, Situation
from netspurt.settings import Value

BELOW = 0.95
"""A shaper's rate as a share of the rate behind it, so that the queue is here and not there."""

SHAPED = "shaped"
"""The node and the link that a shaper of one's own adds."""

LEAST_PACKETS = 8

BURST = 32 << 10
"""The burst of a shaper, in bytes."""


def fq_codel(situation: Situation) -> Remedy | None:
    """FQ-CoDel at the bottleneck."""
    words = "FQ-CoDel at the bottleneck: each flow has a queue of its own, and each queue stays short."
    how = commands("cross-traffic", "fq_codel")
    return _discipline(situation, "fq-codel", words, {}, how)


def cake(situation: Situation) -> Remedy | None:
    """CAKE at the bottleneck, slightly below its rate."""
    bps = situation.rate_bps
    if bps is None:
        return None
    words = (
        "CAKE slightly below the rate of the bottleneck: fair between hosts and flows, with a short queue."
    )
    how = (f"tc qdisc replace dev DEV root cake bandwidth {tc_rate(BELOW * bps)}",)
    return _discipline(situation, "cake", words, {"bandwidth": rate(BELOW * bps)}, how)


def pie(situation: Situation) -> Remedy | None:
    """PIE at the bottleneck."""
    words = "PIE at the bottleneck: one queue that drops early enough to stay near 15 ms."
    return _discipline(situation, "pie", words, {}, ("tc qdisc replace dev DEV root pie",))


def _discipline(
    situation: Situation, kind: str, words: str, more: Mapping[str, Value], how: tuple[str, ...]
) -> Remedy | None:
    hop = situation.bottleneck
    if hop is None:
        return None
    now = situation.link(hop, "queue")
    if isinstance(now, dict) and now["kind"] == kind:
        return None
    settings: dict[str, Value] = {f"link.{hop.name}.queue": {"kind": kind, **more}}
    return Remedy(kind, "bottleneck", words, settings, how)


def shorter_queue(situation: Situation) -> Remedy | None:
    """A queue for one round trip of the empty path."""
    hop, bps = situation.bottleneck, situation.rate_bps
    if hop is None or bps is None:
        return None
    queue = situation.link(hop, "queue")
    packets = max(round(situation.bdp / PACKET), LEAST_PACKETS)
    if isinstance(queue, dict):
        limit = number(queue.get("limit"))
        held = None if limit is None or "packets" in str(queue["limit"]) else limit / PACKET
        now = limit if held is None else held
        if queue["kind"] != "drop-tail" or now is None or now <= 1.2 * packets:
            return None
    words = (
        f"A shorter queue at the bottleneck: {packets} packets, the data of one round trip. It keeps the rate of most "
        "transfers and bounds the delay."
    )
    how = (
        f"tc qdisc replace dev DEV root pfifo limit {packets}",
        f"ip link set dev DEV txqueuelen {packets}",
    )
    settings: dict[str, Value] = {
        f"link.{hop.name}.queue": {"kind": "drop-tail", "limit": f"{packets} packets"}
    }
    return Remedy("shorter-queue", "bottleneck", words, settings, how)


def higher_rate(situation: Situation) -> Remedy | None:
    """Twice the rate of the bottleneck: what a path with more capacity would bring."""
    hop, bps = situation.bottleneck, situation.rate_bps
    if hop is None or bps is None or situation.link(hop, "trace"):
        return None
    link = situation.tree["link"][hop.name]
    rates = [number(directed(link["rate"], way)) or 0.0 for way in (0, 1)]
    doubled: Value = [rate(2 * each) for each in rates] if isinstance(link["rate"], list) else rate(2 * bps)
    settings: dict[str, Value] = {f"link.{hop.name}.rate": doubled}
    for key in ("shaper", "policer"):
        if (bucket := link.get(key)) is not None:
            settings[f"link.{hop.name}.{key}"] = (
                [_doubled(each) for each in bucket] if isinstance(bucket, list) else _doubled(bucket)
            )
    now = situation.lowest_bps or bps
    words = f"A path of {tc_rate(2 * now)} instead of {tc_rate(now)}."
    return Remedy("higher-rate", "bottleneck", words, settings, ())


def _doubled(bucket: Any) -> Value:
    """A token bucket with twice the rate; "none" stays."""
    now = number(bucket.get("rate")) if isinstance(bucket, dict) else None
    found: Value = bucket if now is None else {**bucket, "rate": rate(2 * now)}
    return found


def shaper_below_policer(situation: Situation) -> Remedy | None:
    """A shaper before the policer, slightly below its rate."""
    for hop in situation.hops:
        policer = situation.link(hop, "policer")
        bps = number(policer.get("rate")) if isinstance(policer, dict) else None
        if bps is None:
            continue

        # What leaves at once must find tokens in the policer's bucket.
        burst = min(BURST, max(round((number(policer.get("burst")) or BURST) / 2), 2 * PACKET))

        def rewrite(tree: dict[str, Any], name: str = hop.name, bps: float = bps, burst: int = burst) -> None:
            _insert(tree, name, situation.sender, BELOW * bps, burst)

        words = "Shape the traffic slightly below the rate of the policer, so that packets wait and are not dropped."
        how = tuple(
            line.replace("burst 32kb", f"burst {burst}b") if burst < BURST else line
            for line in commands("policer", "tbf", {"rate_bps": bps})
        )
        shown: dict[str, Value] = {f"link.{SHAPED}.shaper.rate": rate(BELOW * bps)}
        return Remedy("shaper-below-policer", "policer", words, shown, how, rewrite=rewrite)
    return None


def _insert(tree: dict[str, Any], name: str, sender: str, bps: float, burst: int) -> None:
    """Puts a shaper between the sender and its first link."""
    first = next(link for link in tree["link"].values() if sender in link["between"])
    link = tree["link"][name] if sender in tree["link"][name]["between"] else first
    link["between"] = [SHAPED if node == sender else node for node in link["between"]]
    tree["link"][SHAPED] = {
        "between": [sender, SHAPED],
        "delay": "0 s",
        "queue": {"kind": "drop-tail", "limit": f"{max(round(bps * 0.05 / 8 / PACKET), 40)} packets"},
        "shaper": [{"rate": rate(bps), "burst": size(burst)}, "none"],
    }


def mss_clamp(situation: Situation) -> Remedy | None:
    """Segments that fit the smallest MTU of the path."""
    sizes = [
        found
        for hop in situation.hops
        for table in _entries(situation.tree["link"][hop.name].get("mtu"))
        if (found := number(table.get("size"))) is not None
    ]
    if not sizes:
        return None
    fits = min(sizes) - 40
    settings: dict[str, Value] = {
        situation.path_of("mss", node): size(fits) for node in situation.nodes if situation.mss(node) > fits
    }
    if not settings:
        return None
    words = (
        f"Clamp the MSS to {fits:.0f} bytes at a router, so that no segment is larger than the path takes."
    )
    return Remedy("mss-clamp", "path-mtu", words, settings, commands("path-mtu", "clamp-mss"))


def mtu_probing(situation: Situation) -> Remedy | None:
    """The sender searches for a size that passes."""
    sender = situation.sender
    if situation.tcp(sender).get("path_mtu_discovery") in ("probe", "probe-after-black-hole"):
        return None
    settings: dict[str, Value] = {situation.path_of("path_mtu_discovery", sender): "probe-after-black-hole"}
    words = "Let the sender search for a packet size that passes."
    return Remedy("mtu-probing", "path-mtu", words, settings, commands("path-mtu", "tcp_mtu_probing"))


def _entries(value: Any) -> list[dict[str, Any]]:
    """The tables of a key that takes one, a list, or a list of two lists."""
    if isinstance(value, dict):
        return [value]
    return [table for each in value or () for table in _entries(each)]
