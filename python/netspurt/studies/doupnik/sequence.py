"""The held tail on a time–sequence graph: strict Nagle beside the new policy."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netspurt.studies.doupnik.setting import LARGE, SCENARIO, Costs, Pairing, settings
from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Findings, Picture

if TYPE_CHECKING:
    from netspurt import _core

PAIRINGS = {
    "strict Nagle": Pairing("UW7", "FreeBSD", 32, "Nagle on"),
    "the new policy": Pairing("UW7", "FreeBSD", 32, "new policy"),
}

OPEN_S = 1.0
"""At this time the congestion window is open."""

BEFORE_S, AFTER_S = 0.001, 0.009
"""The part shown around a request."""


def around_a_request(run: _core.Run) -> dict[str, np.ndarray]:
    """The segments around the first request after ``OPEN_S``; times and offsets are relative to the first of them."""
    columns = {name: np.asarray(column) for name, column in run.segments().items() if name != "sack"}
    time_s, from_client = columns["time_s"], columns["from_client"].astype(bool)
    begin = time_s[from_client & (columns["length"] > 0) & (time_s >= OPEN_S)][0] - BEFORE_S
    seen = (time_s >= begin) & (time_s <= begin + BEFORE_S + AFTER_S)
    columns = {name: column[seen] for name, column in columns.items()}
    from_client = from_client[seen]
    first = columns["seq"][~from_client].min()
    columns["time_s"] = columns["time_s"] - begin
    columns["seq"] = np.where(from_client, columns["seq"], columns["seq"] - first)
    columns["ack"] = np.where(from_client, columns["ack"] - first, columns["ack"])
    return columns


class HeldTail:
    """One picture with two panels."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """The large file from FreeBSD under both policies."""
        costs = Costs.load()
        for name, pairing in PAIRINGS.items():
            yield Experiment(
                key=("sequence", name),
                scenario=SCENARIO,
                settings={**settings(pairing, LARGE, costs), "duration": "1500 ms"},
                record=("segments",),
                measure=around_a_request,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The picture, if both runs exist."""
        from netspurt import plot

        panels = {name: samples.one(("sequence", name), dict) for name in PAIRINGS}
        known = {name: panel for name, panel in panels.items() if panel is not None}
        if len(known) < len(panels):
            return Findings()
        picture = Picture(
            name="doupnik-held-tail",
            title="The held tail",
            caption=(
                f"{1000 * (BEFORE_S + AFTER_S):.0f} ms of replies of {LARGE.bytes:,} bytes from FreeBSD to UnixWare. "
                "Under strict Nagle the client's tick sends an ACK, which releases the tail of the last reply. The "
                "next reply is sent except for its own tail, and the connection is idle for the rest of 200 ms. Under "
                "the new policy each tail leaves at once, because the data ends in it, and the next reply follows."
            ),
            alt="Two graphs of sequence numbers against time: under strict Nagle one reply stops before its end, "
            "under the new policy two replies complete without a stop.",
            make=partial(plot.sequence_charts, known),
        )
        return Findings(pictures=(picture,))
