"""Colours, line styles and markers by name, without any drawing library: the report's page uses them too."""

from __future__ import annotations

from typing import TypeAlias

Dash: TypeAlias = str | tuple[float, tuple[float, ...]]
"""A matplotlib line style: a word, or an offset and lengths in points."""

BLUE, ORANGE, GREEN, RED, VIOLET, GREY = "#0b5fa5", "#c45a00", "#1b7837", "#b2182b", "#762a83", "#666666"
"""Colours that differ in lightness as well as in hue."""

BLACK, LIGHT = "#000000", "#999999"

STYLES: tuple[tuple[str, str, str], ...] = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (GREEN, "-.", "^"),
    (VIOLET, ":", "D"),
)
"""For lines of one kind: colour, dash and marker."""

MANY: tuple[tuple[str, Dash, str], ...] = (
    *STYLES,
    (RED, (0, (6, 1, 1, 1, 1, 1)), "v"),
    (GREY, (0, (9, 2)), "P"),
)
"""For more lines than ``STYLES`` has; more than these cannot be distinguished."""

DENSE = 4000
"""From this number of points on, a scatter plot is rasterised."""

REASONS = {
    "fast-retransmit": (RED, "^", "retransmitted: third duplicate ACK"),
    "partial-ack": (ORANGE, "v", "retransmitted: partial ACK"),
    "sack-hole": (ORANGE, "D", "retransmitted: SACK hole"),
    "sack-rescue": (ORANGE, "d", "retransmitted: SACK rescue"),
    "rack-loss": (ORANGE, "P", "retransmitted: RACK"),
    "tail-probe": (BLUE, "*", "tail loss probe"),
    "too-big": (BLUE, "p", "retransmitted: packet too big"),
    "nak-resend": (GREEN, "h", "retransmitted: NAK"),
    "timeout": (RED, "X", "retransmitted: timeout"),
    "go-back-n": (VIOLET, "s", "retransmitted: go-back-N"),
    "syn-data-again": (VIOLET, "<", "retransmitted: SYN data not accepted"),
    "unexplained": (GREY, "o", "retransmitted: unknown reason"),
}
"""Colour, marker and legend text of each reason for a retransmission."""

BEST = "the best"
"""The mark of the best cell of a heat map, drawn as a star."""

FAMILIES = {
    BLUE: ("bottleneck", "cross-traffic", "shaper", "round-trip"),
    ORANGE: ("receive-window", "slow-receiver", "nagle-delayed-ack"),
    GREEN: ("application", "application-window", "send-buffer"),
    VIOLET: ("congestion-window", "slow-start", "idle-restart", "pacing"),
    RED: ("fast-recovery", "timeout", "tail-loss", "reordering", "spurious"),
    BLACK: ("policer", "path-mtu", "outage", "ack-path"),
    GREY: ("handshake", "teardown"),
    LIGHT: ("unknown",),
}
"""The limits by the part that limits: path, receiver, sending host, cwnd, repair, a fault of the path."""

SHADES = (0.0, 0.34, 0.52, 0.64, 0.74)
"""The shares of white in the colours of a family, in its order: neighbours in one band must differ."""


def mixed(colour: str, white: float) -> str:
    """A colour with a share of white."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)


LIMITS = {
    limit: mixed(colour, white)
    for colour, family in FAMILIES.items()
    for limit, white in zip(family, SHADES, strict=False)
}
"""The colour of each limit of a transfer."""


def limit_colour(limit: str) -> str:
    """The colour of a limit; grey for one that is not known."""
    return LIMITS.get(limit, LIGHT)
