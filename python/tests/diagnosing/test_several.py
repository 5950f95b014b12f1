"""Connections that were captured at several places."""

from __future__ import annotations

from typing import Any

from netspurt.diagnosing.several import merged


def connection(client: str, start: float, vantage: str, lost: float) -> dict[str, Any]:
    direction = {"bytes": 10, "vantage": vantage}
    directions = [direction, {**direction, "bytes": 0}]
    whole = {"client": client, "server": "s:80", "start_s": start, "lost_s": lost, "connection": 7}
    return {**whole, "directions": directions}


def test_the_place_at_the_sender_is_chosen_and_the_worst_is_first() -> None:
    found = merged(
        {
            "far": [connection("a:1", 0.0, "receiver", 1.0), connection("b:2", 1.0, "sender", 5.0)],
            "near": [connection("a:1", 0.1, "sender", 2.0), connection("b:2", 1.1, "receiver", 6.0)],
        }
    )
    assert [(each["client"], each["captured_at"], each["lost_s"]) for each in found] == [
        ("b:2", "far", 5.0),
        ("a:1", "near", 2.0),
    ]
    assert [each["connection"] for each in found] == [0, 1]


def test_a_port_that_is_used_again_is_another_connection() -> None:
    again = [connection("a:1", 9.0, "sender", 3.0), connection("a:1", 0.0, "sender", 2.0)]
    there = [connection("a:1", 0.1, "between", 2.5), connection("a:1", 9.1, "between", 3.5)]
    assert [each["lost_s"] for each in merged({"near": again, "far": there})] == [3.0, 2.0]
    assert len(merged({"far": there, "near": again[:1]})) == 2
