"""The transfer of table I as a formula, for line rates at which no round fills the pipe.

Lives here: arithmetic on the paper's setting, independent of the simulator, as an oracle beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from netspurt.studies.terabit.setting import DELAY_S, FILE_BITS, HEADER_BYTES, MSS_BYTES

REQUEST_BYTES = 4


@dataclass(frozen=True)
class Rounds:
    """The shape of a transfer: its number of round trips, and the segments sent in the last one."""

    count: int
    last: int


WITHOUT_SCALING = Rounds(19, 10)
"""Slow start to 65,535 bytes, then a segment more each round: the 667 segments end in the 19th."""

WITH_SCALING = Rounds(13, 40)
"""Slow start to the cap of 100 segments: the 667 segments end in the 13th round."""


def transmission_time_s(rate_bps: float, rounds: Rounds) -> float:
    """Seconds from the client's SYN to the arrival of the last byte.

    Three empty segments and a request travel before the first data segment; every round but the last takes
    a round trip of one data segment and its ACK; the last segment is short.
    """
    segment = 8 * (MSS_BYTES + HEADER_BYTES) / rate_bps
    short = 8 * (FILE_BITS / 8 % MSS_BYTES + HEADER_BYTES) / rate_bps
    ack = 8 * HEADER_BYTES / rate_bps
    request = 8 * (HEADER_BYTES + REQUEST_BYTES) / rate_bps
    round_trip = 2 * DELAY_S + segment + ack
    opening = 3 * ack + request + 3 * DELAY_S
    return opening + (rounds.count - 1) * round_trip + (rounds.last - 1) * segment + short + DELAY_S
