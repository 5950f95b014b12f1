"""What a remedy costs others: a competing transfer, and the delay of short messages that share its path.

Lives here: the companion run of a scenario. Must not live here: the transfer's own time.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netspurt.remedies.changing import of_tree
from netspurt.remedies.quantities import time
from netspurt.remedies.situation import PACKET, Situation, profiles
from netspurt.remedies.trying import Tried

BULK, PROBE = "netspurt-other-bulk", "netspurt-other-probe"
"""Names of the flows that are added."""

PROFILE = "linux"

MOST_PACKETS = 200_000
LONGEST_S = 20.0
ROUND_TRIPS = 100
"""A companion run lasts at most this long, and no less than some round trips."""

SEEDS = (1, 2)


@dataclass(frozen=True)
class Others:
    """What others get beside the transfer.

    Attributes:
        delay_s: the mean time of a message of 100 bytes and its answer, each with a path that is shared.
        goodput_bps: the goodput of a competing transfer with the profile ``linux``.
    """

    delay_s: float
    goodput_bps: float


def beside(tried: Tried, situation: Situation) -> Others | None:
    """Runs the scenario with two more flows; None if that is not possible."""
    from netspurt import _core

    tree = companion(tried.tree, situation)
    try:
        scenario = of_tree(tree, tried.scenario)
    except _core.ScenarioError:
        return None
    found = [_of(scenario.run(seed).native.flows()) for seed in SEEDS]
    delay_s, goodput_bps = (sum(values) / len(SEEDS) for values in zip(*found, strict=True))
    return None if math.isnan(delay_s) else Others(delay_s, goodput_bps)


def companion(tree: Mapping[str, Any], situation: Situation) -> dict[str, Any]:
    """A scenario in which the transfer has no end, beside a competing transfer and short messages."""
    made = copy.deepcopy(dict(tree))
    main = made["flow"][situation.flow]
    if main["app"]["kind"] == "bulk":
        main["app"].pop("bytes", None)
    made["duration"] = time(duration_s(situation))
    tcp = {"profile": PROFILE, **profiles()[PROFILE]}
    ends = {"from": situation.sender, "to": situation.receiver}
    message = {"size": "100 B"}
    probe = {"request": message, "response": message, "exchanges": "forever", "gap": "20 ms"}
    made["flow"] += [
        {"name": BULK, "app": {"kind": "bulk"}, **ends, "tcp": tcp},
        {
            "name": PROBE,
            "app": {"kind": "request-response", **probe},
            **ends,
            "tcp": {**tcp, "transmit": "nodelay"},
        },
    ]
    return made


def duration_s(situation: Situation) -> float:
    """How long a companion run lasts."""
    bps = situation.rate_bps
    longest = LONGEST_S if bps is None else min(LONGEST_S, MOST_PACKETS * PACKET * 8 / bps)
    return max(longest, ROUND_TRIPS * situation.base_rtt_s)


def _of(columns: Mapping[str, Any]) -> tuple[float, float]:
    names = list(columns["flow"])
    delay = columns["page_delay_mean_s"][names.index(PROBE)]
    return (math.nan if delay is None else float(delay)), float(columns["goodput_bps"][names.index(BULK)])
