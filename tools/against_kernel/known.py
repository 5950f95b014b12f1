"""Classes of differences whose cause is known and that stay: docs/engineering/kernel-scripts.md explains each.

A rule looks at what differs and at what must have happened in the script for its cause to apply.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable

from .compare import Difference
from .kernel import QUICK_RESPONSE_NS, RESPONSE_NS, Run
from .ours import repeats
from .packets import ACK, ECE, FIN, PSH, RST, SYN, Segment, Sent
from .ranges import Ranges
from .scripts import MS, Arrival, Call
from .tcp_info import field_of

COMPRESSION_NS = 1_300_000
"""The longest delay of an ACK of out-of-order data (tcp_comp_sack_delay_ns, tcp_comp_sack_slack_ns), and some."""

TICK_NS = 4_000_000
"""A tick of the kernel."""

LEAST_AHEAD_MS = 3
"""A clock in milliseconds cannot be ahead by as much."""

AFTER_A_PAUSE = frozenset(
    {"time of data", "stamp of data", "echo of data", "only the kernel sends: data", "only ours sends: data"}
)
"""Classes of differences that another cwnd causes."""

INVALID_NS = 500_000_000
"""The least time between two answers to invalid segments (tcp_invalid_ratelimit)."""

FEW_BYTES = 100
"""A segment that pacing takes for so few bytes delays the next one by some microseconds."""

COMPUTING_NS = 50_000
"""The longest time between two segments of a burst, on a machine under load."""

LEAST_ATO_NS = 40_000_000
"""Data that is sent sooner after data of the peer makes a connection interactive (TCP_ATO_MIN)."""

DELAYED_ACK_NS = 60_000_000
"""The longest time that an ACK of ordinary data waits, and some."""

MOST_HALVINGS = 4
"""How often a pause may halve the windows of the scripts, down to the initial one."""

LEAST_RTO_NS = 200_000_000
"""The least retransmission timeout (TCP_RTO_MIN)."""


def reason(run: Run, difference: Difference) -> str | None:
    """The name of the class that explains a difference."""
    return next((name for name, applies in RULES.items() if applies(run, difference)), None)


def _full(run: Run) -> int:
    """Payload of the longest segment that the host has sent."""
    return max((sent.segment.length for sent in run.played.sent), default=0)


def _sent_short(run: Run) -> bool:
    """Whether the host has sent a segment with data that is shorter than others."""
    full = _full(run)
    return any(0 < sent.segment.length < full for sent in run.played.sent)


def _joined_writes(run: Run, difference: Difference) -> bool:
    writes = sum(1 for name, _ in run.played.results if name == "write")
    return difference.kind == f"flags {PSH:02x} of data" and writes > 1 and _sent_short(run)


def _data_behind_fin(run: Run, difference: Difference) -> bool:
    fin: int | None = None
    for at, event in run.happened:
        if at > difference.at or not isinstance(event, Arrival) or event.segment.flags & (RST | SYN):
            continue
        segment = event.segment
        end = segment.seq + segment.length
        # A FIN at another place is no different: our stream ends at the first one.
        elsewhere = bool(segment.flags & FIN) and end != fin
        if fin is not None and ((segment.length and end > fin) or elsewhere):
            return True
        if segment.flags & FIN:
            fin = end if fin is None else min(fin, end)
    return False


def _compressed(run: Run, difference: Difference) -> bool:
    kinds = ("sack of ACK", "kernel sends data, ours ACK", "kernel sends data again, ours ACK")
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


def _repaired_before_data(run: Run, difference: Difference) -> bool:
    sent, index = run.played.sent, difference.index
    if difference.kind == "kernel sends data again, ours RST":
        # The data is for a socket that was closed, and a reset answers it behind the retransmissions.
        behind = next((one for one in sent[index + 1 :] if not one.segment.length), None)
        return behind is not None and bool(behind.segment.flags & RST) and _answers_data(run, behind.at)
    if difference.kind == "kernel sends data again, ours ACK":
        # Ours acknowledges a FIN alone before it sends data, and the kernel behind the retransmission.
        return index + 1 < len(sent) and sent[index + 1].segment.is_bare_ack and _answers_fin(run, index)
    # What it does not report yet makes data longer or shorter.
    if difference.kind in ("ack of data", "sack of data", "length of data"):
        return _leaves_before_data(run, index)
    if difference.kind in ("only the kernel sends: ACK", "stamp of ACK", "time of ACK", "ack of ACK") or (
        difference.kind.startswith("kernel sends ACK, ours")
    ):
        # The ACK of the segment's data follows alone. Without SACK, those of the next segments may be equal.
        while index > 1 and sent[index].segment.is_bare_ack:
            data = sent[index - 1]
            if sent[index].at - data.at <= RESPONSE_NS and _leaves_before_data(run, index - 1):
                return True
            if (data.segment.ack, data.segment.sack) != (sent[index].segment.ack, sent[index].segment.sack):
                return False
            index -= 1
        return False
    # What marks the data carries is not echoed either.
    differs = (
        "ack of data again",
        "sack of data again",
        "length of data again",
        f"flags {ECE:02x} of data again",
    )
    return difference.kind in differs and _answers_data(run, sent[index].at)


def _leaves_before_data(run: Run, index: int) -> bool:
    """Whether the kernel sends data in a recovery while it processes the ACK of a segment with data.

    New data leaves as early as retransmissions there.
    """
    data, before = run.played.sent[index], run.played.sent[:index]
    acknowledges = max((one.segment.ack for one in before), default=0)
    keeps_old = data.segment.length > 0 and data.segment.ack == acknowledges
    return keeps_old and _recovers(run, before, data.at) and _answers_data(run, data.at)


def _answered(run: Run, at: int) -> list[tuple[int, Segment]]:
    """The segments that what was sent at a time may answer, and when they arrived."""
    return [
        (arrived, event.segment)
        for arrived, event in run.happened
        if at - RESPONSE_NS <= arrived <= at and isinstance(event, Arrival)
    ]


def _answers_data(run: Run, at: int) -> bool:
    """Whether what was sent at a time answers a segment with data or a FIN."""
    answered = _answered(run, at)
    return bool(answered) and (answered[-1][1].length > 0 or bool(answered[-1][1].flags & FIN))


def _answers_fin(run: Run, index: int) -> bool:
    """Whether a segment answers a FIN in order, which the one behind it acknowledges."""
    one, behind = run.played.sent[index], run.played.sent[index + 1].segment
    answered = _answered(run, one.at)
    if not answered or not answered[-1][1].flags & FIN:
        return False
    fin = answered[-1][1]
    return fin.seq <= one.segment.ack and behind.ack == fin.seq + fin.length + 1 > one.segment.ack


def _recovers(run: Run, sent: list[Sent], at: int) -> bool:
    """Whether not all was acknowledged before that had been outstanding when the host last sent data again."""
    again = max((number for number in range(1, len(sent) + 1) if repeats(sent, number)), default=0)
    answered = _answered(run, at)
    if not again or not answered:
        return False
    outstanding = max(one.segment.seq + one.segment.length for one in sent[:again])
    earlier = [
        event.segment.ack
        for arrived, event in run.happened
        if arrived < answered[-1][0] and isinstance(event, Arrival)
    ]
    # An ACK of what was never sent acknowledges nothing.
    top = max(one.segment.seq + one.segment.length for one in sent)
    return max((ack for ack in earlier if ack <= top), default=0) < outstanding


def _take(got: Ranges, segment: Segment) -> None:
    """The peer's data has arrived. What lies before its stream is none."""
    end = segment.seq + segment.length
    if end > 0:
        got.add(max(segment.seq, 0), end)


