"""Captures of simulated runs against what the simulator knows: every segment that was sent, when, and why.

A capture's verdicts are held against that: at the sender, and at a router before packets are lost.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt.settings import Value

pytest.importorskip("netspurt._core")

CAUSES = {
    **dict.fromkeys(("timeout", "go-back-n"), "timeout"),
    **dict.fromkeys(("fast-retransmit", "partial-ack", "sack-hole", "sack-rescue", "rack-loss"), "fast"),
    "tail-probe": "tail-probe",
    "nak-resend": "nak",
}
"""What a capture can tell of the simulator's reasons."""

PROFILES = (
    "bsd43-tahoe",
    "bsd43-bigwindow-nak",
    "freebsd3",
    "solaris7",
    "linux22",
    "reno",
    "newreno",
    "rfc",
    "linux",
)

PATHS: dict[str, dict[str, Value]] = {
    "little": {"link.wan.loss": {"kind": "packet-error", "rate": 0.01}},
    "much": {"link.wan.loss": {"kind": "packet-error", "rate": 0.06}},
    "bursts": {
        "link.wan.loss": {
            "kind": "gilbert-elliott",
            "good_to_bad": 0.01,
            "bad_to_good": 0.3,
            "loss_good": 0,
            "loss_bad": 0.5,
        }
    },
    "reordering": {
        "link.wan.loss": {"kind": "packet-error", "rate": 0.01},
        "link.wan.reorder": {"probability": 0.02, "delay": "8 ms"},
    },
    "queue": {"link.wan.queue": {"kind": "drop-tail", "limit": "12 packets"}},
    "near": {
        "link.wan.delay": "1 ms",
        "link.wan.loss": {"kind": "packet-error", "rate": 0.02},
    },
    "far": {
        "link.wan.delay": "250 ms",
        "link.wan.rate": "1.5 Mbit/s",
        "link.wan.loss": {"kind": "packet-error", "rate": 0.01},
    },
}

SEEDS = (4, 5)

SCENARIO = """
duration = "2000 s"

[link.access]
between = ["a", "r"]
rate = "100 Mbit/s"
delay = "2 ms"

[link.wan]
between = ["r", "b"]
rate = "8 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "60 packets" }

[[flow]]
app = { kind = "bulk", bytes = "600 KiB" }
from = "a"
to = "b"
count = 2
stagger = "100 ms"

[[flow]]
name = "small"
app = { kind = "request-response", request = "20 KiB", response = "200 B", exchanges = 12, gap = "50 ms" }
from = "a"
to = "b"
"""

OPENS_OR_CLOSES = ("syn", "fin", *CAUSES)
"""Why a segment without data can leave that takes a sequence number: it is a SYN or FIN, or sends one again."""

Key = tuple[int, int]
"""Connection, and where the segment begins in its client's stream."""

EXACT_S = 1e-6
"""Seconds that bursts are drawn apart by the link next to the sender, and no more."""


def numbered(segments: pl.DataFrame) -> pl.DataFrame:
    """Gives connections the numbers that they have in a capture: in the order of their first segments."""
    who = ("flow", "index", "connection")
    order = segments.select(who).unique(maintain_order=True).with_row_index("number")
    return segments.join(order, on=who, maintain_order="left")


def sent_again(segments: pl.DataFrame) -> dict[Key, Counter[str]]:
    """Why each segment of the clients went again.

    A probe of the only segment outstanding looks like a timeout to others: same packet, same silence.
    """
    again: dict[Key, Counter[str]] = {}
    opened: set[int] = set()
    una: Counter[int] = Counter()
    columns = ("number", "from_client", "seq", "ack", "reason")
    for number, from_client, seq, ack, reason in numbered(segments).select(columns).iter_rows():
        if not from_client:
            una[number] = max(una[number], ack)
            continue
        cause = CAUSES.get(reason)
        if cause == "tail-probe" and seq == una[number]:
            cause = "timeout"
        if reason == "syn":
            cause = "timeout" if number in opened else None
            opened.add(number)
        if cause is not None:
            again.setdefault((number, seq), Counter())[cause] += 1
    return again


def said_again(events: pl.DataFrame) -> dict[Key, Counter[str]]:
    """What a capture says of the same."""
    again: dict[Key, Counter[str]] = {}
    told = events.filter(pl.col("event") == "retransmitted", pl.col("from") == "client")
    for connection, seq, reason in told.select("connection", "seq", "reason").iter_rows():
        again.setdefault((connection, seq), Counter())[reason] += 1
    return again


