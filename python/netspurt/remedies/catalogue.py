"""Which remedies are tried against which limits.

Lives here: the table, and the choice by the shares of a budget. Must not live here: the remedies themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from netspurt.diagnosing.remedies_text import LEAST_SHARE
from netspurt.remedies.proposals import control, exchanges, queues, repair, short_segments, start, windows
from netspurt.remedies.remedy import Remedy
from netspurt.remedies.situation import Situation

LOSSES = ("fast-recovery", "timeout", "tail-loss", "congestion-window")
SPURIOUS = ("reordering", "spurious")
FULL = ("bottleneck", "cross-traffic", "shaper")
WINDOWS = ("receive-window", "send-buffer", "application-window")

CATALOGUE: tuple[tuple[Callable[[Situation], Remedy | None], tuple[str, ...]], ...] = (
    (windows.larger_receive_window, ("receive-window",)),
    (windows.window_scaling, ("receive-window",)),
    (windows.larger_send_buffer, ("send-buffer",)),
    (start.initial_window, ("slow-start", "idle-restart")),
    (short_segments.no_nagle, ("nagle-delayed-ack",)),
    (short_segments.no_delayed_ack, ("nagle-delayed-ack",)),
    (short_segments.one_write, ("nagle-delayed-ack",)),
    (repair.sack, (*LOSSES, *SPURIOUS, "policer")),
    (repair.rack_and_tlp, (*LOSSES, *SPURIOUS, "policer")),
    (repair.undo, SPURIOUS),
    (control.cubic, (*LOSSES, "policer")),
    (control.bbr, (*LOSSES, *FULL, "policer")),
    (control.prague, (*LOSSES, *FULL)),
    (control.pacing, (*LOSSES, "policer")),
    (control.no_pacing, ("pacing",)),
    (control.ecn, (*LOSSES, *FULL)),
    (queues.fq_codel, (*FULL, "ack-path")),
    (queues.cake, (*FULL, "ack-path")),
    (queues.pie, (*FULL, "ack-path")),
    (queues.shaper_below_policer, (*LOSSES, "policer")),
    (queues.shorter_queue, (*FULL, "ack-path")),
    (repair.parallel_connections, (*LOSSES, *WINDOWS, "cross-traffic", "slow-start")),
    (queues.mss_clamp, ("path-mtu",)),
    (queues.mtu_probing, ("path-mtu",)),
    (start.no_idle_restart, ("idle-restart",)),
    (start.keep_connection, ("handshake", "slow-start")),
    (start.fast_open, ("handshake",)),
    (exchanges.larger_application_window, ("application-window", "round-trip", "application")),
)
"""Each remedy with the limits that it relaxes."""


def candidates(situation: Situation) -> list[Remedy]:
    """The remedies for every limit that takes at least 2 % of the time and that can be relaxed."""
    found = []
    for make, limits in CATALOGUE:
        if any(situation.shares.get(limit, 0.0) >= LEAST_SHARE for limit in limits):
            remedy = make(situation)
            if remedy is not None:
                found.append(remedy)
    return found