def _received(run: Run, at: int) -> int:
    """The end of the peer's data that has arrived in order until a time."""
    got = Ranges()
    got.add(0, 1)
    for arrived, event in run.happened:
        if arrived <= at and isinstance(event, Arrival) and event.segment.length:
            _take(got, event.segment)
    return got.next


def _unread(run: Run, difference: Difference) -> int:
    """Bytes that the application has not read at the time of the difference."""
    calls = [at for at, event in run.happened if isinstance(event, Call)]
    results = zip(calls, run.played.results, strict=False)
    read = sum(value for at, (name, value) in results if name == "read" and value > 0 and at < difference.at)
    taken = max((s.segment.ack for s in run.played.sent[: difference.index + 1]), default=1)
    if difference.kind == "only ours sends: ACK":
        # The kernel has not acknowledged all that has arrived.
        taken = max(taken, _received(run, difference.at))
    return taken - 1 - read


def _slow_reader(run: Run, difference: Difference) -> bool:
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
        and _answers_data(run, at)
    )


def _shrinks_window(run: Run, difference: Difference) -> bool:
    """Whether the kernel announces a smaller window than before: then it delays the ACK of two segments."""
    sent = run.played.sent[: difference.index + 1]
    return len(sent) > 1 and sent[-1].segment.window < sent[-2].segment.window


