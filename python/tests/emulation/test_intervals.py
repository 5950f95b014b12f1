"""The interval reports of ``netspurt host``."""

from __future__ import annotations

from typing import Any

from netspurt.emulation.intervals import Intervals, sentence


def row(remote: str, sent: int, received: int = 0, again: int = 0) -> dict[str, Any]:
    return {
        **{"local": "10.99.0.2:9", "remote": remote, "bytes_sent": sent},
        **{"bytes_received": received, "retransmitted": again},
    }


def test_each_interval_counts_only_what_is_new() -> None:
    intervals = Intervals(100.0)
    (first,) = intervals.report(101.0, [row("a:1", 1_000_000)])
    assert (first["from_s"], first["until_s"], first["bytes_sent"], first["bps"]) == (
        0.0,
        1.0,
        1_000_000,
        8e6,
    )
    second, other = intervals.report(103.0, [row("a:1", 1_500_000, 0, 3), row("b:2", 0, 250_000)])
    assert (second["bytes_sent"], second["retransmitted"], second["bps"]) == (500_000, 3, 2e6)
    assert (other["from_s"], other["bytes_received"], other["bps"]) == (1.0, 250_000, 1e6)


def test_another_connection_with_the_same_ends_begins_at_zero() -> None:
    intervals = Intervals(0.0)
    intervals.report(1.0, [row("a:1", 9000)])
    (again,) = intervals.report(2.0, [row("a:1", 100)])
    assert again["bytes_sent"] == 100


def test_the_line_has_time_size_and_rate() -> None:
    (found,) = Intervals(0.0).report(1.0, [row("a:1", 12_500_000, 0, 1)])
    assert (
        sentence(found) == "   0.00 – 1.00 s  10.99.0.2:9 - a:1  12.5 MB  100 Mbit/s  1 segment retransmitted"
    )
