"""Transfers of persistent connections on a terminal, and limits that another one hid.

Lives here: the layout of this text. Must not live here: where a connection is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netspurt.analysis import formats

SHOWN = 5
"""Transfers that are listed: the slowest."""

LEAST_SHARE = 0.05
"""Limits of a transfer with a smaller share are left out."""

LEAST_HIDDEN = 0.02
"""A limit that was hidden for a smaller share of the time is left out."""


def transfers(connection: Mapping[str, Any]) -> list[str]:
    """The slowest transfers, each with its budget; nothing for a connection with one transfer."""
    found = connection["transfers"]
    if not found:
        return []
    slowest = sorted(found, key=lambda each: -each["duration_s"])[:SHOWN]
    head = f"  {formats.count(len(found))} transfers (request, response)"
    lines = [head + (", the slowest:" if len(found) > SHOWN else ":")]
    for each in slowest if len(found) > SHOWN else found:
        shares = [
            f"{line['limit']} {100 * line['share']:.0f} %"
            for line in each["budget"]
            if line["share"] >= LEAST_SHARE
        ]
        sizes = f"{formats.count(each['request_bytes'])} → {formats.count(each['response_bytes'])} bytes"
        lines.append(
            f"    #{each['transfer']:<4} at {formats.lasting(each['from_s']):>9}  {sizes:<24} "
            f"{formats.lasting(each['duration_s']):>9}  {', '.join(shares)}{_packets(*each['packets'])}"
        )
    return lines


def _packets(first: int | None, last: int | None) -> str:
    """Which packets they are; a simulated run has none."""
    if first is None or last is None:
        return ""
    return f"  (packets {max(first, 1)}–{max(last, 1)})"


def hidden(direction: Mapping[str, Any]) -> list[str]:
    """Limits that held too while another one counted."""
    least = LEAST_HIDDEN * direction["duration_s"]
    return [
        f"  Hidden: {each['limit']} held too during {formats.lasting(each['seconds'])} of {each['by']}."
        for each in direction["masked"]
        if each["seconds"] >= least
    ]
