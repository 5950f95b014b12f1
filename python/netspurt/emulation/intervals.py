"""What each connection of a host carried in each interval, as iperf3 reports it.

Lives here: the differences between two looks. Must not live here: when to look, or where lines are printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from netspurt.analysis import formats

Key = tuple[str, str]

COUNTED = ("bytes_sent", "bytes_received", "retransmitted")


class Intervals:
    """The counters at the end of the last interval."""

    def __init__(self, now_s: float) -> None:
        self._began_s = self._last_s = now_s
        self._before: dict[Key, Mapping[str, int]] = {}

    def report(self, now_s: float, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """One interval of each connection, from the last call (or the start) until now.

        Args:
            now_s: a clock that does not go back.
            rows: the connections as ``Host.snapshot`` gives them.

        Returns:
            Dicts with ``event`` ("interval"), ``from_s`` and ``until_s`` (since the start), ``local``, ``remote``,
            ``bytes_sent``, ``bytes_received``, ``retransmitted`` (all of this interval), and ``bps``.
        """
        span = max(now_s - self._last_s, 1e-9)
        found: list[dict[str, Any]] = []
        after: dict[Key, Mapping[str, int]] = {}
        for row in rows:
            key = (str(row["local"]), str(row["remote"]))
            now = {name: int(row[name]) for name in COUNTED}
            before = self._before.get(key, dict.fromkeys(COUNTED, 0))
            # Fewer than before: another connection with the same ends.
            begun = any(now[name] < before[name] for name in COUNTED)
            new = {name: now[name] - (0 if begun else before[name]) for name in COUNTED}
            after[key] = now
            times = {"from_s": self._last_s - self._began_s, "until_s": now_s - self._began_s}
            carried = new["bytes_sent"] + new["bytes_received"]
            ends = {"local": key[0], "remote": key[1]}
            found.append({"event": "interval", **times, **ends, **new, "bps": 8 * carried / span})
        self._before, self._last_s = after, now_s
        return found


def sentence(interval: Mapping[str, Any]) -> str:
    """One line of text."""
    times = f"{interval['from_s']:7.2f} – {interval['until_s']:.2f} s"
    ends = f"{interval['local']} - {interval['remote']}"
    carried = formats.size(interval["bytes_sent"] + interval["bytes_received"])
    line = f"{times}  {ends}  {carried}  {formats.rate(interval['bps'])}"
    again = interval["retransmitted"]
    return line + (f"  {formats.counted(again, 'segment')} retransmitted" if again else "")
