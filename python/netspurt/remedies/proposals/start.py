"""Remedies against the cost of beginnings: handshakes, slow start, restarts after a pause.

Lives here: one function for each remedy. Must not live here: the choice among remedies.
"""

from __future__ import annotations

from typing import Any

from netspurt.remedies.quantities import number
from netspurt.remedies.remedy import Remedy, commands
from netspurt.remedies.situation import Situation
from netspurt.settings import Value

STANDARD, LARGER = 10, 20
"""Initial windows in segments: RFC 6928, and the next power of two."""


def initial_window(situation: Situation) -> Remedy | None:
    """An initial window of ten segments; of twenty where it is ten already."""
    now = _segments(situation)
    if now is None or now >= LARGER:
        return None
    wanted = STANDARD if now < STANDARD else LARGER
    words = f"Send {wanted} segments instead of {now:g} in the first round trip: short transfers end earlier."
    route = commands("slow-start", "initcwnd")[0].replace(f"initcwnd {LARGER}", f"initcwnd {wanted}")
    path = situation.path_of("initial_window", situation.sender)
    return Remedy(f"initial-window-{wanted}", "slow-start", words, {path: f"{wanted} segments"}, (route,))


def _segments(situation: Situation) -> float | None:
    """The initial window in segments."""
    value = situation.tcp(situation.sender).get("initial_window")
    if isinstance(value, str) and value.startswith("rfc"):
        # RFC 2581, RFC 3390 and RFC 6928 for segments of the usual size.
        return {"rfc2581": 2.0, "rfc3390": 3.0, "rfc6928": 10.0}.get(value)
    if (found := number(value)) is None:
        return None
    return (
        found
        if not isinstance(value, str) or "segments" in value
        else found / situation.mss(situation.sender)
    )


def no_idle_restart(situation: Situation) -> Remedy | None:
    """No reduction of cwnd over pauses."""
    settings: dict[str, Value] = {
        situation.path_of("idle_restart", node): False
        for node in situation.nodes
        if situation.tcp(node).get("idle_restart")
    }
    if not settings:
        return None
    words = "Keep cwnd over pauses of the application."
    how = commands("idle-restart", "tcp_slow_start_after_idle")
    return Remedy("no-idle-restart", "idle-restart", words, settings, how)


def keep_connection(situation: Situation) -> Remedy | None:
    """All files over one connection that stays open."""
    app, path = situation.app, f"flow.{situation.flow}.app"
    settings: dict[str, Value] = {}
    if app["kind"] == "web":
        http = app.get("http")
        if isinstance(http, dict) and http.get("lasts") == "session":
            return None
        order = http.get("order", "in-turn") if isinstance(http, dict) else "in-turn"
        settings = {f"{path}.http": {"kind": "1.1", "order": order, "lasts": "session"}}
    elif app["kind"] == "files" and (kept := _exchanges(app)) is not None:
        settings = {path: kept}
    if not settings:
        return None
    words = "Keep the connection open for the next file: no further handshake, and cwnd stays open."
    how = ("nginx: keepalive_timeout 75s; keepalive_requests 1000;", "curl: several URLs in one call")
    return Remedy("keep-connection", "handshake", words, settings, how)


def _exchanges(app: dict[str, Any]) -> dict[str, Value] | None:
    """The same files over one connection; None where sizes or pauses are drawn at random."""
    names = ("size", "request", "think")
    if not all(isinstance(app.get(name), str) for name in names):
        return None
    return {
        "kind": "request-response",
        "request": app["request"],
        "response": {"size": app["size"]},
        "exchanges": app.get("transfers", "forever"),
        "gap": app["think"],
    }


def fast_open(situation: Situation) -> Remedy | None:
    """Data with the SYN, where connections are opened again and again."""
    if situation.app["kind"] not in ("web", "files"):
        return None
    settings: dict[str, Value] = {
        situation.path_of("fast_open", node): "on"
        for node in situation.nodes
        if situation.tcp(node).get("fast_open") != "on"
    }
    if not settings:
        return None
    words = (
        "Send data with the SYN (TCP Fast Open): a repeated connection to the same server saves a round trip."
    )
    return Remedy("fast-open", "handshake", words, settings, commands("handshake", "tcp_fastopen"))
