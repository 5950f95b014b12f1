"""Classes of differences whose cause is known and that stay: docs/engineering/kernel-scripts.md explains each.

A rule looks at what differs and at what must have happened in the script for its cause to apply.
"""

from __future__ import annotations

from collections.abc import Callable

from ..compare import Difference
from ..kernel import Run
from . import acks, cwnd, repairs, segments

RULES: dict[str, Callable[[Run, Difference], bool]] = {
    "PSH where writes are joined": segments.joined_writes,
    "the peer sends data behind its FIN": repairs.data_behind_fin,
    "ACKs of out-of-order data are joined": acks.compressed,
    "ACKs behind a slow reader depend on the kernel's memory": acks.slow_reader,
    "cwnd of an application that sends little": cwnd.sends_little,
    "a pause is as long as the timeout": cwnd.pauses_at_limit,
    "a segment was prepared for other options": segments.cut_for_other_size,
    "a timestamp is that of the next departure": segments.stamps_ahead,
    "a D-SACK outlasts a segment that header prediction takes": acks.d_sack_outlasts,
    "header prediction takes the timestamp of data with an old ACK": acks.renews_timestamp,
    "a duplicate joins the segment before it": acks.joined_before_duplicate,
    "pacing takes no time for a retransmission of few bytes": segments.paces_few_bytes,
    "the limit of answers is counted in ticks": acks.limits_answers_in_ticks,
    "an answer is as late as makes a connection interactive": acks.answers_at_limit,
    "an interval is as long as an ACK may wait": acks.waits_by_interval_at_limit,
    "header prediction takes data without a look at its ACK": repairs.passes_over_ack,
    "a window probe depends on the memory for data that came before": segments.probes_after_data,
    "the cork of more data ends if there is no memory for data": segments.uncorked_by_data,
    "a retransmission leaves before the data of the same segment is taken": repairs.repaired_before_data,
    "the peer takes a report back": repairs.reneged,
}


def reason(run: Run, difference: Difference) -> str | None:
    """The name of the class that explains a difference."""
    return next((name for name, applies in RULES.items() if applies(run, difference)), None)
