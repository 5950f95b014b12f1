"""Remedies against losses and their repair.

Lives here: one function for each remedy. Must not live here: the choice among remedies, or congestion control.
"""

from __future__ import annotations

from netspurt.remedies.quantities import number, size
from netspurt.remedies.remedy import Remedy, commands
from netspurt.remedies.situation import Situation
from netspurt.settings import Value

WITHOUT_SACK = ("timeout", "tahoe", "reno", "newreno")


def sack(situation: Situation) -> Remedy | None:
    """Selective acknowledgements at both ends, and a recovery that uses them."""
    settings: dict[str, Value] = {
        situation.path_of("sack", node): True
        for node in situation.nodes
        if not situation.tcp(node).get("sack")
    }
    settings |= _unstripped(situation)
    if not settings:
        return None
    sender = situation.sender
    if situation.tcp(sender).get("recovery") in WITHOUT_SACK:
        settings[situation.path_of("recovery", sender)] = "sack"
    words = "Use selective acknowledgements: all losses of a window are repaired within a round trip."
    return Remedy("sack", "fast-recovery", words, settings, ("sysctl -w net.ipv4.tcp_sack=1",))


def _unstripped(situation: Situation) -> dict[str, Value]:
    """No middlebox that removes SACK."""
    settings: dict[str, Value] = {}
    for hop in situation.hops:
        box = situation.tree["link"][hop.name].get("middlebox")
        if isinstance(box, dict) and "sack" in box.get("strip", ()):
            kept = [name for name in box["strip"] if name != "sack"]
            settings[f"link.{hop.name}.middlebox"] = {**box, "strip": kept}
    return settings


def rack_and_tlp(situation: Situation) -> Remedy | None:
    """Loss detection by time, and a probe at the end of a flight (RFC 8985)."""
    sender = situation.sender
    tcp = situation.tcp(sender)
    if tcp.get("recovery") == "rack" and tcp.get("tail_loss_probe"):
        return None
    base = sack(situation)
    settings: dict[str, Value] = {
        **({} if base is None else base.settings),
        situation.path_of("recovery", sender): "rack",
        situation.path_of("tail_loss_probe", sender): True,
    }
    words = "Detect losses by time (RACK) and probe the end of a flight (TLP): most timeouts are avoided."
    how = commands("timeout", "tcp_recovery")
    return Remedy("rack-and-tlp", "timeout", words, settings, how)


def undo(situation: Situation) -> Remedy | None:
    """Spurious retransmissions are noticed, and the reduction of cwnd is taken back."""
    sender = situation.sender
    if situation.tcp(sender).get("undo"):
        return None
    # Undo works with loss detection by time alone.
    base = rack_and_tlp(situation)
    settings: dict[str, Value] = {
        **({} if base is None else base.settings),
        situation.path_of("undo", sender): True,
    }
    for node in situation.nodes:
        if not situation.tcp(node).get("timestamps"):
            settings[situation.path_of("timestamps", node)] = True
    words = "Use timestamps, D-SACK and F-RTO: the sender undoes its reaction to a retransmission that was not needed."
    return Remedy("undo", "spurious", words, settings, commands("spurious", "tcp_frto"))


def parallel_connections(situation: Situation) -> Remedy | None:
    """The same bytes over four connections at once."""
    app, path = situation.app, f"flow.{situation.flow}"
    if app["kind"] != "bulk" or not (octets := number(app.get("bytes"))) or octets < 40_000:
        return None
    count = int(situation.entry.get("count", 1))
    words = (
        "Transfer over four connections at once: each has windows of its own, and a loss slows only one of them. "
        "The transfer takes a larger share from others."
    )
    return Remedy(
        "parallel-connections",
        "congestion-window",
        words,
        {f"{path}.count": 4 * count, f"{path}.app.bytes": size(octets / 4)},
        ("aria2c -x 4 URL", "rclone copy --transfers 4 SOURCE TARGET"),
    )