def _stamps_ahead(run: Run, difference: Difference) -> bool:
    """The kernel stamps a segment with the time at which pacing permits the next one, which lies ahead of its clock."""
    if run.script.algorithm != "bbr" or not difference.kind.startswith("stamp of "):
        return False
    stamps = [(s.at, s.segment.stamp) for s in run.played.sent[: difference.index + 1]]
    stamped = [(at, stamp) for at, stamp in stamps if stamp is not None]
    (first, first_stamp), (at, stamp) = stamped[0], stamped[-1]
    return stamp - first_stamp > (at - first) / MS + LEAST_AHEAD_MS


def _cut_for_other_size(run: Run, difference: Difference) -> bool:
    """A segment was prepared for other options than it left with: its rest joins only what the next one had left."""
    # Ours may wait for the window to permit a full one.
    if difference.kind not in ("length of data", "kernel sends data, ours ACK"):
        return False
    sent, index = run.played.sent, difference.index
    if _ends_at_packet(sent, index):
        return True
    bursts = [one for one in sent[:index] if one.segment.length]
    paces = run.script.algorithm == "bbr"
    if len(bursts) < 2 or (sent[index].at - bursts[-1].at > RESPONSE_NS and not paces):
        return False
    first, earlier = bursts[-1], bursts[-2]
    grown = len(first.segment.sack) != len(earlier.segment.sack) and first.at - earlier.at > RESPONSE_NS
    return grown and 0 < sent[index].segment.length < first.segment.length


def _ends_at_packet(sent: list[Sent], index: int) -> bool:
    """Whether a segment is shorter than the next one of its burst, although that begins where it ends.

    The two have fewer SACK blocks than segments before. So a packet that was prepared beside more blocks ends there,
    and only one other could be joined with what was left before it (`tcp_grow_skb()`).
    """
    if index + 1 >= len(sent):
        return False
    one, behind = sent[index].segment, sent[index + 1].segment
    follows = behind.seq == one.seq + one.length and sent[index + 1].at - sent[index].at <= COMPUTING_NS
    is_shorter = 0 < one.length < behind.length and len(one.sack) == len(behind.sack)
    had_more = any(len(earlier.segment.sack) > len(one.sack) for earlier in sent[:index])
    return follows and is_shorter and had_more


def _pauses_at_limit(run: Run, difference: Difference) -> bool:
    """Whether a pause of the sender is longer than the timeout: the kernel counts both in ticks.

    Each further timeout halves cwnd once more (`tcp_cwnd_restart()`).
    """
    about_cwnd = difference.kind.startswith("info: snd_") or difference.kind in AFTER_A_PAUSE
    if not about_cwnd or run.script.algorithm == "bbr" or not run.played.info:
        return False
    final = field_of(run.played.info, "rto") * 1000
    rtos = dict(difference.timeouts)
    data = [one.at for one in run.played.sent if one.segment.length and one.at <= difference.at]
    pauses = [(later - at, rtos.get(later, final)) for at, later in itertools.pairwise(data)]
    # Each timeout is rounded up to a tick.
    limits = ((pause, rto, times) for pause, rto in pauses for times in range(1, MOST_HALVINGS + 1))
    return any(abs(pause - times * rto) <= (times + 1) * TICK_NS for pause, rto, times in limits)


def _sends_little(run: Run, difference: Difference) -> bool:
    """The kernel lowers cwnd if it was not used for an RTO, which is at least 200 ms."""
    # A timeout afterwards takes the lower window as its threshold.
    lowered = difference.kind in ("info: snd_cwnd", "info: snd_ssthresh snd_cwnd") or (
        difference.kind == "info: snd_ssthresh" and _repeats_last(run)
    )
    is_less = lowered and difference.kernel < difference.ours
    is_later = _sends_later(run, difference)
    if not (is_less or is_later) or run.script.algorithm == "bbr":
        return False
    # Only an ACK of new data opens cwnd, and shows that it was used. One that lies before the window is not processed.
    heard, acknowledged = [], 0
    for at, event in run.happened:
        if not isinstance(event, Arrival) or _is_before_window(run, at, event.segment):
            continue
        if event.segment.ack > acknowledged:
            heard.append(at)
            acknowledged = event.segment.ack
    sent = [one.at for one in run.played.sent if one.segment.length or one.segment.flags & FIN]
    since = _last_repair(run, difference.at) if is_later else 0
    within = (at for at in sent if since <= at <= difference.at)
    return any(at - max((one for one in heard if one < at), default=at) >= LEAST_RTO_NS for at in within)


def _last_repair(run: Run, until: int) -> int:
    """When the kernel last sent data again: a recovery sets another cwnd."""
    sent = run.played.sent
    again = (n for n, one in enumerate(sent, 1) if one.at <= until and repeats(sent, n))
    return max((sent[n - 1].at for n in again), default=0)


