"""Sentences about live sockets."""

from __future__ import annotations

from typing import Any

import pytest

from netspurt.sockets.watching import LIMITS, SCHEMA, SHARES
from netspurt.sockets.words import sentence


def row(limit: str, **more: Any) -> dict[str, Any]:
    """Ten seconds, nine of them with this limit."""
    numbers = {name: kind() for name, kind in SCHEMA.items()}
    return (
        numbers
        | {"limit": limit, "duration_s": 10.0, SHARES[limit]: 9.0, "rtt_s": 0.08, "min_rtt_s": 0.07}
        | more
    )


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_has_a_sentence_with_its_time(limit: str) -> None:
    assert sentence(row(limit)).startswith("9 s of 10 s (90 %): ")


def test_a_window_is_named_with_its_size() -> None:
    assert "at most 65.5 kB, RTT 80 ms" in sentence(row("receive-window", largest_window_bytes=65536))


def test_a_receiver_is_distinguished_from_an_idle_application() -> None:
    said = sentence(row("application", bytes_received=10**8, bytes_acked=10))
    assert said.startswith("this end receives (100 MB)")
    assert "reads slowly" not in said
    full = row("application", bytes_received=10**8, unread_bytes=50_000, receive_buffer_bytes=131_072)
    assert "50 kB wait to be read: the application here reads slowly" in sentence(full)
