"""The named causes of differences from the kernel apply only where their cause has happened in the script."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from against_kernel.compare import Difference
from against_kernel.kernel import happened
from against_kernel.known import RULES, reason
from against_kernel.ours import repeats
from against_kernel.packets import ACK, FIN, PSH, RST, Segment, Sent
from against_kernel.scripts import MS, Arrival, Call, Script
from played_scripts import data, run

BEHIND_FIN = "the peer sends data behind its FIN"
JOINED = "ACKs of out-of-order data are joined"
PUSHED = "PSH where writes are joined"
UNREAD = "ACKs behind a slow reader depend on the kernel's memory"
PREPARED = "a segment was prepared for other options"
AHEAD = "a timestamp is that of the next departure"
OUTLASTS = "a D-SACK outlasts a segment that header prediction takes"
PROBED = "a window probe depends on the memory for data that came before"
UNCORKED = "the cork of more data ends if there is no memory for data"
LIMIT = "an answer is as late as makes a connection interactive"
WAITED = "an interval is as long as an ACK may wait"
TREE = "a duplicate joins the segment before it"
PACED = "pacing takes no time for a retransmission of few bytes"
TICKS = "the limit of answers is counted in ticks"
RENEGED = "the peer takes a report back"
RENEWED = "header prediction takes the timestamp of data with an old ACK"
UNSEEN = "header prediction takes data without a look at its ACK"
BEFORE = "a retransmission leaves before the data of the same segment is taken"


@pytest.mark.parametrize(
    ("fin", "after", "at", "expected"),
    [
        (data(1, 0, ACK | FIN), data(1), 30, BEHIND_FIN),
        (data(11, 0, ACK | FIN), data(1, 0, ACK | FIN), 30, BEHIND_FIN),
        (data(11, 0, ACK | FIN), data(11, 0, ACK | FIN), 30, None),
        (data(1, 0, ACK | FIN), data(1), 15, None),
        (data(101, 0, ACK | FIN), data(1), 30, None),
        (data(1, 0), data(1), 30, None),
    ],
    ids=["data behind it", "another FIN", "the same FIN", "after the difference", "data before it", "no FIN"],
)
def test_data_behind_a_fin_explains_only_what_follows_it(
    fin: Segment, after: Segment, at: int, expected: str | None
) -> None:
    played = run([(10 * MS, fin), (20 * MS, after)], [])
    assert reason(played, Difference("ack of ACK", 0, "", at * MS)) == expected


@pytest.mark.parametrize(
    ("earlier", "apart", "expected"),
    [
        (3, 100_000, JOINED),
        (3, 1_150_000, JOINED),
        (2, 100_000, None),
        (3, 1_250_000, None),
        (3, 2 * MS, None),
    ],
    ids=["joined", "after 1.25 ms", "too few before", "after 1.35 ms", "too far apart"],
)
def test_joined_acks_follow_three_others_and_at_least_two_segments(
    earlier: int, apart: int, expected: str | None
) -> None:
    def report(at: int, end: int) -> Sent:
        return Sent(at, Segment(ACK, 1, 1, 1000, sack=((101, end),)))

    sent = [report(n * MS, 201 + 100 * n) for n in range(earlier)]
    second = 10 * MS + apart
    sent.append(report(second + 100_000, 801))
    arrivals = [(10 * MS, data(601)), (second, data(701))]
    difference = Difference("sack of ACK", earlier, "", 10 * MS)
    assert reason(run(arrivals, sent), difference) == expected


@pytest.mark.parametrize(
    ("earlier", "apart", "block", "expected"),
    [
        (3, 200_000, (101, 701), JOINED),
        (3, 1_250_000, (101, 701), JOINED),
        (2, 200_000, (101, 701), None),
        (3, 1_350_000, (101, 701), None),
        (3, 200_000, (101, 601), None),
        (3, 20_000, (101, 701), None),
    ],
    ids=["carried", "after 1.25 ms", "too few before", "after 1.35 ms", "not reported", "an answer"],
)
def test_data_may_carry_the_ack_of_out_of_order_data_that_waits(
    earlier: int, apart: int, block: tuple[int, int], expected: str | None
) -> None:
    sent = [Sent(n * MS, Segment(ACK, 1, 1, 1000, sack=((101, 201 + 100 * n),))) for n in range(earlier)]
    sent.append(Sent(10 * MS + apart, Segment(ACK, 1, 1, 1000, 100, sack=(block,))))
    for kind in ("kernel sends data, ours ACK", "kernel sends data again, ours ACK"):
        difference = Difference(kind, earlier, "", 10 * MS)
        assert reason(run([(10 * MS, data(601))], sent), difference) == expected


@pytest.mark.parametrize(
    ("kind", "answered", "expected"),
    [
        ("time of ACK", 39, LIMIT),
        ("time of ACK", 42, LIMIT),
        ("only ours sends: ACK", 40, LIMIT),
        ("kernel sends ACK, ours data again", 40, None),
        ("time of data", 40, None),
        ("time of ACK", 35, None),
        ("time of ACK", 45, None),
    ],
    ids=["a tick less", "a tick more", "no ACK", "data again", "no difference of an ACK", "less", "more"],
)
def test_an_answer_is_at_the_limit_only_a_tick_around_40_ms(
    kind: str, answered: int, expected: str | None
) -> None:
    sent = [Sent((10 + answered) * MS, data(1)), Sent(200 * MS, Segment(ACK, 101, 201, 1000))]
    played = run([(10 * MS, data(1)), (160 * MS, data(101))], sent)
    assert reason(played, Difference(kind, 1, "", 161 * MS)) == expected


@pytest.mark.parametrize(
    ("sent_at", "arrived", "expected"),
    [([20, 50], [10, 160], None), ([50], [10, 70, 110, 160], None), ([50], [10, 70, 160], LIMIT)],
    ids=["an earlier answer decides", "older data", "the data before the last"],
)
def test_the_first_answer_to_the_last_data_but_one_is_at_the_limit(
    sent_at: list[int], arrived: list[int], expected: str | None
) -> None:
    sent = [Sent(at * MS, data(1 + 100 * n)) for n, at in enumerate(sent_at)]
    sent.append(Sent(200 * MS, Segment(ACK, 301, 201, 1000)))
    played = run([(at * MS, data(1 + 100 * n)) for n, at in enumerate(arrived)], sent)
    assert reason(played, Difference("time of ACK", len(sent) - 1, "", 161 * MS)) == expected


@pytest.mark.parametrize(
    ("acks", "expected"), [([70, 110], LIMIT), ([70], None)], ids=["no timer", "a timer in between"]
)
def test_older_data_is_at_the_limit_while_each_ack_leaves_soon(acks: list[int], expected: str | None) -> None:
    sent = [Sent(50 * MS, data(1)), *(Sent(at * MS, data(101, 0)) for at in acks)]
    played = run([(at * MS, data(1 + 100 * n)) for n, at in enumerate([10, 70, 110, 160])], sent)
    assert reason(played, Difference("time of ACK", len(sent) - 1, "", 161 * MS)) == expected


@pytest.mark.parametrize(
    ("arrived", "at", "kind", "expected"),
    [
        ([10, 40, 90, 100], 145, "kernel sends ACK, ours data", WAITED),
        ([10, 40, 84, 100], 145, "kernel sends ACK, ours data", None),
        ([10, 40, 90, 100], 130, "kernel sends ACK, ours data", None),
        ([10, 40, 90, 100], 145, "time of data", None),
        ([10, 40, 90, 100, 110, 120, 130], 175, "kernel sends ACK, ours data", None),
    ],
    ids=["50 ms, as the 30 ms before it make", "less", "no ACK that waits", "data", "long ago"],
)
def test_an_interval_at_the_limit_changes_how_long_an_ack_waits(
    arrived: list[int], at: int, kind: str, expected: str | None
) -> None:
    arrivals = [
        (MS, Segment(ACK, 1, 1, 1000)),
        *((one * MS, data(1 + 100 * n)) for n, one in enumerate(arrived)),
    ]
    made = run(arrivals, [Sent(at * MS, data(1, 0))])
    assert reason(made, Difference(kind, 0, "", at * MS)) == expected


@pytest.mark.parametrize(
    ("opened", "expected"), [(12, LIMIT), (30, None)], ids=["40 ms before", "22 ms before"]
)
def test_the_opening_counts_as_the_first_data_and_what_lies_before_the_stream_as_none(
    opened: int, expected: str | None
) -> None:
    sent = [Sent(52 * MS, data(1)), Sent(200 * MS, Segment(ACK, 101, 101, 1000))]
    arrivals = [(opened * MS, Segment(ACK, 1, 1, 1000)), (40 * MS, data(-499, 24)), (160 * MS, data(1))]
    assert reason(run(arrivals, sent), Difference("time of ACK", 1, "", 161 * MS)) == expected


def test_a_segment_repeats_data_if_an_earlier_one_reaches_as_far() -> None:
    sent = [Sent(n * MS, data(seq, 100)) for n, seq in enumerate([1, 101, 1, 151])]
    assert [repeats(sent, number) for number in range(6)] == [False, False, False, True, False, False]


@pytest.mark.parametrize(
    ("writes", "lengths", "flags", "expected"),
    [
        (2, [100, 40], PSH, PUSHED),
        (1, [100, 40], PSH, None),
        (2, [100, 100], PSH, None),
        (2, [100, 40], FIN, None),
    ],
    ids=["joined", "one write", "only full segments", "another flag"],
)
def test_only_joined_writes_with_a_short_segment_explain_psh(
    writes: int, lengths: list[int], flags: int, expected: str | None
) -> None:
    played = run([], [Sent(n * MS, data(1 + 100 * n, length)) for n, length in enumerate(lengths)])
    played.played.results = [("write", 70)] * writes
    assert reason(played, Difference(f"flags {flags:02x} of data", 1, "", MS)) == expected


@pytest.mark.parametrize(
    ("read", "kind", "expected"),
    [
        (0, "only ours sends: ACK", UNREAD),
        (500, "only ours sends: ACK", None),
        (0, "kernel sends data again, ours ACK", UNREAD),
        (0, "kernel sends ACK, ours data again", None),
        (0, "length of data", None),
    ],
    ids=["unread", "read", "before a repair", "our repair", "no ACK"],
)
def test_a_slow_reader_explains_acks_while_more_than_a_segment_is_unread(
    read: int, kind: str, expected: str | None
) -> None:
    arrivals = [(n * MS, data(1 + 100 * n)) for n in range(5)]
    made = run(arrivals, [Sent(10 * MS, Segment(ACK, 1, 501, 1000))])
    events = tuple(Arrival(at, segment) for at, segment in arrivals)
    made.script = Script(1, "reno", True, 0, events, 1000 * MS)
    made.happened.append((6 * MS, Call(6 * MS, "read", (1000,))))
    made.played.results = [("read", read)]
    assert reason(made, Difference(kind, 0, "", 10 * MS)) == expected


@pytest.mark.parametrize(
    ("arrives", "expected"), [(9_950_000, UNREAD), (5 * MS, None)], ids=["an answer", "of a timer"]
)
def test_a_slow_reader_explains_an_answer_of_the_kernel_where_ours_sends_nothing_before_a_timer(
    arrives: int, expected: str | None
) -> None:
    # Later segments do not count: `rcv_mss` is the length of the longest segment so far.
    arrivals = [(MS, data(1)), (arrives, data(101)), (20 * MS, data(201, 1000))]
    made = run(arrivals, [Sent(10 * MS, Segment(ACK, 1, 201, 1000))])
    made.script = Script(
        1, "reno", True, 0, tuple(Arrival(at, segment) for at, segment in arrivals), 1000 * MS
    )
    assert reason(made, Difference("kernel sends ACK, ours data again", 0, "", 10 * MS)) == expected


@pytest.mark.parametrize(
    ("window", "read", "expected"),
    [(900, 0, UNREAD), (1000, 0, None), (900, 100, None)],
    ids=["a smaller window", "the same window", "all is read"],
)
def test_a_slow_reader_explains_acks_that_announce_a_smaller_window(
    window: int, read: int, expected: str | None
) -> None:
    arrivals = [(5 * MS, data(1))]
    sent = [Sent(MS, Segment(ACK, 1, 1, 1000)), Sent(10 * MS, Segment(ACK, 1, 101, window))]
    made = run(arrivals, sent)
    made.script = Script(1, "reno", True, 0, (Arrival(5 * MS, data(1)),), 1000 * MS)
    made.happened.append((6 * MS, Call(6 * MS, "read", (1000,))))
    made.played.results = [("read", read)]
    assert reason(made, Difference("time of ACK", 1, "", 10 * MS)) == expected


@pytest.mark.parametrize(
    ("stamp", "algorithm", "expected"),
    [(120, "bbr", AHEAD), (102, "bbr", None), (120, "reno", None)],
    ids=["ahead", "its clock", "not paced"],
)
def test_a_timestamp_ahead_of_the_clock_is_that_of_the_next_departure(
    stamp: int, algorithm: str, expected: str | None
) -> None:
    sent = [
        Sent(10 * MS, Segment(ACK, 1, 1, 1000, 100, stamp=100)),
        Sent(12 * MS, Segment(ACK, 1, 1, 1000, stamp=stamp)),
    ]
    made = run([], sent)
    made.script = Script(1, algorithm, True, 0, (), 1000 * MS)
    assert reason(made, Difference("stamp of ACK", 1, "", 12 * MS)) == expected


@pytest.mark.parametrize(
    ("blocks", "apart", "length", "expected"),
    [(2, 100, 20, PREPARED), (1, 100, 20, None), (2, 0, 20, None), (2, 100, 80, None)],
    ids=["another block", "the same options", "one burst", "a full segment"],
)
def test_a_segment_that_was_prepared_for_other_options_leaves_a_short_rest(
    blocks: int, apart: int, length: int, expected: str | None
) -> None:
    def left(at: int, seq: int, size: int, reports: int) -> Sent:
        return Sent(at, Segment(ACK, seq, 1, 1000, size, sack=((1001, 1101),) * reports))

    after = (10 + apart) * MS
    sent = [left(10 * MS, 1, 88, 1), left(after, 89, 80, blocks), left(after, 169, length, blocks)]
    for kind in ("length of data", "kernel sends data, ours ACK"):
        assert reason(run([], sent), Difference(kind, 2, "", after)) == expected


@pytest.mark.parametrize(
    ("blocks", "length", "apart", "expected"),
    [(1, 92, 0, PREPARED), (0, 92, 0, None), (1, 100, 0, None), (1, 92, 1, None)],
    ids=["behind more blocks", "none before", "a full one", "another burst"],
)
def test_a_packet_that_was_prepared_beside_more_blocks_ends_within_a_burst(
    blocks: int, length: int, apart: int, expected: str | None
) -> None:
    reports = ((1001, 1101),) * blocks
    sent = [
        Sent(10 * MS, Segment(ACK, 1, 1, 1000, 88, sack=reports)),
        Sent(50 * MS, data(89, length)),
        Sent((50 + apart) * MS, data(89 + length)),
    ]
    assert reason(run([], sent), Difference("length of data", 1, "", 50 * MS)) == expected


@pytest.mark.parametrize(("apart", "expected"), [(498, TICKS), (490, None)])
def test_an_answer_at_the_limit_of_half_a_second_shows_also_in_what_the_next_one_echoes(
    apart: int, expected: str | None
) -> None:
    at = (10 + apart) * MS
    sent = [Sent(10 * MS, data(1, 0)), Sent(at, data(1, 0))]
    made = run([(at - 20_000, data(1, 0))], sent)
    assert reason(made, Difference("echo of ACK", 1, "", at)) == expected


@pytest.mark.parametrize(
    ("window", "length", "at", "expected"),
    [(0, 100, 500, PROBED), (1000, 100, 500, None), (0, 0, 500, None), (0, 100, 240, None)],
    ids=["closed", "open", "no data", "a delayed ACK"],
)
def test_only_data_while_the_window_is_closed_changes_the_time_of_a_probe(
    window: int, length: int, at: int, expected: str | None
) -> None:
    made = run([(10 * MS, Segment(ACK, 1, 1, window)), (200 * MS, Segment(ACK, 1, 1, window, length))], [])
    made.happened.append((20 * MS, Call(20 * MS, "write", (100, 0))))
    assert reason(made, Difference("only ours sends: ACK", 0, "", at * MS)) == expected


@pytest.mark.parametrize(
    ("window", "length", "expected"),
    [(80, 100, PROBED), (80, 0, None), (100, 100, None), (90, 100, None)],
    ids=["too small", "no data", "open", "another window"],
)
def test_data_changes_the_time_of_a_probe_that_fills_a_window_below_a_segment(
    window: int, length: int, expected: str | None
) -> None:
    arrivals = [(10 * MS, Segment(ACK, 1, 101, window)), (200 * MS, Segment(ACK, 1, 101, window, length))]
    made = run(arrivals, [Sent(5 * MS, data(1, 100)), Sent(500 * MS, data(101, 80))])
    made.happened.append((20 * MS, Call(20 * MS, "write", (100, 0))))
    assert reason(made, Difference("time of data", 1, "", 500 * MS)) == expected


@pytest.mark.parametrize(
    ("flags", "apart", "expected"),
    [(socket.MSG_MORE, 20_000, UNCORKED), (0, 20_000, None), (socket.MSG_MORE, 30 * MS, None)],
    ids=["more to come", "nothing to come", "a timer"],
)
def test_only_data_ends_the_cork_of_more_data_by_memory(flags: int, apart: int, expected: str | None) -> None:
    sent = [Sent(30 * MS, data(1)), Sent(200 * MS + apart, data(101, 12))]
    made = run([(10 * MS, Segment(ACK, 1, 1, 1000)), (200 * MS, data(1))], sent)
    made.happened.insert(1, (20 * MS, Call(20 * MS, "write", (112, flags))))
    for kind in ("ack of data", "kernel sends data, ours ACK", "only the kernel sends: data"):
        assert reason(made, Difference(kind, 1, "", 200 * MS + apart)) == expected


def test_an_ack_of_what_was_never_sent_ends_no_recovery() -> None:
    acks = [Segment(ACK, 1, 1, 1000), Segment(ACK, 1, 1_000_000, 1000)]
    arrivals = [*((n * MS, ack) for n, ack in enumerate(acks, 20)), (40 * MS, data(1))]
    sent = [Sent(10 * MS, data(1)), Sent(11 * MS, data(101)), Sent(30 * MS, data(1))]
    made = run(arrivals, [*sent, Sent(40 * MS + 10_000, data(201))])
    for kind in ("ack of data", "length of data"):
        assert reason(made, Difference(kind, 3, "", 40 * MS + 10_000)) == BEFORE


@pytest.mark.parametrize(
    ("length", "apart", "expected"),
    [(100, 100_000, BEFORE), (0, 100_000, None), (100, MS, None)],
    ids=["with data", "a bare ACK", "a timer"],
)
def test_a_repair_precedes_only_the_data_of_the_segment_that_it_answers(
    length: int, apart: int, expected: str | None
) -> None:
    played = run([(10 * MS, data(1, length))], [Sent(10 * MS + apart, data(1))])
    assert reason(played, Difference("ack of data again", 0, "", 10 * MS)) == expected


@pytest.mark.parametrize(
    ("repairs", "flags", "expected"), [(1, RST, BEFORE), (2, RST, BEFORE), (2, ACK, None)]
)
def test_repairs_precede_the_reset_that_answers_data_for_a_closed_socket(
    repairs: int, flags: int, expected: str | None
) -> None:
    sent = [Sent(10 * MS + 10_000 * n, data(1 + 100 * n)) for n in range(repairs)]
    sent.append(Sent(10 * MS + 30_000, Segment(flags, 301, 1, 0)))
    difference = Difference("kernel sends data again, ours RST", 0, "", 10 * MS)
    assert reason(run([(10 * MS, data(1))], sent), difference) == expected


@pytest.mark.parametrize(
    ("repairs", "flags", "last", "expected"),
    [(1, ACK | FIN, 2, BEFORE), (3, ACK | FIN, 2, BEFORE), (1, ACK, 2, None), (1, ACK | FIN, 1, None)],
    ids=["a FIN", "several repairs", "no FIN", "nothing acknowledges it"],
)
def test_repairs_precede_the_ack_of_a_fin(repairs: int, flags: int, last: int, expected: str | None) -> None:
    sent = [Sent(10 * MS + 20_000 + 1000 * n, data(1 + 100 * n)) for n in range(repairs)]
    sent.append(Sent(10 * MS + 30_000, Segment(ACK, 1 + 100 * repairs, last, 1000, 0)))
    played = run([(10 * MS, data(1, 0, flags))], sent)
    assert reason(played, Difference("kernel sends data again, ours ACK", 0, "", 10 * MS)) == expected


@pytest.mark.parametrize(
    ("again", "acknowledged", "kind", "expected"),
    [
        (True, 1, "kernel sends ACK, ours data again", BEFORE),
        (True, 1, "ack of data", BEFORE),
        (True, 1, "flags 40 of ACK", BEFORE),
        (True, 1, "echo of ACK", BEFORE),
        (False, 1, "kernel sends ACK, ours data", None),
        (True, 201, "kernel sends ACK, ours data", None),
    ],
    ids=[
        "and its ACK",
        "new data",
        "its ACK reports no mark",
        "its ACK echoes less",
        "no recovery",
        "the recovery is over",
    ],
)
def test_new_data_precedes_the_data_of_the_segment_that_it_answers_in_a_recovery(
    again: bool, acknowledged: int, kind: str, expected: str | None
) -> None:
    before = [data(1), data(101), data(1) if again else data(201)]
    sent = [Sent(n * MS, segment) for n, segment in enumerate(before)]
    sent += [Sent(20 * MS + 50_000, data(301)), Sent(20 * MS + 60_000, Segment(ACK, 401, 101, 1000))]
    arrivals = [(10 * MS, Segment(ACK, 1, acknowledged, 1000)), (20 * MS, data(1))]
    index = 3 if kind == "ack of data" else 4
    assert reason(run(arrivals, sent), Difference(kind, index, "", 20 * MS)) == expected


@pytest.mark.parametrize(
    ("partly_old", "block", "expected"),
    [(data(1, 200), (1, 101), OUTLASTS), (data(1, 100), (1, 101), None), (data(1, 200), (51, 101), None)],
    ids=["behind another", "wholly old", "another part"],
)
def test_a_d_sack_of_the_kernel_outlasts_a_segment_only_behind_a_partly_old_one(
    partly_old: Segment, block: tuple[int, int], expected: str | None
) -> None:
    arrivals = [(10 * MS, data(1)), (20 * MS, partly_old), (30 * MS, data(201))]
    sent = [Sent(31 * MS, Segment(ACK, 1, 301, 1000, sack=(block,)))]
    assert reason(run(arrivals, sent), Difference("sack of ACK", 0, "", 31 * MS)) == expected
    # Data that carries it is shorter.
    sent = [Sent(31 * MS, Segment(ACK, 1, 301, 1000, 88, sack=(block,)))]
    assert reason(run(arrivals, sent), Difference("length of data", 0, "", 31 * MS)) == expected


def test_data_behind_a_bare_ack_was_sent_by_a_timer() -> None:
    sent = [Sent(10_010_000, Segment(ACK, 101, 11, 1000)), Sent(10_020_000, data(1))]
    played = run([(10 * MS, data(1))], sent)
    played.happened += [(one.at, None) for one in sent]
    assert [event for _, event in happened(played) if isinstance(event, int)] == [2]
    played.played.sent.reverse()
    assert [event for _, event in happened(played) if isinstance(event, int)] == []


def test_each_explanation_is_tested() -> None:
    files = (
        Path(__file__),
        *map(Path(__file__).with_name, ("test_known_cwnd.py", "test_window_differences.py")),
    )
    tested = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in RULES if f'"{name}"' not in tested] == []


@pytest.mark.parametrize(
    ("ack", "seq", "echo", "expected"),
    [(1, 1, 70, RENEWED), (2, 1, 70, None), (1, 101, 70, None), (1, 1, 60, None)],
    ids=["old ACK", "current ACK", "out of order", "another echo"],
)
def test_data_in_order_with_an_old_ack_may_renew_the_timestamp(
    ack: int, seq: int, echo: int, expected: str | None
) -> None:
    arrivals = [
        (10 * MS, Segment(ACK, 1, 2, 1000, stamp=60)),
        (20 * MS, Segment(ACK, seq, ack, 1000, 100, stamp=70)),
    ]
    answer = Sent(20 * MS + 20_000, Segment(ACK, 1, 101, 1000, stamp=5, echo=echo))
    assert reason(run(arrivals, [answer]), Difference("echo of ACK", 0, "", answer.at)) == expected


@pytest.mark.parametrize(
    ("arrivals", "block", "expected"),
    [
        ([data(201), data(251), data(301)], (201, 401), TREE),
        ([data(201), data(251), data(301)], (301, 351), None),
        ([data(201), data(301)], (201, 401), None),
        ([data(201, 150), data(301)], (201, 401), None),
        ([data(201), data(251), data(301)], (), None),
        ([data(201), data(321, 20), data(301)], (201, 401), TREE),
    ],
    ids=[
        "ends and covers",
        "the D-SACK is there",
        "nothing covers it",
        "nothing ends there",
        "in order",
        "inside",
    ],
)
def test_a_duplicate_may_join_where_one_segment_ends_and_another_covers_the_place(
    arrivals: list[Segment], block: tuple[int, int], expected: str | None
) -> None:
    ack = Segment(ACK, 1, 1, 1000, sack=(block,)) if block else Segment(ACK, 1, 401, 1000)
    played = run([(n * MS, one) for n, one in enumerate(arrivals)], [Sent(3 * MS, ack)])
    assert reason(played, Difference("sack of ACK", 0, "", 3 * MS)) == expected


@pytest.mark.parametrize(
    ("algorithm", "again", "apart", "expected"),
    [
        ("bbr", 50, 30_000, PACED),
        ("reno", 50, 30_000, None),
        ("bbr", 101, 30_000, None),
        ("bbr", 50, 60_000, None),
    ],
    ids=["few bytes", "not paced", "more than few", "later"],
)
def test_new_data_may_leave_behind_a_retransmission_of_few_bytes(
    algorithm: str, again: int, apart: int, expected: str | None
) -> None:
    sent = [Sent(0, data(1, 500)), Sent(9 * MS, data(1, again)), Sent(9 * MS + apart, data(501))]
    played = run([], sent)
    played.script = Script(1, algorithm, True, 0, (), 1000 * MS)
    difference = Difference("kernel sends data, ours data again", 2, "", sent[-1].at)
    assert reason(played, difference) == expected


@pytest.mark.parametrize(
    ("invalid", "apart", "expected"),
    [
        (data(900, 0), 503 * MS, TICKS),
        (data(900, 0), 497 * MS, TICKS),
        (data(900, 0), 505 * MS, None),
        (data(900, 10), 503 * MS, None),
    ],
    ids=["a tick late", "a tick early", "two ticks late", "with data"],
)
def test_an_invalid_segment_half_a_second_after_an_answer_is_at_the_limit(
    invalid: Segment, apart: int, expected: str | None
) -> None:
    sent = [Sent(at, Segment(ACK, 1, 1, 1000)) for at in (10 * MS, 10 * MS + apart)]
    # Ours then sends the next ACK instead, which may report something else.
    for kind in ("only the kernel sends: ACK", "sack of ACK", "kernel sends ACK, ours data"):
        difference = Difference(kind, 1, "", sent[-1].at)
        assert reason(run([(sent[-1].at, invalid)], sent), difference) == expected


@pytest.mark.parametrize(
    ("second", "kind", "expected"),
    [
        (Segment(ACK, 101, 1, 1000, 100), "only ours sends: data again", UNSEEN),
        (Segment(ACK, 201, 1, 1000, 100), "only ours sends: data again", None),
        (Segment(ACK, 101, 101, 1000, 100), "only ours sends: data again", None),
        (Segment(ACK, 101, 1, 1000, 100), "only the kernel sends: data again", None),
    ],
    ids=["in order", "out of order", "acknowledges new data", "the kernel's"],
)
def test_data_in_order_that_acknowledges_nothing_new_may_hide_its_ack(
    second: Segment, kind: str, expected: str | None
) -> None:
    arrivals = [(10 * MS, data(1)), (20 * MS, second)]
    difference = Difference(kind, 1, "", 20 * MS + 10_000)
    assert reason(run(arrivals, [Sent(5 * MS, data(1))]), difference) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("kernel sends ACK, ours data again", UNSEEN), ("kernel sends data, ours data again", None)],
)
def test_the_kernel_may_acknowledge_data_at_once_whose_ack_header_prediction_hides(
    kind: str, expected: str | None
) -> None:
    arrivals = [(10 * MS, data(1)), (20 * MS, Segment(ACK, 101, 1, 1000, 100))]
    answer = Sent(20 * MS + 20_000, Segment(ACK, 1, 201, 1000))
    difference = Difference(kind, 1, "", 20 * MS + 10_000)
    assert reason(run(arrivals, [Sent(5 * MS, data(1)), answer]), difference) == expected


@pytest.mark.parametrize(
    ("acknowledged", "again", "expected"),
    [(250, 250, RENEGED), (201, 201, None), (301, 301, None), (250, 301, None)],
    ids=["a part of a report", "all before it", "all of it", "other data again"],
)
def test_a_peer_takes_a_report_back_if_it_acknowledges_a_part_and_the_rest_is_sent_again(
    acknowledged: int, again: int, expected: str | None
) -> None:
    report = Segment(ACK, 1, 101, 1000, sack=((201, 301),))
    arrivals = [(20 * MS, report), (30 * MS, Segment(ACK, 1, acknowledged, 1000))]
    sent = [Sent(n * MS, data(1 + 100 * n)) for n in range(4)]
    made = run(arrivals, [*sent, Sent(240 * MS, data(again, 51)), Sent(250 * MS, data(401))])
    assert reason(made, Difference("kernel sends data again, ours data", 5, "", 250 * MS)) == expected
    # The first part of the rest may have other flags, but no other time.
    assert reason(made, Difference("flags 08 of data again", 4, "", 240 * MS)) == expected
    assert reason(made, Difference("time of data again", 4, "", 240 * MS)) is None
