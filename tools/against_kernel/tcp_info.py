"""TCP_INFO: where its fields are (include/uapi/linux/tcp.h)."""

from __future__ import annotations

import struct

LENGTH = 288
PLACES = {
    "state": ("B", 0),
    "ca_state": ("B", 1),
    "retransmits": ("B", 2),
    "backoff": ("B", 4),
    "options": ("B", 5),
    "scales": ("B", 6),
    "rto": ("I", 8),
    "snd_mss": ("I", 16),
    "unacked": ("I", 24),
    "sacked": ("I", 28),
    "lost": ("I", 32),
    "retrans": ("I", 36),
    "rtt": ("I", 68),
    "rttvar": ("I", 72),
    "snd_ssthresh": ("I", 76),
    "snd_cwnd": ("I", 80),
    "reordering": ("I", 88),
    "total_retrans": ("I", 100),
    "notsent_bytes": ("I", 144),
    "min_rtt": ("I", 148),
}
"""Format and offset of each field that is compared or shown."""


def field_of(info: bytes, name: str) -> int:
    """A field."""
    form, offset = PLACES[name]
    return int(struct.unpack_from(form, info, offset)[0])
