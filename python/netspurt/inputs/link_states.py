"""What links become in a run: rate and delay of each direction over time, where a scenario changes them.

Lives here: the steps that the scenario's changes give. Must not live here: drawing, or a check of a change, which the
parser has done.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST = 10_000
"""So many steps of a link are followed at most."""

BITS = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12}
SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

Step = tuple[float, float]
"""A time in seconds, and the value from then on."""


@dataclass(frozen=True)
class LinkState:
    """A direction of a link that changes.

    Attributes:
        link: the link's name.
        direction: such as ``home->net``.
        rate_bps: steps of the rate, changed or recorded, 0 while the link is down; empty if it does not change.
        delay_s: steps of the delay; empty if it does not change.
    """

    link: str
    direction: str
    rate_bps: tuple[Step, ...]
    delay_s: tuple[Step, ...]


def changing(merged: str) -> list[LinkState]:
    """The directions that change, of a complete scenario as TOML, in the order of the links."""
    scenario = tomllib.loads(merged)
    end = quantity(scenario.get("duration", "0 s"), SECONDS)
    events = sorted(_events(scenario.get("change", ()), end), key=lambda event: event[0])
    found = []
    for name, link in scenario.get("link", {}).items():
        own = [(time, key, value) for time, link_name, key, value in events if link_name == name][:MOST]
        for way in (0, 1):
            state = _direction(name, link, way, own, end)
            if state.rate_bps or state.delay_s:
                found.append(state)
    return found


def _direction(
    name: str, link: Mapping[str, Any], way: int, events: list[tuple[float, str, Any]], end: float
) -> LinkState:
    ends = link["between"]
    direction = f"{ends[way]}->{ends[1 - way]}"
    rate = quantity(_of(link["rate"], way), BITS) if "rate" in link else float("inf")
    delay, up = _of(link.get("delay", "0 s"), way), True
    # A delay that varies by itself is a table, and no change sets it.
    delays = [(0.0, quantity(delay, SECONDS))] if isinstance(delay, str) else []
    rates = [(0.0, rate)]
    for time, key, value in events:
        what, _, one = key.partition(".")
        if one and one != str(way):
            continue
        now = _of(value, way)
        if what == "delay":
            delays.append((time, quantity(now, SECONDS)))
        elif what in ("rate", "up"):
            rate, up = (quantity(now, BITS), up) if what == "rate" else (rate, bool(now))
            rates.append((time, rate if up else 0.0))
    recorded = _recorded(link.get("trace", []), direction, way, end)
    if recorded:
        # A recording takes the place of the rate.
        rates = recorded
    finite = all(value != float("inf") for _, value in rates)
    return LinkState(
        *(name, direction),
        tuple(rates) if len(rates) > 1 and finite else (),
        tuple(delays) if len(delays) > 1 else (),
    )


def _recorded(traces: Any, direction: str, way: int, end: float) -> list[Step]:
    """The rates over time of a recording of this direction; none of one that lists instants, as mahimahi does."""
    entries = traces if isinstance(traces, list) else [traces]
    if any(isinstance(entry, list) for entry in entries):
        entries = entries[way] if isinstance(entries[way], list) else [entries[way]]
    elif len(entries) == 2 and not any("direction" in entry for entry in entries):
        entries = [entries[way]]
    own = [entry for entry in entries if entry.get("direction", direction) == direction]
    steps: list[Step] = []
    for entry in own:
        times = [quantity(time, SECONDS) for time in entry.get("times", ())]
        rates = [quantity(rate, BITS) for rate in entry.get("rates", ())]
        period = quantity(entry["repeat"], SECONDS) if "repeat" in entry else float("inf")
        begin = 0.0
        while times and begin <= end and len(steps) < MOST:
            steps += [(begin + time, rate) for time, rate in zip(times, rates, strict=True) if time < period]
            begin += period
    return steps


def _events(changes: Any, end: float) -> Iterator[tuple[float, str, str, Any]]:
    """Time, link, key and value of each time that something is set."""
    for change in changes:
        at = quantity(change["at"], SECONDS)
        every = quantity(change["every"], SECONDS) if "every" in change else None
        last = min(end, quantity(change["until"], SECONDS)) if "until" in change else end
        count = change.get("count", MOST) if every is not None else 1
        for number in range(min(count, MOST)):
            time = at + number * (every or 0.0)
            if time > last:
                break
            for path, value in change["set"].items():
                name, key = _split(path)
                yield time, name, key, value


def _split(path: str) -> tuple[str, str]:
    """The link and the key of a path such as ``link.up.rate.0``."""
    found = re.fullmatch(r'link\.(?:"([^"]*)"|([^.]*))\.(.*)', path)
    return (found[1] or found[2], found[3]) if found else ("", path)


def _of(value: Any, way: int) -> Any:
    return value[way] if isinstance(value, list) else value


def quantity(text: str, units: Mapping[str, float]) -> float:
    """The value of a text such as ``10 Mbit/s``, as complete scenarios have them."""
    number, unit = text.split()
    return float(number) * units[unit]
