"""Quantities with a unit, as a merged scenario writes them.

Lives here: the conversion between text and plain numbers. Must not live here: what a key means.
"""

from __future__ import annotations

import re
from typing import Any

UNITS = {
    **{"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12},
    **{"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    **{"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40},
    **{"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0},
    **{"packets": 1.0, "segments": 1.0},
}
"""Bits per second, bytes and seconds; counts."""

QUANTITY = re.compile(r"\s*(\d+\.?\d*(?:e[+-]?\d+)?)\s*([A-Za-z/]+)\s*")


def number(value: Any) -> float | None:
    """A rate in bits per second, a size in bytes, a time in seconds, or a count; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    found = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2] not in UNITS:
        return None
    return float(found[1]) * UNITS[found[2]]


def directed(value: Any, way: int) -> Any:
    """The value of one direction: lists of two hold one for each."""
    return value[way] if isinstance(value, list) and len(value) == 2 else value


def size(octets: float) -> str:
    """A size for a scenario, in the largest binary unit that is exact."""
    whole = round(octets)
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if whole and whole % scale == 0:
            return f"{whole // scale} {unit}"
    return f"{whole} B"


def rate(bps: float) -> str:
    """A rate for a scenario."""
    return f"{bps / 1e6:.6g} Mbit/s" if bps >= 1e6 else f"{bps:.6g} bit/s"


def tc_rate(bps: float) -> str:
    """A rate as tc writes it."""
    return f"{bps / 1e6:.4g}mbit" if bps >= 1e6 else f"{bps / 1e3:.4g}kbit"


def time(seconds: float) -> str:
    """A time for a scenario."""
    return f"{seconds * 1e3:.6g} ms"
