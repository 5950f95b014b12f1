"""Advice for each limit."""

from __future__ import annotations

from typing import Any

import pytest

from netspurt.diagnosing.limits import LIMITS
from netspurt.diagnosing.remedies_text import LEAST_SHARE, advice, has_bufferbloat, of_limit


def direction(*lines: tuple[str, float, dict[str, float]], **more: Any) -> dict[str, Any]:
    budget = [
        {"limit": limit, "share": share, "seconds": 10 * share, "evidence": evidence}
        for limit, share, evidence in lines
    ]
    return {"rtt_min_s": 0.02, "budget": budget, **more}


@pytest.mark.parametrize("limit", [name for name in LIMITS if name != "teardown"])
def test_each_limit_has_advice_in_sentences(limit: str) -> None:
    found = of_limit(limit, {}, direction((limit, 1.0, {})))
    assert found
    for each in found:
        assert each.limit == limit
        assert each.where in ("sender", "receiver", "path", "program")
        assert each.words.endswith(".")
        assert all(command == command.strip() for command in each.commands)


def test_the_buffer_holds_four_windows_and_is_never_below_the_default() -> None:
    small = of_limit("receive-window", {"window_bytes": 200_000.0}, direction())
    assert small[0].commands == ("sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",)
    large = of_limit("receive-window", {"window_bytes": 8.0 * 2**20}, direction())
    assert large[0].commands == (f"sysctl -w net.ipv4.tcp_rmem='4096 131072 {32 * 2**20}'",)
    assert len(large) == 1
    unscaled = of_limit("receive-window", {"window_bytes": 65535.0}, direction())
    assert unscaled[0].commands == ("sysctl -w net.ipv4.tcp_window_scaling=1",)


def test_scaling_is_named_only_for_windows_that_stop_at_64_kib() -> None:
    for window, scaling in ((65535, True), (64240, True), (32768, False), (65536, False)):
        found = of_limit("receive-window", {"window_bytes": float(window)}, direction())
        assert any("tcp_window_scaling" in command for each in found for command in each.commands) == scaling


def test_a_long_queue_is_named_bufferbloat() -> None:
    evidence = {"rate_bps": 20e6, "queueing_s": 0.1}
    assert has_bufferbloat(evidence, direction())
    assert not has_bufferbloat(evidence | {"queueing_s": 0.01}, direction())
    assert not has_bufferbloat(evidence, direction(rtt_min_s=None))
    found = of_limit("bottleneck", evidence, direction())
    assert found[1].commands == ("tc qdisc replace dev DEV root cake bandwidth 19mbit",)
    assert "100 ms to a round trip of 20 ms" in found[1].words


def test_where_nothing_was_lost_no_loss_is_to_be_repaired() -> None:
    lossy, marked = (of_limit("congestion-window", {}, {**direction(), "retransmitted": n}) for n in (3, 0))
    assert "losses" in lossy[0].words
    assert "marks" in marked[0].words
    assert not any("losses" in each.words for each in marked)


def test_limits_of_little_time_get_no_advice() -> None:
    lines = [("timeout", 0.9, {}), ("slow-start", LEAST_SHARE / 2, {})]
    assert {each.limit for each in advice(direction(*lines))} == {"timeout"}
    many = direction(*((name, 0.2, {}) for name in ("timeout", "slow-start", "outage", "policer")))
    assert {each.limit for each in advice(many)} == {"timeout", "slow-start", "outage"}


def test_a_long_handshake_points_to_the_accept_queue() -> None:
    assert "lost SYN" in advice(direction(("handshake", 1.0, {})))[0].words
    assert "lost SYN" not in advice(direction(("handshake", 0.05, {})))[0].words


def test_an_application_that_only_waits_for_its_last_acks_gets_no_advice() -> None:
    def advised(*limits: str, last_s: float) -> set[str]:
        evidence = {"rtt_s": 0.2}
        intervals = [
            {"from_s": float(n), "until_s": n + 1.0, "limit": limit} for n, limit in enumerate(limits)
        ]
        intervals[-1]["until_s"] = intervals[-1]["from_s"] + last_s
        lines = [("bottleneck", 0.9, evidence), ("application", 0.1, {})]
        return {each.limit for each in advice(direction(*lines, intervals=intervals))}

    assert advised("bottleneck", "application", last_s=0.25) == {"bottleneck"}
    assert "application" in advised("bottleneck", "application", last_s=0.5), "it sends nothing for longer"
    assert "application" in advised("application", "bottleneck", last_s=0.25)
    assert "application" in advised("application", "bottleneck", "application", last_s=0.25)