def _sends_later(run: Run, difference: Difference) -> bool:
    """Whether the kernel sends new data later than ours, or not at all."""
    sent = run.played.sent[difference.index :]
    return difference.kind in AFTER_A_PAUSE and (not sent or sent[0].at > difference.at)


def _is_before_window(run: Run, at: int, segment: Segment) -> bool:
    """Whether a segment ends before what the kernel had acknowledged when it arrived (`tcp_sequence()`)."""
    acknowledged = max((one.segment.ack for one in run.played.sent if one.at <= at), default=0)
    return segment.seq + segment.length < acknowledged


def _repeats_last(run: Run) -> bool:
    """Whether the last data that the host has sent is a retransmission."""
    carried = [number for number, one in enumerate(run.played.sent, 1) if one.segment.length]
    return bool(carried) and repeats(run.played.sent, carried[-1])


def _in_order_data(run: Run, until: int) -> list[int]:
    """When data in order has arrived that acknowledges nothing new: header prediction takes it if memory permits."""
    got, acknowledged, times = Ranges(), 0, []
    got.add(0, 1)
    for at, event in run.happened:
        if at > until or not isinstance(event, Arrival):
            continue
        segment = event.segment
        if segment.length and segment.seq == got.next and segment.ack == acknowledged:
            times.append(at)
        acknowledged = max(acknowledged, segment.ack)
        _take(got, segment)
    return times


def _passes_over_ack(run: Run, difference: Difference) -> bool:
    """Data that header prediction takes sends nothing again: its ACK is not looked at (`tcp_rcv_established()`)."""
    sent, index = run.played.sent, difference.index
    by_ours = difference.kind.endswith("ours data again") or difference.kind in (
        "time of data again",
        "stamp of data again",
        "only ours sends: data again",
    )
    is_earlier = index >= len(sent) or sent[index].at - difference.at > RESPONSE_NS
    taken = _in_order_data(run, difference.at)
    return by_ours and is_earlier and bool(taken) and difference.at - taken[-1] <= RESPONSE_NS


def _probes_after_data(run: Run, difference: Difference) -> bool:
    """Data that header prediction does not take restarts the timer of window probes (`tcp_ack_probe()`).

    The window is closed, or less than a segment that waits. Then the probe fills it.
    """
    if difference.index < 0:
        return False
    arrived = [(at, e.segment) for at, e in run.happened if at <= difference.at and isinstance(e, Arrival)]
    if not arrived or difference.at - arrived[-1][0] <= RESPONSE_NS:
        return False
    if difference.kind in ("time of data", "stamp of data"):
        full, window = _full(run), arrived[-1][1].window
        fills = run.played.sent[difference.index].segment.length == window < full
    else:
        full, fills = 1, "ACK" in difference.kind and "data" not in difference.kind
    if not fills or arrived[-1][1].window >= full:
        return False
    closed = next((at for at, segment in reversed(arrived) if segment.window >= full), 0)
    data = [at for at in _in_order_data(run, difference.at) if at > closed]
    written = any(isinstance(event, Call) and event.name == "write" for _, event in run.happened)
    return written and bool(data) and difference.at - data[-1] > DELAYED_ACK_NS


def _uncorked_by_data(run: Run, difference: Difference) -> bool:
    """Data that header prediction does not take ends the cork of MSG_MORE (`tcp_data_snd_check()`)."""
    sent, index = run.played.sent, difference.index
    # Ours acknowledges the data alone, or later.
    alone = ("kernel sends data, ours ACK", "only the kernel sends: data")
    by_kernel = difference.kind.endswith(" of data") or difference.kind in alone
    if not by_kernel or not 0 <= index < len(sent):
        return False
    one = sent[index]
    writes = [e for at, e in run.happened if at <= one.at and isinstance(e, Call) and e.name == "write"]
    is_corked = bool(writes) and bool(writes[-1].arguments[1] & socket.MSG_MORE)
    data = _in_order_data(run, one.at)
    return is_corked and one.segment.length < _full(run) and bool(data) and one.at - data[-1] <= RESPONSE_NS


def _d_sack_outlasts(run: Run, difference: Difference) -> bool:
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


def _joined_before_duplicate(run: Run, difference: Difference) -> bool:
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


