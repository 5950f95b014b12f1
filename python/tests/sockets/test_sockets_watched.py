"""Budgets of the kernel's own sockets on the loopback interface: the limit is known, and so are the kernel's clocks."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from socket_traffic import (
    clocks,
    connected,
    place,
    read_slowly,
    transfer,
    write_always,
    write_with_pauses,
)

from netspurt.sockets.watching import LIMITS, SHARES, TABLE, Watching, budget, held_s, worst_first

pytest.importorskip("netspurt._core")

INTERVAL_S = 0.1
POLLS = 20
AGREES = 0.03
"""Shares may differ by this much from the kernel's own clocks."""


def row_of(watching: Watching, end: socket.socket) -> dict[str, Any]:
    """The row of a socket."""
    row: dict[str, Any] = watching.table().row(by_predicate=pl.col("local") == place(end), named=True)
    return row


def watched(client: socket.socket) -> tuple[dict[str, float], dict[str, float]]:
    """The shares of a socket after some polls, and the shares of the kernel's clocks meanwhile."""
    # The first poll happens at the beginning of the watch.
    watching = Watching()
    begun, before = time.monotonic(), clocks(client)
    for _ in range(POLLS):
        time.sleep(INTERVAL_S)
        watching.poll()
    elapsed, after = time.monotonic() - begun, clocks(client)
    row = row_of(watching, client)
    shares = {line["limit"]: line["share"] for line in budget(row)}
    assert sum(shares.values()) == pytest.approx(1, abs=1e-6)
    assert row["limit"] == max(shares, key=lambda limit: shares[limit])
    return shares, {name: (after[name] - before[name]) / elapsed for name in before}


def agrees(shares: dict[str, float], kernel: dict[str, float]) -> None:
    """The limits that have clocks of their own agree with these."""
    window = shares.get("receive-window", 0) + shares.get("slow-receiver", 0)
    assert window == pytest.approx(kernel["rwnd_limited"], abs=AGREES)
    assert shares.get("application", 0) == pytest.approx(1 - kernel["busy"], abs=AGREES)
    # The clock misses most of the time in which a writer waits for room: see path_share.rs.
    assert shares.get("send-buffer", 0) >= kernel["sndbuf_limited"] - AGREES


def test_a_slow_reader_is_a_slow_receiver() -> None:
    with transfer(write_always, read_slowly) as (client, _):
        time.sleep(0.5)
        shares, kernel = watched(client)
    agrees(shares, kernel)
    assert kernel["rwnd_limited"] > 0.5
    assert max(shares, key=lambda limit: shares[limit]) == "slow-receiver"


def test_a_writer_that_pauses_is_the_application() -> None:
    with transfer(write_with_pauses) as (client, _):
        shares, kernel = watched(client)
    agrees(shares, kernel)
    assert shares["application"] > 0.8


def test_a_transfer_without_a_limit_agrees_with_the_clocks() -> None:
    with transfer(write_always) as (client, _):
        time.sleep(0.3)
        agrees(*watched(client))


def test_a_socket_has_its_ends_its_process_and_its_bytes() -> None:
    with transfer(write_with_pauses) as (client, accepted):
        watching = Watching()
        time.sleep(0.3)
        watching.poll()
        watching.find_owners()
        row, other = row_of(watching, client), row_of(watching, accepted)
        assert (row["local"], row["remote"]) == (place(client), place(accepted))
    assert row["state"] == "established"
    assert (row["pid"], row["process"]) == (os.getpid(), Path("/proc/self/comm").read_text().strip())
    assert row["bytes_acked"] > 0
    assert other["bytes_received"] > 0
    assert other["limit"] == "application"


def test_ipv6_sockets_are_watched_too() -> None:
    try:
        client, accepted = connected(host="::1")
    except OSError as error:
        pytest.skip(f"no IPv6 on the loopback interface: {error}")
    with client, accepted:
        assert row_of(Watching(), client)["remote"] == place(accepted)


def test_a_socket_that_is_closed_has_ended_and_one_that_is_opened_begins() -> None:
    client, accepted = connected()
    watching = Watching(keep="intervals")
    client.send(b"hello")
    time.sleep(INTERVAL_S)
    watching.poll()
    ends = place(client)
    client.close()
    accepted.close()
    with transfer(write_with_pauses) as (later, _):
        time.sleep(INTERVAL_S)
        watching.poll()
        assert 0 < row_of(watching, later)["duration_s"] <= 2 * INTERVAL_S
        ended = watching.take_ended()
    assert ends in ended["local"].to_list()
    assert ended.schema == pl.Schema(TABLE)
    intervals = watching.take_intervals()
    assert intervals.filter(local=ends)["bytes_acked"].sum() == len(b"hello")
    assert watching.take_intervals().height == 0


def test_connections_between_two_polls_are_counted_as_missed() -> None:
    watching = Watching()
    for _ in range(20):
        for end in connected():
            # With a reset: nothing stays in TIME-WAIT.
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            end.close()
    watching.poll()
    missed = watching.counts["missed"]
    if missed is None:
        pytest.skip("this system has no /proc/net/snmp")
    assert missed >= 40


def test_the_limits_are_those_of_the_native_module() -> None:
    from netspurt import _core

    assert list(LIMITS) == _core.Sockets.limits()


def test_the_worst_socket_is_the_one_that_was_held_longest() -> None:
    empty = dict.fromkeys(SHARES.values(), 0.0)
    rows = [
        empty | {"duration_s": 10.0, "application_s": 9.0, "timeout_s": 1.0, "bytes_acked": 5},
        empty | {"duration_s": 4.0, "receive_window_s": 4.0, "bytes_acked": 1},
    ]
    assert worst_first(pl.DataFrame(rows))["duration_s"].to_list() == [4.0, 10.0]
    assert [held_s(row) for row in rows] == [1.0, 4.0]
    assert [line["limit"] for line in budget(rows[0])] == ["application", "timeout"]
