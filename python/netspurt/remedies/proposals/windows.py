"""Remedies against windows and buffers that are too small.

Lives here: one function for each remedy. Must not live here: the choice among remedies.
"""

from __future__ import annotations

from typing import Any

from netspurt.diagnosing.remedies_text import BUFFER, MIB
from netspurt.remedies.quantities import number, size
from netspurt.remedies.remedy import Remedy, commands
from netspurt.remedies.situation import Situation
from netspurt.settings import Value

UNSCALED = 65535
"""The largest window without the window scale option (RFC 7323, section 2.2)."""

START = {"receive_window": "64 KiB", "send_buffer": "16 KiB"}
"""The sizes from which the buffers of Linux grow."""


def _room(situation: Situation) -> float:
    """A buffer for four times the bandwidth-delay product, in whole MiB, and no less than the default of Linux."""
    return max(BUFFER, -(-int(4 * situation.bdp) // MIB) * MIB)


def larger_receive_window(situation: Situation) -> Remedy | None:
    """A receive buffer that may grow to four times the bandwidth-delay product."""
    node, room = situation.receiver, _room(situation)
    now = situation.size("receive_window", node)
    if now is None or now >= room:
        return None
    return Remedy(
        "larger-receive-window",
        "receive-window",
        f"Let the receive window grow to {size(room)} instead of {size(now)}: raise the maximum of the receive "
        "buffer, and remove SO_RCVBUF from the program.",
        {**_buffer(situation, "receive_window", node, room), **_scaled(situation)},
        commands("receive-window", "tcp_rmem", {"window_bytes": room / 4}),
    )


def larger_send_buffer(situation: Situation) -> Remedy | None:
    """A send buffer that may grow to four times the bandwidth-delay product."""
    node, room = situation.sender, _room(situation)
    now = situation.size("send_buffer", node)
    if now is None or now >= room:
        return None
    return Remedy(
        "larger-send-buffer",
        "send-buffer",
        f"Let the send buffer grow to {size(room)} instead of {size(now)}: raise its maximum, and remove SO_SNDBUF "
        "from the program.",
        _buffer(situation, "send_buffer", node, room),
        commands("send-buffer", "tcp_wmem", {"flight_bytes": room / 4}),
    )


def window_scaling(situation: Situation) -> Remedy | None:
    """Window scaling at both ends, with the receive window that it makes possible."""
    settings = _scaled(situation)
    if not settings:
        return None
    node = situation.receiver
    now = situation.size("receive_window", node) or 0.0
    if now <= UNSCALED:
        settings |= _buffer(situation, "receive_window", node, _room(situation))
    return Remedy(
        "window-scaling",
        "receive-window",
        "Use window scaling: both ends must offer it in their SYN, and no middlebox may remove it.",
        settings,
        commands("receive-window", "tcp_window_scaling", {"window_bytes": UNSCALED}),
    )


def _buffer(situation: Situation, key: str, node: str, room: float) -> dict[str, Value]:
    path = situation.path_of(key, node)
    return {
        path: size(room),
        f"{path.removesuffix(key)}initial_{key}": START[key],
    }


def _scaled(situation: Situation) -> dict[str, Value]:
    """What makes window scaling possible; nothing if it is."""
    settings: dict[str, Value] = {}
    for node in situation.nodes:
        if situation.tcp(node).get("window_option") == "none":
            settings[situation.path_of("window_option", node)] = "rfc7323"
    for hop in situation.hops:
        boxes = situation.tree["link"][hop.name].get("middlebox")
        if any("window-scaling" in box.get("strip", ()) for box in _tables(boxes)):
            kept = [_without(box) for box in boxes] if isinstance(boxes, list) else _without(boxes)
            settings[f"link.{hop.name}.middlebox"] = kept
        limits = [number(box.get("window")) for box in _tables(boxes)]
        if any(limit is not None and limit <= UNSCALED for limit in limits):
            kept = [_open(box) for box in boxes] if isinstance(boxes, list) else _open(boxes)
            settings[f"link.{hop.name}.middlebox"] = kept
    return settings


def _tables(boxes: object) -> list[dict[str, Any]]:
    return [box for box in (boxes if isinstance(boxes, list) else [boxes]) if isinstance(box, dict)]


def _without(box: Value) -> Value:
    if not isinstance(box, dict):
        return box
    return {**box, "strip": [name for name in box.get("strip", ()) if name != "window-scaling"]}


def _open(box: Value) -> Value:
    return {key: value for key, value in box.items() if key != "window"} if isinstance(box, dict) else box
