"""Results of one scenario over many seeds.

Lives here: means and intervals. Must not live here: simulation, or display.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from netspurt.analysis.statistics import Estimate, mean_interval


def over_seeds(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each flow and each of its numbers: mean over seeds and its 95 % interval, not below 0 if no value is.

    Args:
        documents: documents of ``netspurt run --json``, one for each seed.
    """
    values: dict[tuple[str, int, str], list[float]] = {}
    for document in documents:
        for flow in document["flows"]:
            for name, value in flow.items():
                if name != "index" and isinstance(value, int | float) and not isinstance(value, bool):
                    values.setdefault((flow["flow"], flow["index"], name), []).append(float(value))
    return [
        {"flow": flow, "index": index, "quantity": name, **_as_json(mean_interval(column), min(column) >= 0)}
        for (flow, index, name), column in values.items()
    ]


def _as_json(estimate: Estimate, positive: bool) -> dict[str, Any]:
    """``positive``: no value lies below 0, so the interval of the mean does not either."""
    least = 0.0 if positive else -math.inf
    interval = None if estimate.interval is None else [max(least, end) for end in estimate.interval]
    return {"mean": estimate.mean, "interval": interval, "runs": estimate.count}
