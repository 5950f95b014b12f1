"""RFC 1110's objection: with windows of 30 bits a sequence number is used again after four round trips.

A packet that the network keeps for about five round trips has been resent on a NAK after one. When it comes back at
last, its number lies in the window again, four gigabytes later, and nothing in it says that it is old. TCP then
delivers earlier data in the place of later data, and notices nothing.
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
    """What the receiving application was given."""

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
    """The same transfers, the same packets kept, without and with timestamps."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """A few seeds, whatever the plan: a run holds up one to a handful of packets."""
        for timestamps in (False, True):
            yield Experiment(
                key=_key(timestamps),
                scenario=SCENARIO,
                settings={"tcp.timestamps": timestamps},
                seeds=SEEDS,
                measure=delivery,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Bytes delivered in place of others, without and with the cure."""
        without, cured = samples.all(_key(False)), samples.all(_key(True))
        if without is None or cured is None:
            return Findings(checks=(Check(_WORDS, None),))
        damaged = [each for each in without if each.wrong_bytes]
        wrong, left = (sum(each.wrong_bytes for each in runs) for runs in (without, cured))
        # That both believe to have succeeded is the point.
        completed = all(each.completed for each in (*without, *cured))
        found = (
            f"without timestamps {wrong:,} of {sum(each.bytes for each in without):,} bytes were others than sent, in "
            f"{len(damaged)} of {len(without)} transfers that all ended well; with timestamps {left:,}"
        )
        return Findings(checks=(Check(_WORDS, wrong > 0 and left == 0 and completed, found),))


def _key(timestamps: bool) -> Key:
    return ("objection", "timestamps" if timestamps else "no-timestamps")