def _paces_few_bytes(run: Run, difference: Difference) -> bool:
    """New data leaves behind a retransmission so short that pacing holds nothing back while the kernel computes.

    Between retransmissions it does not look at the clock again, but before new data it does (`tcp_tsq_write()`).
    """
    index = difference.index
    if run.script.algorithm != "bbr" or difference.kind != "kernel sends data, ours data again" or index < 1:
        return False
    before, one = run.played.sent[index - 1 : index + 1]
    is_short = 0 < before.segment.length <= FEW_BYTES and repeats(run.played.sent, index)
    return is_short and one.at - before.at <= COMPUTING_NS


def _reneged(run: Run, difference: Difference) -> bool:
    """The peer has acknowledged a part of what it had reported, and the kernel has sent the rest again.

    After the timeout ours has forgotten the times of all outstanding segments. The kernel has forgotten those of
    reported segments only (`tcp_timeout_mark_lost()`). Those are one packet in the kernel (`tcp_shift_skb_data()`),
    which is cut anew: other flags and lengths may be those of the first part of the rest.
    """
    is_cut = difference.kind in ("flags 08 of data again", "length of data again")
    until = difference.at + (TICK_NS if is_cut else 0)
    arrived = [(at, e.segment) for at, e in run.happened if at <= difference.at and isinstance(e, Arrival)]
    blocks: set[tuple[int, int]] = set()
    for at, segment in arrived:
        inside = any(left < segment.ack < right for left, right in blocks)
        again = (one for one in run.played.sent if at < one.at < until and one.segment.length)
        if inside and any(one.segment.seq == segment.ack for one in again):
            return True
        blocks.update(segment.sack)
    return False


def _limits_answers_in_ticks(run: Run, difference: Difference) -> bool:
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
    answered = _answered(run, one.at)
    # The kernel answers a segment without data and FIN only if it is invalid.
    is_invalid = bool(answered) and not answered[-1][1].length and not answered[-1][1].flags & FIN
    answers = [earlier.at for earlier in sent[:index] if earlier.segment.is_bare_ack]
    return is_invalid and any(abs(one.at - at - INVALID_NS) <= TICK_NS for at in answers)


def _in_order_arrivals(run: Run, until: int) -> list[int]:
    """When the connection was opened, which counts as data (`lrcvtime`), and when data has come in order."""
    opened = (at for at, event in run.happened if isinstance(event, Arrival) and event.segment.flags & ACK)
    got, arrivals = Ranges(), list(itertools.islice(opened, 1))
    got.add(0, 1)
    for at, event in run.happened:
        if at <= until and isinstance(event, Arrival) and event.segment.length:
            before = got.next
            _take(got, event.segment)
            if got.next > before:
                arrivals.append(at)
    return arrivals


def _answers_at_limit(run: Run, difference: Difference) -> bool:
    """The host has sent data as long after the peer's as makes a connection interactive: then it delays ACKs.

    The kernel counts that time in ticks (`tcp_event_data_sent()`), at first from the opening.
    """
    about_ack = "ACK" in difference.kind and not difference.kind.startswith("window of ")
    if difference.index < 0 or not about_ack or "again" in difference.kind:
        return False
    sent, decided, timed = run.played.sent, False, False
    pairs = list(itertools.pairwise(_in_order_arrivals(run, difference.at)))
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


def _waits_by_interval_at_limit(run: Run, difference: Difference) -> bool:
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
    arrivals = _in_order_arrivals(run, difference.at)
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


RULES: dict[str, Callable[[Run, Difference], bool]] = {
    "PSH where writes are joined": _joined_writes,
    "the peer sends data behind its FIN": _data_behind_fin,
    "ACKs of out-of-order data are joined": _compressed,
    "ACKs behind a slow reader depend on the kernel's memory": _slow_reader,
    "cwnd of an application that sends little": _sends_little,
    "a pause is as long as the timeout": _pauses_at_limit,
    "a segment was prepared for other options": _cut_for_other_size,
    "a timestamp is that of the next departure": _stamps_ahead,
    "a D-SACK outlasts a segment that header prediction takes": _d_sack_outlasts,
    "a duplicate joins the segment before it": _joined_before_duplicate,
    "pacing takes no time for a retransmission of few bytes": _paces_few_bytes,
    "the limit of answers is counted in ticks": _limits_answers_in_ticks,
    "an answer is as late as makes a connection interactive": _answers_at_limit,
    "an interval is as long as an ACK may wait": _waits_by_interval_at_limit,
    "header prediction takes data without a look at its ACK": _passes_over_ack,
    "a window probe depends on the memory for data that came before": _probes_after_data,
    "the cork of more data ends if there is no memory for data": _uncorked_by_data,
    "a retransmission leaves before the data of the same segment is taken": _repaired_before_data,
    "the peer takes a report back": _reneged,
}
