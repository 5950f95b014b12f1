"""Known differences of when an ACK leaves and what it reports."""

from __future__ import annotations

import itertools

from ..compare import Difference
from ..kernel import QUICK_RESPONSE_NS, Run
from ..packets import ECE, FIN, Sent
from ..scripts import Arrival, Call
from .shown import TICK_NS, answered_by, answers_data, data_in_order, in_order_arrivals, received

COMPRESSION_NS = 1_300_000
"""The longest delay of an ACK of out-of-order data (tcp_comp_sack_delay_ns, tcp_comp_sack_slack_ns), and some."""

INVALID_NS = 500_000_000
"""The least time between two answers to invalid segments (tcp_invalid_ratelimit)."""

LEAST_ATO_NS = 40_000_000
"""Data that is sent sooner after data of the peer makes a connection interactive (TCP_ATO_MIN)."""


def compressed(run: Run, difference: Difference) -> bool:
    """ACKs of out-of-order data are joined, as their timer permits (`tcp_send_ack()` in `__tcp_ack_snd_check()`)."""
    kinds = (
        "sack of ACK",
        f"flags {ECE:02x} of ACK",
        "kernel sends data, ours ACK",
        "kernel sends data again, ours ACK",
    )
    if difference.kind not in kinds:
        return False
    one = run.played.sent[difference.index]
    same = [s.segment for s in run.played.sent[: difference.index] if s.segment.ack == one.segment.ack]
    reports = sum(1 for segment in same if segment.sack and not segment.length)
    if one.segment.length:
        return reports >= 3 and _carries_report(run, difference.index)
    since = one.at - COMPRESSION_NS
    joined = [
        event.segment
        for at, event in run.happened
        if since <= at <= one.at and isinstance(event, Arrival) and event.segment.length
    ]
    ahead = sum(1 for segment in joined if segment.seq > one.segment.ack)
    return bool(one.segment.sack) and reports >= 3 and ahead >= 2


def _carries_report(run: Run, index: int) -> bool:
    """Whether data reports a segment behind a gap whose ACK may have waited: the data is no answer to it."""
    one, before = run.played.sent[index], run.played.sent[:index]
    last = before[-1].at if before else 0
    return any(
        QUICK_RESPONSE_NS < one.at - at <= COMPRESSION_NS and last < at
        for at, event in run.happened
        if isinstance(event, Arrival)
        and event.segment.length
        and event.segment.seq > one.segment.ack
        and any(
            left <= event.segment.seq and event.segment.seq + event.segment.length <= right
            for left, right in one.segment.sack
        )
    )


def _unread(run: Run, difference: Difference) -> int:
    """Bytes that the application has not read at the time of the difference."""
    calls = [at for at, event in run.happened if isinstance(event, Call)]
    results = zip(calls, run.played.results, strict=False)
    read = sum(value for at, (name, value) in results if name == "read" and value > 0 and at < difference.at)
    taken = max((s.segment.ack for s in run.played.sent[: difference.index + 1]), default=1)
    if difference.kind == "only ours sends: ACK":
        # The kernel has not acknowledged all that has arrived.
        taken = max(taken, received(run, difference.at))
    return taken - 1 - read


def slow_reader(run: Run, difference: Difference) -> bool:
    """The application reads slowly: when ACKs leave depends on the memory that the kernel's packets take."""
    # Our ACK may come before a segment of the kernel's timer, and the kernel's before one of ours.
    ours_first = difference.kind == "kernel sends data again, ours ACK"
    if difference.index < 0 or "ACK" not in difference.kind or difference.kind.startswith("window of "):
        return False
    if "data again" in difference.kind and not ours_first and not _answers_alone(run, difference):
        return False
    # The kernel compares with the longest segment that has arrived (`rcv_mss`).
    arrived = (e for e in run.script.events if isinstance(e, Arrival) and e.at <= difference.at)
    longest = max((e.segment.length for e in arrived), default=0)
    unread = _unread(run, difference)
    return longest > 0 and (unread > longest or (unread > 0 and _shrinks_window(run, difference)))


def _answers_alone(run: Run, difference: Difference) -> bool:
    """Whether the kernel acknowledges data at once where ours sends nothing until a timer expires."""
    at = run.played.sent[difference.index].at
    return (
        difference.kind == "kernel sends ACK, ours data again"
        and difference.at == at
        and answers_data(run, at)
    )


def _shrinks_window(run: Run, difference: Difference) -> bool:
    """Whether the kernel announces a smaller window than before: then it delays the ACK of two segments."""
    sent = run.played.sent[: difference.index + 1]
    return len(sent) > 1 and sent[-1].segment.window < sent[-2].segment.window


def d_sack_outlasts(run: Run, difference: Difference) -> bool:
    """The kernel reports the old part of a segment behind another one, which header prediction has taken."""
    # The report makes data shorter.
    if difference.kind not in ("sack of ACK", "sack of data", "length of data", "length of data again"):
        return False
    one = run.played.sent[difference.index]
    if not one.segment.sack or one.segment.sack[0][1] > one.segment.ack:
        return False
    left, right = one.segment.sack[0]
    data = [
        e.segment for at, e in run.happened if at <= one.at and isinstance(e, Arrival) and e.segment.length
    ]
    return any(segment.seq == left and segment.seq + segment.length > right for segment in data[-3:-1])


