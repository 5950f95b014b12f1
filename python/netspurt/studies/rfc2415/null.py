"""A null model: round trips of slow start on an empty network, and a link that carries the offered load.

It has no loss, no queue and no timer. Where it too agrees with a published number, that agreement means little.
"""

from __future__ import annotations

import math

from netspurt.studies.rfc2415.setting import HTTP10, Http, Load

ROUND_TRIP_S = 2 * (0.025 + 2 * 0.004)
LINE_BYTES_PER_S = 1.5e6 / 8
PAYLOAD = 1460 / 1500
THINK_S = 3.0
FILES = 4

MEDIAN, SHAPE, MAX = 1500.0, 1.2, 1e6
"""File sizes, as in the scenario files."""


def mean_file() -> float:
    """Mean of the truncated Lomax distribution of file sizes, in bytes."""
    scale = MEDIAN / (math.pow(2, 1 / SHAPE) - 1)
    return scale / (SHAPE - 1) * (1 - math.pow(1 + MAX / scale, 1 - SHAPE))


def round_trips(size: float, window: int) -> int:
    """Round trips of slow start for a file; every segment is acknowledged, the window doubles up to 11 segments."""
    left, trips = -(-size // 1460), 0
    while left > 0:
        left -= window
        window = min(2 * window, 11)
        trips += 1
    return trips


def delay_s(http: Http, window: int) -> float:
    """A page of files of the median size: connection, then slow start, for the primary and then its embedded files."""
    if http is HTTP10:
        return 2 * (1 + round_trips(MEDIAN, window)) * ROUND_TRIP_S
    return (1 + round_trips(FILES * MEDIAN, window)) * ROUND_TRIP_S


def decrease_pct(http: Http, window: int) -> float:
    """The decrease of that delay with the initial window."""
    return 100 * (1 - delay_s(http, window) / delay_s(http, 1))


def _web_share(load: Load) -> float:
    demand = load.webs * FILES * mean_file() / PAYLOAD / (THINK_S + delay_s(load.http, load.window))
    return min(demand / LINE_BYTES_PER_S, 1.0)


def utilisation_pct(load: Load) -> float:
    """The link is full if there is a file client; otherwise it carries the requested pages."""
    return 100.0 if load.ftps else 100 * _web_share(load)


def power(load: Load) -> float:
    """The file clients share the rate that the pages leave."""
    left = (1 - _web_share(load)) * LINE_BYTES_PER_S * PAYLOAD / 1e6
    return 360.0 * left**2 / load.ftps
