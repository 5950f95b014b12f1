"""The transfer of table I as a formula, for line rates at which no round fills the path.

Lives here: arithmetic on the paper's setting, independent of the simulator, as a reference for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from netspurt.studies.terabit.setting import DELAY_S, FILE_BITS, HEADER_BYTES, MSS_BYTES

REQUEST_BYTES = 4


@dataclass(frozen=True)
class Rounds:
    """A transfer as its number of round trips, and the number of segments in the last one."""

    count: int
    last: int


WITHOUT_SCALING = Rounds(19, 10)
"""Slow start to 65,535 bytes, then one more segment per round: the 667 segments end in the 19th."""

WITH_SCALING = Rounds(13, 40)
"""Slow start to the cap of 100 segments: the 667 segments end in the 13th round."""


def transmission_time_s(rate_bps: float, rounds: Rounds) -> float:
    """Seconds from the client's SYN to the arrival of the last byte.

    Three empty segments and a request precede the first data segment. Every round except the last takes
    the RTT of one data segment and its ACK. The last segment is short.
    """
    segment = 8 * (MSS_BYTES + HEADER_BYTES) / rate_bps
    short = 8 * (FILE_BITS / 8 % MSS_BYTES + HEADER_BYTES) / rate_bps
    ack = 8 * HEADER_BYTES / rate_bps
    request = 8 * (HEADER_BYTES + REQUEST_BYTES) / rate_bps
    round_trip = 2 * DELAY_S + segment + ack
    opening = 3 * ack + request + 3 * DELAY_S
    return opening + (rounds.count - 1) * round_trip + (rounds.last - 1) * segment + short + DELAY_S
