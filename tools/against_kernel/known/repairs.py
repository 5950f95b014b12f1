"""Known differences of retransmissions, and of what a peer says twice or otherwise."""

from __future__ import annotations

from ..compare import Difference
from ..kernel import RESPONSE_NS, Run
from ..ours import repeats
from ..packets import ECE, FIN, RST, SYN, Segment, Sent
from ..scripts import Arrival
from .shown import TICK_NS, answered_by, answers_data, in_order_data


def data_behind_fin(run: Run, difference: Difference) -> bool:
    """The peer has sent data behind its FIN, or a second FIN elsewhere."""
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


def repaired_before_data(run: Run, difference: Difference) -> bool:
    """The kernel sends again while it looks at the ACK of a segment, and takes the segment's data behind that."""
    sent, index = run.played.sent, difference.index
    behind = next((one for one in sent[index + 1 :] if not one.segment.length), None)
    if difference.kind == "kernel sends data again, ours RST":
        # The data is for a socket that was closed, and a reset answers it behind the retransmissions.
        return behind is not None and bool(behind.segment.flags & RST) and answers_data(run, behind.at)
    if difference.kind == "kernel sends data again, ours ACK":
        # Ours acknowledges a FIN alone before it sends data, and the kernel behind the retransmissions.
        if behind is None or behind.at - sent[index].at > RESPONSE_NS:
            return False
        return behind.segment.is_bare_ack and _answers_fin(run, index, behind.segment)
    # What it does not report yet makes data longer or shorter.
    if difference.kind in ("ack of data", "sack of data", "length of data"):
        return _leaves_before_data(run, index)
    of_ack = (
        "only the kernel sends: ACK",
        "stamp of ACK",
        "time of ACK",
        "ack of ACK",
        "echo of ACK",
        f"flags {ECE:02x} of ACK",
    )
    if difference.kind in of_ack or difference.kind.startswith("kernel sends ACK, ours"):
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
        "ack of FIN again",
        "sack of FIN again",
    )
    return difference.kind in differs and answers_data(run, sent[index].at)


def _leaves_before_data(run: Run, index: int) -> bool:
    """Whether the kernel sends data in a recovery while it processes the ACK of a segment with data.

    New data leaves as early as retransmissions there.
    """
    data, before = run.played.sent[index], run.played.sent[:index]
    acknowledges = max((one.segment.ack for one in before), default=0)
    keeps_old = data.segment.length > 0 and data.segment.ack == acknowledges
    return keeps_old and _recovers(run, before, data.at) and answers_data(run, data.at)


def _answers_fin(run: Run, index: int, behind: Segment) -> bool:
    """Whether a segment answers a FIN in order, which one behind it acknowledges."""
    one = run.played.sent[index]
    answered = answered_by(run, one.at)
    if not answered or not answered[-1][1].flags & FIN:
        return False
    fin = answered[-1][1]
    return fin.seq <= one.segment.ack and behind.ack == fin.seq + fin.length + 1 > one.segment.ack


def _recovers(run: Run, sent: list[Sent], at: int) -> bool:
    """Whether not all was acknowledged before that had been outstanding when the host last sent data again."""
    again = max((number for number in range(1, len(sent) + 1) if repeats(sent, number)), default=0)
    answered = answered_by(run, at)
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


def passes_over_ack(run: Run, difference: Difference) -> bool:
    """Data that header prediction takes sends nothing again: its ACK is not looked at (`tcp_rcv_established()`)."""
    sent, index = run.played.sent, difference.index
    by_ours = difference.kind.endswith("ours data again") or difference.kind in (
        "time of data again",
        "stamp of data again",
        "only ours sends: data again",
    )
    taken = in_order_data(run, difference.at)
    if not by_ours or not taken or difference.at - taken[-1] > RESPONSE_NS:
        return False
    if difference.kind == "kernel sends ACK, ours data again":
        # The kernel may acknowledge the data at once. Then that comes first.
        return index == 0 or sent[index - 1].at < taken[-1]
    return index >= len(sent) or sent[index].at - difference.at > RESPONSE_NS


def reneged(run: Run, difference: Difference) -> bool:
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
