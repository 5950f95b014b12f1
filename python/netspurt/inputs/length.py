"""How long a simulation may take, from its scenario alone.

Lives here: a bound of the packets of a run. Must not live here: the simulation.
"""

from __future__ import annotations

import tomllib
from typing import Any

from netspurt.inputs.link_states import BITS, SECONDS, quantity

BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
BYTES |= {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}

SHORT = 300_000
"""So many packets are simulated in less than a tenth of a second."""

PACKET_BITS = 12_000
"""Of a full packet on a link."""

PACKET_BYTES = 500
"""Of a transfer, for each packet on each link: ACKs and retransmissions are no more than data packets."""


def is_short(merged: str) -> bool:
    """Whether the links of a complete scenario carry few packets: slow links, a short run, or short transfers.

    A link without a rate, or with a recording, may carry any number, and so may any traffic but transfers of a length.
    """
    scenario = tomllib.loads(merged)
    end = quantity(scenario.get("duration", "0 s"), SECONDS)
    rates = [rate for link in scenario.get("link", {}).values() for rate in _rates(link)]
    transfers = sum(map(_bytes, scenario.get("flow", ()))) * len(scenario.get("link", {}))
    return min(sum(rates) * end / PACKET_BITS, transfers / PACKET_BYTES) < SHORT


def _bytes(flow: dict[str, Any]) -> float:
    app = flow.get("app", {})
    if app.get("kind") != "bulk" or "bytes" not in app:
        return float("inf")
    return quantity(app["bytes"], BYTES) * int(flow.get("count", 1))


def _rates(link: dict[str, Any]) -> list[float]:
    rate = link.get("rate")
    if rate is None or "trace" in link or "path" in link:
        return [float("inf")]
    return [quantity(each, BITS) for each in (rate if isinstance(rate, list) else [rate, rate])]
