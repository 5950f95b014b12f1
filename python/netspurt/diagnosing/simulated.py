"""What limited the flows of a simulated run, from the simulator's own knowledge.

Lives here: the documents of a run, in the form of those of a capture. Must not live here: rules, tables or text for a
terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.diagnosing.time_range import TimeRange

if TYPE_CHECKING:
    from netspurt import _core

VANTAGE = "simulator"
"""Nothing was captured: the simulator knows."""


class Simulated:
    """A run to be diagnosed; ``native`` was made with ``record=["limits"]``.

    Connections with fewer bytes than ``min_bytes`` are left out, and those that are not open ``within`` a part of the
    run.
    """

    def __init__(
        self, path: Path, native: _core.Run, min_bytes: int = 0, within: TimeRange | None = None
    ) -> None:
        self.path = path
        self.within = within
        seconds = None if within is None else (within.begin_s, within.end_s)
        self._found = [
            _connection(number, row) for number, row in enumerate(json.loads(native.limits(seconds)))
        ]
        self._min_bytes = min_bytes
        self._taken = False

    def step(self) -> bool:
        """Everything is available."""
        return False

    def take(self) -> list[dict[str, Any]]:
        """The connections of all flows, once."""
        found = [] if self._taken else self._found
        self._taken = True
        return [
            each
            for each in found
            if each["in_range"] and sum(way["bytes_in_all"] for way in each["directions"]) >= self._min_bytes
        ]

    def tally(self) -> dict[str, Any]:
        """Counts; ``flows`` names the flow of each connection, and its number among those of the flow."""
        names = ("flow", "index", "from", "to", "flow_connection")
        flows = [{name: each[name] for name in names} for each in self._found]
        return {
            "connections": len(self._found),
            "packets": None,
            "segments": None,
            "damage": None,
            "outside": sum(not each["in_range"] for each in self._found),
            "flows": flows,
        }


def _connection(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    directions = [_direction(each) for each in row["directions"]]
    return {
        **{name: row[name] for name in ("flow", "index", "from", "to", "in_range")},
        "flow_connection": row["connection"],
        "connection": number,
        "client": row["from"],
        "server": row["to"],
        "start_s": min((each["start_s"] for each in row["directions"]), default=0.0),
        "vantage": VANTAGE,
        "directions": directions,
        "transfers": row["transfers"],
    }


def _direction(row: Mapping[str, Any]) -> dict[str, Any]:
    names = (
        "from",
        "bytes",
        "bytes_in_all",
        "duration_s",
        "limit",
        "sentence",
        "budget",
        "intervals",
        "retransmitted",
    )
    return {
        **{name: row[name] for name in names},
        "masked": [],
        "vantage": VANTAGE,
        "offload": False,
        "rtt_min_s": row["rtt_min_s"] or None,
        "rate_max_bps": None,
    }
