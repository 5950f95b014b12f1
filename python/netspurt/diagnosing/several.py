"""The same connections captured at several places: one diagnosis of each, from the place that shows most.

Lives here: matching connections of several captures. Must not live here: any diagnosis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from netspurt.diagnosing.diagnosis import main_direction

BEST = ("sender", "between", "receiver", "unknown")
"""The places of a capture, the one that shows most first."""


def merged(documents: Mapping[str, Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One document of each connection, those that lost most time first.

    Connections of different captures are the same if their ends are the same, counted in the order of their start.

    Args:
        documents: for each place its connections, as ``Diagnosis.documents`` gives them.

    Returns:
        The connections, each with ``captured_at`` (a place) and a new number in ``connection``.
    """
    chosen: dict[tuple[str, str, int], dict[str, Any]] = {}
    for place, connections in documents.items():
        counts: dict[tuple[str, str], int] = {}
        for each in sorted(connections, key=lambda connection: float(connection["start_s"])):
            ends = (each["client"], each["server"])
            counts[ends] = counts.get(ends, 0) + 1
            key = (*ends, counts[ends])
            if key not in chosen or _rank(each) < _rank(chosen[key]):
                chosen[key] = {**each, "captured_at": place}
    worst = sorted(chosen.values(), key=lambda connection: -float(connection["lost_s"]))
    return [{**each, "connection": number} for number, each in enumerate(worst)]


def _rank(connection: Mapping[str, Any]) -> int:
    place = main_direction(connection)["vantage"]
    return BEST.index(place) if place in BEST else len(BEST)
