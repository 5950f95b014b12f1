"""What limited one connection of a run, for the page: a sentence, the time budget, and the limit at each instant.

Lives here: the choice of the connection's budget and its thinning. Must not live here: rules of the diagnosis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from netspurt import _core
from netspurt.diagnosing.diagnosis import main_direction
from netspurt.diagnosing.limits import LIMITS
from netspurt.diagnosing.simulated import Simulated
from netspurt.plot.palette import limit_colour

MOST_INTERVALS = 5000
"""The maximal number of intervals of the band, the longest ones: more than a screen can show."""

CODES = {name: code for code, name in enumerate(LIMITS)}


def verdict(run: _core.Run, key: tuple[str, int, int]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The head and the columns of one connection, of the direction with more bytes.

    Args:
        run: recorded with ``limits``.
        key: flow, index, connection.

    Returns:
        None and no columns if the connection never opened.
    """
    for row in Simulated(Path(), run).take():
        if (row["flow"], row["index"], row["flow_connection"]) == key and row["directions"]:
            main = main_direction(row)
            return summary(main), band(main["intervals"], row["start_s"])
    return None, {}


def summary(direction: Mapping[str, Any]) -> dict[str, Any]:
    """The sentence and the time budget of one direction."""
    head = {name: direction[name] for name in ("from", "bytes", "duration_s", "limit", "sentence")}
    budget = [
        {name: line[name] for name in ("limit", "seconds", "share", "sentence")}
        for line in direction["budget"]
    ]
    return {**head, "budget": budget}


def band(intervals: Sequence[Mapping[str, Any]], start_s: float) -> dict[str, npt.NDArray[Any]]:
    """The limit at each instant, as columns; ``start_s`` is added to the times."""
    begin = np.array([each["from_s"] for each in intervals], np.float64) + start_s
    end = np.array([each["until_s"] for each in intervals], np.float64) + start_s
    kind = np.array([CODES[each["limit"]] for each in intervals], np.uint8)
    longest = np.sort(np.argsort(begin - end, kind="stable")[:MOST_INTERVALS])
    return {"limit_from": begin[longest], "limit_until": end[longest], "limit_kind": kind[longest]}


def described() -> list[dict[str, str]]:
    """For each limit: its ``name``, its ``words``, which follow "For 3 s", and its ``colour``."""
    return [{"name": name, "words": words, "colour": limit_colour(name)} for name, words in LIMITS.items()]
