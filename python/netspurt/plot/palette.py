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

LIMITS = {
    **dict.fromkeys(("bottleneck", "cross-traffic", "shaper", "round-trip"), BLUE),
    **dict.fromkeys(("receive-window", "slow-receiver", "nagle-delayed-ack"), ORANGE),
    **dict.fromkeys(("application", "application-window", "send-buffer"), GREEN),
    **dict.fromkeys(("slow-start", "congestion-window", "idle-restart", "pacing"), VIOLET),
    **dict.fromkeys(("fast-recovery", "timeout", "tail-loss", "reordering", "spurious"), RED),
    **dict.fromkeys(("policer", "path-mtu", "outage", "ack-path"), BLACK),
    **dict.fromkeys(("handshake", "teardown"), GREY),
    "unknown": LIGHT,
}
"""The colour of each limit of a transfer, by the part that limits: path, receiver, sending host, cwnd, repair."""


def limit_colour(limit: str) -> str:
    """The colour of a limit; grey for one that is not known."""
    return LIMITS.get(limit, LIGHT)
