"""Beyond the document: the best policy for current stacks.

Three ways to write, over a short and a long path, to a receiver that delays its acknowledgments as Linux does
today. The cost of a policy is relative to the best policy in each case: its time relative to the fastest, its segments
relative to the fewest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netspurt.settings import Value
from netspurt.studies.doupnik.setting import LAN
from netspurt.studies.doupnik.wire import POLICIES
from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Table

if TYPE_CHECKING:
    from netspurt import _core

EXCHANGES = 100

WORKLOADS: dict[str, dict[str, Value]] = {
    "write–write–read": {
        "flow.0.app.request": {"writes": ["100 B", "100 B"]},
        "flow.0.app.response": "200 B",
    },
    "a reply in pieces": {
        "flow.0.app.response": {"size": "32143 B", "writes": ["60 B", "76 B"], "piece": "4096 B"},
    },
    "a hundred small writes": {
        "flow.0.app.response": {"size": "5 kB", "piece": "50 B"},
    },
}

DELAYS = ("250 us", "20 ms")
"""One-way delays."""

HOST: dict[str, Value] = {
    "write": "1 us",
    "byte_written": "0.2 ns",
    "segment_out": "2 us",
    "segment_in": "2 us",
    "ack_in": "1 us",
}
"""A current host. Its costs separate the writes in time, so that they do not all happen at one instant."""

Case = tuple[str, str]
"""A way to write, and a delay."""

CASES: tuple[Case, ...] = tuple((workload, delay) for workload in WORKLOADS for delay in DELAYS)


@dataclass(frozen=True)
class Cost:
    """The cost of an exchange."""

    seconds: float
    segments: float


def cost(run: _core.Run) -> Cost:
    """Mean time of an exchange, and data segments in both directions."""
    delays = np.asarray(run.pages()["delay_s"], dtype=np.float64)
    lengths = np.asarray(run.segments()["length"], dtype=np.int64)
    return Cost(float(delays.mean()), float((lengths > 0).sum()) / len(delays))


class Today:
    """Seven policies, three ways to write, two paths."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One run each; the runs have no randomness."""
        for policy in POLICIES:
            for workload, delay in CASES:
                yield Experiment(
                    key=("today", policy, workload, delay),
                    scenario=LAN,
                    settings={
                        "tcp.profile": "linux",
                        "tcp.transmit": policy,
                        "link.lan.delay": delay,
                        "host.client.processor": HOST,
                        "host.server.processor": HOST,
                        "flow.0.app.exchanges": EXCHANGES,
                        **WORKLOADS[workload],
                    },
                    record=("pages", "segments"),
                    measure=cost,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """Each cost, the worst case of each policy, and the document's claim about its own policy."""
        costs = {
            (policy, *case): samples.one(("today", policy, *case), Cost)
            for policy in POLICIES
            for case in CASES
        }
        known = {key: found for key, found in costs.items() if found is not None}
        whole = len(known) == len(costs)
        tables = [_each(costs)]
        if whole:
            tables.append(_worst(known))
        return Findings(tables=tuple(tables), checks=(_claim(known if whole else None),))


def _each(costs: Mapping[tuple[str, str, str], Cost | None]) -> Table:
    cells = []
    for (policy, workload, delay), found in costs.items():
        row = {"policy": policy, "writes": workload, "one_way": delay}
        cells.append(Cell(row, "time", "ms", None, None if found is None else 1000 * found.seconds))
        cells.append(Cell(row, "segments", "segments", None, None if found is None else found.segments))
    return Table(
        "beyond_today",
        "The cost of an exchange under each policy, with the delayed ACK of Linux",
        tuple(cells),
        kind="beyond",
        note="Linux at both ends except for the policy: adaptive delayed ACKs, an initial window of 10 segments. "
        "Segments are data segments.",
    )


def _worst(costs: Mapping[tuple[str, str, str], Cost]) -> Table:
    cells = []
    for policy in POLICIES:
        slower, more = [], []
        for case in CASES:
            rivals = [costs[rival, *case] for rival in POLICIES]
            slower.append(costs[policy, *case].seconds / min(rival.seconds for rival in rivals))
            more.append(costs[policy, *case].segments / min(rival.segments for rival in rivals))
        cells.append(Cell({"policy": policy}, "slower than the fastest", "times", None, max(slower)))
        cells.append(Cell({"policy": policy}, "more segments than the fewest", "times", None, max(more)))
    return Table(
        "beyond_today_worst",
        "The worst result of each policy in these cases",
        tuple(cells),
        kind="beyond",
        note="A program that writes in few, large pieces, as the document recommends, loses nothing with any policy "
        "that ignores ACKs. Other programs have a choice between waiting (Nagle's rule in any form) and sending "
        "short segments.",
    )


def _claim(costs: Mapping[tuple[str, str, str], Cost] | None) -> Check:
    words = "where TCP sees each write whole, the new policy and no Nagle are equal, and no policy is faster"
    if costs is None:
        return Check(words, None)
    wrong = []
    for case in CASES:
        ours, free = costs["doupnik", *case], costs["nodelay", *case]
        fastest = min(costs[policy, *case].seconds for policy in POLICIES)
        if ours != free or ours.seconds > 1.01 * fastest:
            wrong.append(" over ".join(case))
    return Check(words, not wrong, "; ".join(wrong) or f"in {len(CASES)} cases")