def renews_timestamp(run: Run, difference: Difference) -> bool:
    """The kernel echoes data in order with an old ACK, whose timestamp only header prediction takes."""
    if not difference.kind.startswith("echo of "):
        return False
    one = run.played.sent[difference.index]
    return any(
        segment.ack < acknowledged and segment.stamp == one.segment.echo
        for _, segment, acknowledged in data_in_order(run, one.at)
    )


def joined_before_duplicate(run: Run, difference: Difference) -> bool:
    """A partly old segment begins where another one ends that the socket holds.

    A third one covers that place, or lies within the segment. Which of the two the kernel's tree meets first decides
    whether the segment is joined without a D-SACK.
    """
    if difference.kind not in ("sack of ACK", "sack of data"):
        return False
    one = run.played.sent[difference.index].segment
    held = [
        event.segment
        for at, event in run.happened
        if at <= difference.at
        and isinstance(event, Arrival)
        and (event.segment.length or event.segment.flags & FIN)
    ]
    if len(held) < 2 or held[-1].seq <= one.ack or (one.sack and one.sack[0][0] == held[-1].seq):
        return False
    start = held[-1].seq
    ends = any(segment.seq < start == segment.seq + segment.length for segment in held[:-1])
    covers = any(segment.seq <= start < segment.seq + segment.length for segment in held[:-1])
    inside = any(start < segment.seq < start + held[-1].length for segment in held[:-1])
    return ends and (covers or inside)


def limits_answers_in_ticks(run: Run, difference: Difference) -> bool:
    """The kernel counts the half second between answers to invalid segments in ticks."""
    sent, index = run.played.sent, difference.index
    kinds = (
        "stamp of ACK",
        "time of ACK",
        "ack of ACK",
        "echo of ACK",
        "sack of ACK",
        "only the kernel sends: ACK",
    )
    if not (difference.kind in kinds or difference.kind.startswith("kernel sends ACK")) or index < 1:
        return False
    one = sent[index]
    answered = answered_by(run, one.at)
    # The kernel answers a segment without data and FIN only if it is invalid.
    is_invalid = bool(answered) and not answered[-1][1].length and not answered[-1][1].flags & FIN
    answers = [earlier.at for earlier in sent[:index] if earlier.segment.is_bare_ack]
    return is_invalid and any(abs(one.at - at - INVALID_NS) <= TICK_NS for at in answers)


def answers_at_limit(run: Run, difference: Difference) -> bool:
    """The host has sent data as long after the peer's as makes a connection interactive: then it delays ACKs.

    The kernel counts that time in ticks (`tcp_event_data_sent()`), at first from the opening.
    """
    about_ack = "ACK" in difference.kind and not difference.kind.startswith("window of ")
    if difference.index < 0 or not about_ack or "again" in difference.kind:
        return False
    sent, decided, timed = run.played.sent, False, False
    pairs = list(itertools.pairwise(in_order_arrivals(run, difference.at)))
    for number, (arrived, following) in enumerate(reversed(pairs)):
        # What differs answers the last data, or the data before it. Older data counts if no timer has sent an ACK
        # since, and no later answer has decided.
        timed |= number > 0 and not _answers_soon(sent, following)
        if number >= 2 and (decided or timed):
            return False
        answers = (one.at for one in sent if one.segment.length and arrived < one.at < following)
        # The first of the data sent in between decides.
        waited = next(answers, difference.at) - arrived
        if abs(waited - LEAST_ATO_NS) <= TICK_NS and arrived + waited < following:
            return True
        decided |= waited < LEAST_ATO_NS and arrived + waited < following
    return False


def _answers_soon(sent: list[Sent], arrived: int) -> bool:
    """Whether something has left before the timer of a delayed ACK could send it."""
    return any(arrived <= one.at < arrived + LEAST_ATO_NS - TICK_NS for one in sent)


def waits_by_interval_at_limit(run: Run, difference: Difference) -> bool:
    """Data has come as long after other data as the ACK of the latter could wait.

    Only a shorter interval counts for how long ACKs wait from then on. The kernel compares ticks
    (`tcp_event_data_recv()`).
    """
    kinds = (
        "kernel sends ACK, ours data",
        "only the kernel sends: ACK",
        "only ours sends: ACK",
        "time of ACK",
    )
    arrivals = in_order_arrivals(run, difference.at)
    if difference.kind not in kinds or not arrivals or difference.at - arrivals[-1] < LEAST_ATO_NS - TICK_NS:
        return False
    wait, distances = LEAST_ATO_NS, []
    for before, at in itertools.pairwise(arrivals[1:]):
        apart = at - before
        distances.append(abs(apart - wait))
        if apart < wait:
            wait = wait // 2 + max(apart, LEAST_ATO_NS // 2)
    # Each further interval halves what the one at the limit has changed.
    return any(distance <= TICK_NS for distance in distances[-3:])
