"""Remedies that replace the congestion control, or the signals that it reacts to.

Lives here: one function for each remedy. Must not live here: the choice among remedies.
"""

from __future__ import annotations

from netspurt.remedies.remedy import Remedy, commands
from netspurt.remedies.situation import Situation
from netspurt.settings import Value

CONTROL = "net.ipv4.tcp_congestion_control"

CUBIC = ("cubic", "cubic-linux")

MARKING = ("red", "codel", "fq-codel", "pie", "fq-pie", "cake", "dualpi2")
"""Queues that can mark packets instead of dropping them."""


def cubic(situation: Situation) -> Remedy | None:
    """CUBIC in place of an older controller."""
    if situation.tcp(situation.sender).get("congestion") in (*CUBIC, "bbr", "bbr3", "prague"):
        return None
    words = "CUBIC grows faster than the present controller on paths with a large bandwidth-delay product."
    settings: dict[str, Value] = {situation.path_of("congestion", situation.sender): "cubic"}
    return Remedy("cubic", "congestion-window", words, settings, (f"sysctl -w {CONTROL}=cubic",))


def bbr(situation: Situation) -> Remedy | None:
    """BBR, with pacing."""
    sender = situation.sender
    if situation.tcp(sender).get("congestion") in ("bbr", "bbr3"):
        return None
    words = "BBR sends at the rate that the path delivers: sparse losses do not slow it down."
    settings: dict[str, Value] = {
        situation.path_of("congestion", sender): "bbr",
        situation.path_of("pacing", sender): True,
        **_hystart_off(situation),
    }
    return Remedy("bbr", "congestion-window", words, settings, commands("congestion-window", "bbr"))


def prague(situation: Situation) -> Remedy | None:
    """Prague with accurate ECN, and a DualPI2 queue at the bottleneck."""
    sender, hop = situation.sender, situation.bottleneck
    if situation.tcp(sender).get("congestion") == "prague" or hop is None:
        return None
    settings: dict[str, Value] = {
        situation.path_of("congestion", sender): "prague",
        situation.path_of("pacing", sender): True,
        **_hystart_off(situation),
        f"link.{hop.name}.queue": {"kind": "dualpi2"},
    }
    for node in situation.nodes:
        settings[situation.path_of("ecn", node)] = "rfc9768"
    words = "Prague reacts to many small marks (L4S): it keeps the rate with a short queue, which must support it."
    how = (
        f"sysctl -w {CONTROL}=prague",
        "sysctl -w net.ipv4.tcp_ecn=3",
        "tc qdisc replace dev DEV root dualpi2",
    )
    return Remedy("prague", "bottleneck", words, settings, how)


def _hystart_off(situation: Situation) -> dict[str, Value]:
    sender = situation.sender
    if situation.tcp(sender).get("hystart", "off") == "off":
        return {}
    return {situation.path_of("hystart", sender): "off"}


def pacing(situation: Situation) -> Remedy | None:
    """Segments leave one by one instead of in bursts."""
    sender = situation.sender
    if situation.tcp(sender).get("pacing"):
        return None
    words = "Pace the segments: bursts of a whole window do not overflow a short queue."
    settings: dict[str, Value] = {situation.path_of("pacing", sender): True}
    return Remedy(
        "pacing",
        "fast-recovery",
        words,
        settings,
        ("sysctl -w net.core.default_qdisc=fq", "tc qdisc replace dev DEV root fq"),
    )


def no_pacing(situation: Situation) -> Remedy | None:
    """No pacing below the rate of the path."""
    sender = situation.sender
    tcp = situation.tcp(sender)
    if not tcp.get("pacing") or tcp.get("congestion") in ("bbr", "bbr3", "prague"):
        return None
    words = "Do not pace: the sender's pacing rate is below the rate of the path."
    settings: dict[str, Value] = {situation.path_of("pacing", sender): False}
    return Remedy("no-pacing", "pacing", words, settings, commands("pacing", "ss -tin"))


def ecn(situation: Situation) -> Remedy | None:
    """ECN at both ends, and a queue at the bottleneck that marks."""
    hop = situation.bottleneck
    queue = None if hop is None else situation.link(hop, "queue")
    if hop is None or not isinstance(queue, dict):
        return None
    settings: dict[str, Value] = {
        situation.path_of("ecn", node): "rfc3168"
        for node in situation.nodes
        if situation.tcp(node).get("ecn") in (None, "off", "accept")
    }
    if queue["kind"] not in MARKING:
        settings[f"link.{hop.name}.queue"] = {"kind": "fq-codel", "ecn": True}
    elif queue["kind"] not in ("cake", "dualpi2") and not queue.get("ecn"):
        settings[f"link.{hop.name}.queue"] = {**queue, "ecn": True}
    if not settings:
        return None
    words = "Use ECN: a queue that marks packets reports congestion to the sender without a loss."
    how = (*commands("fast-recovery", "tcp_ecn"), "tc qdisc replace dev DEV root fq_codel ecn")
    return Remedy("ecn", "fast-recovery", words, settings, how)
