"""Known differences of how data is cut into segments, stamped, paced and held back."""

from __future__ import annotations

import socket

from ..compare import Difference
from ..kernel import RESPONSE_NS, Run
from ..ours import repeats
from ..packets import PSH, Sent
from ..scripts import MS, Arrival, Call
from .shown import COMPUTING_NS, full_length, in_order_data

LEAST_AHEAD_MS = 3
"""A clock in milliseconds cannot be ahead by as much."""

FEW_BYTES = 100
"""A segment that pacing takes for so few bytes delays the next one by some microseconds."""

DELAYED_ACK_NS = 60_000_000
"""The longest time that an ACK of ordinary data waits, and some."""


def _sent_short(run: Run) -> bool:
    """Whether the host has sent a segment with data that is shorter than others."""
    full = full_length(run)
    return any(0 < sent.segment.length < full for sent in run.played.sent)


def joined_writes(run: Run, difference: Difference) -> bool:
    """Writes are joined in one segment, of which one or several have a PSH."""
    writes = sum(1 for name, _ in run.played.results if name == "write")
    return difference.kind == f"flags {PSH:02x} of data" and writes > 1 and _sent_short(run)


def stamps_ahead(run: Run, difference: Difference) -> bool:
    """The kernel stamps a segment with the time at which pacing permits the next one, which lies ahead of its clock."""
    if run.script.algorithm != "bbr" or not difference.kind.startswith("stamp of "):
        return False
    stamps = [(s.at, s.segment.stamp) for s in run.played.sent[: difference.index + 1]]
    stamped = [(at, stamp) for at, stamp in stamps if stamp is not None]
    (first, first_stamp), (at, stamp) = stamped[0], stamped[-1]
    return stamp - first_stamp > (at - first) / MS + LEAST_AHEAD_MS


def cut_for_other_size(run: Run, difference: Difference) -> bool:
    """A segment was prepared for other options than it left with: its rest joins only what the next one had left."""
    # Ours may wait for the window to permit a full one.
    if difference.kind not in ("length of data", "kernel sends data, ours ACK"):
        return False
    sent, index = run.played.sent, difference.index
    if _ends_at_packet(sent, index):
        return True
    bursts = [one for one in sent[:index] if one.segment.length]
    if len(bursts) < 2:
        return False
    first, earlier = bursts[-1], bursts[-2]
    # The rest may also leave later, alone.
    if sent[index].segment.seq != first.segment.seq + first.segment.length:
        return False
    grown = len(first.segment.sack) != len(earlier.segment.sack) and first.at - earlier.at > RESPONSE_NS
    return grown and 0 < sent[index].segment.length < first.segment.length


def _ends_at_packet(sent: list[Sent], index: int) -> bool:
    """Whether a segment is shorter than the next one of its burst, although that begins where it ends.

    Segments before had another number of SACK blocks. So a packet that was prepared beside those ends there, and only
    one other could be joined with what was left before it (`tcp_grow_skb()`).
    """
    if index + 1 >= len(sent):
        return False
    one, behind = sent[index].segment, sent[index + 1].segment
    follows = behind.seq == one.seq + one.length and sent[index + 1].at - sent[index].at <= COMPUTING_NS
    is_shorter = 0 < one.length < behind.length and len(one.sack) == len(behind.sack)
    had_others = any(len(earlier.segment.sack) not in (0, len(one.sack)) for earlier in sent[:index])
    return follows and is_shorter and had_others


def probes_after_data(run: Run, difference: Difference) -> bool:
    """Data that header prediction does not take restarts the timer of window probes (`tcp_ack_probe()`).

    The window is closed, or less than a segment that waits. Then the probe fills it.
    """
    if difference.index < 0:
        return False
    arrived = [(at, e.segment) for at, e in run.happened if at <= difference.at and isinstance(e, Arrival)]
    if not arrived or difference.at - arrived[-1][0] <= RESPONSE_NS:
        return False
    if difference.kind in ("time of data", "stamp of data"):
        full, window = full_length(run), arrived[-1][1].window
        fills = run.played.sent[difference.index].segment.length == window < full
    else:
        full, fills = 1, "ACK" in difference.kind and "data" not in difference.kind
    if not fills or arrived[-1][1].window >= full:
        return False
    closed = next((at for at, segment in reversed(arrived) if segment.window >= full), 0)
    data = [at for at in in_order_data(run, difference.at) if at > closed]
    written = any(isinstance(event, Call) and event.name == "write" for _, event in run.happened)
    return written and bool(data) and difference.at - data[-1] > DELAYED_ACK_NS


def uncorked_by_data(run: Run, difference: Difference) -> bool:
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
    data = in_order_data(run, one.at)
    return (
        is_corked
        and one.segment.length < full_length(run)
        and bool(data)
        and one.at - data[-1] <= RESPONSE_NS
    )


def paces_few_bytes(run: Run, difference: Difference) -> bool:
    """New data leaves behind a retransmission so short that pacing holds nothing back while the kernel computes.

    Between retransmissions it does not look at the clock again, but before new data it does (`tcp_tsq_write()`).
    """
    index = difference.index
    if run.script.algorithm != "bbr" or difference.kind != "kernel sends data, ours data again" or index < 1:
        return False
    before, one = run.played.sent[index - 1 : index + 1]
    is_short = 0 < before.segment.length <= FEW_BYTES and repeats(run.played.sent, index)
    return is_short and one.at - before.at <= COMPUTING_NS
