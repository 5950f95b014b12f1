"""Known differences of the congestion window behind a pause or with an application that sends little."""

from __future__ import annotations

import itertools

from ..compare import Difference
from ..kernel import Run
from ..ours import repeats
from ..packets import FIN
from ..scripts import Arrival
from ..tcp_info import field_of
from .shown import TICK_NS, is_before_window

AFTER_A_PAUSE = frozenset(
    {"time of data", "stamp of data", "echo of data", "only the kernel sends: data", "only ours sends: data"}
)
"""Classes of differences that another cwnd causes."""

MOST_HALVINGS = 4
"""How often a pause may halve the windows of the scripts, down to the initial one."""

LEAST_RTO_NS = 200_000_000
"""The least retransmission timeout (TCP_RTO_MIN)."""


def pauses_at_limit(run: Run, difference: Difference) -> bool:
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


def sends_little(run: Run, difference: Difference) -> bool:
    """The kernel lowers cwnd if it was not used for an RTO, which is at least 200 ms."""
    # A timeout afterwards takes the lower window as its threshold.
    lowered = difference.kind in ("info: snd_cwnd", "info: snd_ssthresh snd_cwnd") or (
        difference.kind == "info: snd_ssthresh" and _repeats_any(run)
    )
    is_less = lowered and difference.kernel < difference.ours
    is_later = _sends_later(run, difference)
    if not (is_less or is_later) or run.script.algorithm == "bbr":
        return False
    # Only an ACK of new data opens cwnd, and shows that it was used. One that lies before the window is not processed.
    heard, acknowledged = [], 0
    for at, event in run.happened:
        if not isinstance(event, Arrival) or is_before_window(run, at, event.segment):
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


def _repeats_any(run: Run) -> bool:
    """Whether the host has sent data again."""
    return any(repeats(run.played.sent, number) for number in range(1, len(run.played.sent) + 1))