@pytest.mark.parametrize("place", ["a", "access@r"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_retransmission_is_found_and_its_reason_is_right(
    profile: str, place: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.pcapng"
    sent = right = 0
    wrong: list[object] = []
    for path, seed in itertools.product(PATHS, SEEDS):
        scenario = ns.parse(SCENARIO).set({"tcp.profile": profile, **PATHS[path]})
        run = scenario.run(seed, record=["segments"], pcap=file, capture=[place])
        truth, said = sent_again(run.segments), said_again(ns.read_capture(file, ["events"]).events)
        for key in sorted(truth.keys() | said.keys()):
            was, told = truth.get(key, Counter()), said.get(key, Counter())
            # A second recovery may resend at once what the first sent last: without IP's numbers nobody but the
            # sender's own neighbour can tell that from a copy.
            if place == "a" or was.total() < told.total():
                assert was.total() == told.total(), f"{path}, seed {seed}, {key}: {was} became {told}"
            sent += was.total()
            right += (was & told).total()
            wrong += [(path, seed, key, dict(was), dict(told))] if was != told else []
    assert sent > 300
    assert right >= 0.99 * sent, f"{right} of {sent}: {wrong}"


@pytest.mark.parametrize("profile", PROFILES)
def test_no_sample_of_a_round_trip_is_wrong(profile: str, tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    for path, seed in itertools.product(("much", "reordering", "queue", "near"), SEEDS):
        settings: dict[str, Value] = {"tcp.profile": profile, "link.access.rate": "1 Tbit/s"}
        scenario = ns.parse(SCENARIO).set({**settings, **PATHS[path]})
        run = scenario.run(seed, record=["segments"], pcap=file, capture=["a"])
        samples = ns.read_capture(file, ["samples"]).samples.filter(pl.col("from") == "client")
        segments = numbered(run.segments)
        least_s = 2e-3 + (1e-3 if path == "near" else 20e-3)
        for number, mine in samples.group_by("connection"):
            theirs = segments.filter(pl.col("number") == number[0])
            checked(mine, theirs, least_s, f"{path}, seed {seed}")
        assert samples.height > 150


def checked(samples: pl.DataFrame, segments: pl.DataFrame, one_way_s: float, where: str) -> None:
    """Holds every sample of one connection against what was sent, and when, at both ends."""
    sendings: list[tuple[float, int, int]] = []
    times: dict[int, list[float]] = {}
    acks: dict[int, list[float]] = {}
    columns = ("time_s", "from_client", "seq", "length", "ack", "reason")
    for time_s, from_client, seq, length, ack, reason in segments.select(columns).iter_rows():
        if not from_client:
            acks.setdefault(ack, []).append(time_s)
        elif length or reason in OPENS_OR_CLOSES:
            sendings.append((time_s, seq, seq + max(length, 1)))
            times.setdefault(seq, []).append(time_s)
    starts, values = sorted(times), sorted(acks)
    una = starts[0]
    for time_s, ack, method, sent_s in samples.select("time_s", "ack", "method", "sent_s").iter_rows():
        said = f"{where}: {method}, sent at {sent_s}, ack {ack} at {time_s}"
        first = bisect.bisect_left(sendings, (sent_s - EXACT_S,))
        last = bisect.bisect_left(sendings, (sent_s + EXACT_S,))
        at_that_time = sendings[first:last]
        assert at_that_time, said
        answers = [
            answer
            for answer in acks[ack]
            if sent_s + one_way_s - EXACT_S <= answer <= time_s - one_way_s + EXACT_S
        ]
        assert answers, f"{said}; {acks[ack]}, {at_that_time}"
        if method == "timestamps":
            continue
        assert any(start < ack <= end + 1 for _, start, end in at_that_time), said
        for start in starts[bisect.bisect_left(starts, una) : bisect.bisect_left(starts, ack)]:
            twice = sum(sent < time_s for sent in times[start]) > 1
            # Another ACK may have dealt with it before.
            between = values[bisect.bisect_right(values, start) : bisect.bisect_left(values, ack)]
            assert not twice or any(acks[value][0] < time_s for value in between), (
                f"{said}; {start} went twice"
            )
        una = max(una, ack)
