"""Remedies against waits for short segments: Nagle's rule at one end, the delayed ACK at the other.

Lives here: one function for each remedy. Must not live here: the choice among remedies.
"""

from __future__ import annotations

from netspurt.remedies.quantities import number, size
from netspurt.remedies.remedy import Remedy, commands
from netspurt.remedies.situation import Situation
from netspurt.settings import Value

LIMIT = "nagle-delayed-ack"


def no_nagle(situation: Situation) -> Remedy | None:
    """No short segment waits at either end."""
    settings: dict[str, Value] = {}
    for node in situation.nodes:
        if situation.tcp(node).get("transmit") != "nodelay":
            settings[situation.path_of("transmit", node)] = "nodelay"
    if not settings:
        return None
    return Remedy(
        "no-nagle",
        LIMIT,
        "Turn Nagle's algorithm off, so that a short segment does not wait for an ACK.",
        settings,
        (
            *commands(LIMIT, "TCP_NODELAY"),
            "nginx: tcp_nodelay on;",
        ),
    )


def no_delayed_ack(situation: Situation) -> Remedy | None:
    """Every segment is acknowledged at once at both ends."""
    settings: dict[str, Value] = {}
    for node in situation.nodes:
        if _kind(situation.tcp(node).get("acking")) != "every-segment":
            settings[situation.path_of("acking", node)] = "every-segment"
    if not settings:
        return None
    return Remedy(
        "no-delayed-ack",
        LIMIT,
        "Acknowledge every segment at once, where the sending program cannot be changed.",
        settings,
        commands(LIMIT, "quickack"),
    )


def one_write(situation: Situation) -> Remedy | None:
    """Each message is written with one call."""
    settings: dict[str, Value] = {}
    for key in ("request", "response"):
        message = situation.app.get(key)
        if not isinstance(message, dict) or not (message.get("writes") or message.get("piece")):
            continue
        length = message.get("size")
        if length is None:
            length = size(sum(number(each) or 0.0 for each in message["writes"]))
        settings[f"flow.{situation.flow}.app.{key}"] = length
    if not settings:
        return None
    return Remedy(
        "one-write",
        LIMIT,
        "Write each message with one call instead of several, so that no short segment is left over.",
        settings,
        (
            "writev(fd, pieces, count)",
            "setsockopt(fd, IPPROTO_TCP, TCP_CORK, &one, sizeof one)",
            "nginx: tcp_nopush on;",
        ),
    )


def _kind(value: object) -> object:
    return value.get("kind") if isinstance(value, dict) else value
