"""Results of one scenario over many seeds.

Lives here: means and intervals. Must not live here: simulation, or display.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netspurt.analysis.statistics import Estimate, mean_interval


def over_seeds(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each flow and each of its numbers: mean over seeds and its 95 % interval.

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
        {"flow": flow, "index": index, "quantity": name, **_as_json(mean_interval(column))}
        for (flow, index, name), column in values.items()
    ]


def _as_json(estimate: Estimate) -> dict[str, Any]:
    interval = None if estimate.interval is None else list(estimate.interval)
    return {"mean": estimate.mean, "interval": interval, "runs": estimate.count}
