"""RFC 1110's objection: with 30-bit windows a sequence number is reused after four round trips.

The network delays a packet for about five RTTs; a NAK causes its retransmission after one RTT. When the delayed
packet arrives, its number is inside the window again, four gigabytes later, and nothing marks it as old. TCP then
delivers earlier data in place of later data, and does not detect the error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Check, Findings

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "objection.toml"
SEEDS = 5

_WORDS = (
    "a packet kept for about five round trips is accepted as new data where a 30-bit window lets sequence numbers "
    "wrap (RFC 1110), and is refused where segments carry timestamps (PAWS)"
)


class Delivery(NamedTuple):
    """The data delivered to the receiving application."""

    bytes: int
    wrong_bytes: int
    completed: bool


def delivery(run: _core.Run) -> Delivery:
    """Reads the only flow of a run."""
    flows = run.flows()
    return Delivery(
        int(flows["bytes_delivered"][0]), int(flows["wrong_bytes"][0]), bool(flows["completed"][0])
    )


class Objection:
    """The same transfers with the same delayed packets, without and with timestamps."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """A few seeds, independent of the plan: a run delays one to about five packets."""
        for timestamps in (False, True):
            yield Experiment(
                key=_key(timestamps),
                scenario=SCENARIO,
                settings={"tcp.timestamps": timestamps},
                seeds=SEEDS,
                measure=delivery,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Bytes delivered in place of others, without and with timestamps."""
        without, cured = samples.all(_key(False)), samples.all(_key(True))
        if without is None or cured is None:
            return Findings(checks=(Check(_WORDS, None),))
        damaged = [each for each in without if each.wrong_bytes]
        wrong, left = (sum(each.wrong_bytes for each in runs) for runs in (without, cured))
        # Both ends must report success: the error is undetected.
        completed = all(each.completed for each in (*without, *cured))
        found = (
            f"without timestamps {wrong:,} of {sum(each.bytes for each in without):,} delivered bytes were wrong, in "
            f"{len(damaged)} of {len(without)} transfers that all completed; with timestamps {left:,}"
        )
        return Findings(checks=(Check(_WORDS, wrong > 0 and left == 0 and completed, found),))


def _key(timestamps: bool) -> Key:
    return ("objection", "timestamps" if timestamps else "no-timestamps")
