"""Colours, line styles and markers by name, without any drawing library: the page of a report uses them too."""

from __future__ import annotations

from typing import TypeAlias

Dash: TypeAlias = str | tuple[float, tuple[float, ...]]
"""As matplotlib has it: a word, or an offset and lengths in points."""

BLUE, ORANGE, GREEN, RED, VIOLET, GREY = "#0b5fa5", "#c45a00", "#1b7837", "#b2182b", "#762a83", "#666666"
"""Chosen to differ in lightness as well as in hue."""

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
"""For more lines than ``STYLES`` has; beyond these nobody can tell them apart."""

DENSE = 4000
"""From so many points on, a scatter is stored as pixels inside the picture instead of as shapes."""

REASONS = {
    "fast-retransmit": (RED, "^", "resent: third duplicate ACK"),
    "partial-ack": (ORANGE, "v", "resent: partial ACK"),
    "sack-hole": (ORANGE, "D", "resent: SACK hole"),
    "sack-rescue": (ORANGE, "d", "resent: SACK rescue"),
    "rack-loss": (ORANGE, "P", "resent: overtaken in time"),
    "tail-probe": (BLUE, "*", "resent: tail loss probe"),
    "too-big": (BLUE, "p", "resent: too long for the path"),
    "nak-resend": (GREEN, "h", "resent: NAK"),
    "timeout": (RED, "X", "resent: timeout"),
    "go-back-n": (VIOLET, "s", "resent: go back N"),
    "syn-data-again": (VIOLET, "<", "resent: refused with the SYN"),
    "unexplained": (GREY, "o", "resent: no reason seen"),
}
"""Colour, marker and words for each reason to send data again."""

BEST = "the best"
"""The mark of the best cell of a heat map, which is drawn as a star."""
