"""The document's setting, shared by the parts of the study."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass

from netspurt.settings import Value
from netspurt.studies.experiment import DATA, Transfer

SCENARIO = "satellite.toml"

WINDOWS_KIB = (64, 72, 80, 92, 100, 112, 124, 136, 156)

TRANSFER_BYTES = 8 * 1024 * 1024
LINE_BPS = 1.544e6
ROUND_TRIP_S = 0.58
"""The value of the document, without the fitted host processing time."""
MSS_BYTES = 1024
DATA_PACKET_BYTES = MSS_BYTES + 44
"""Headers of 40 bytes and option C; an ACK has these 44 bytes only."""
ACK_PACKET_BYTES = 44


@dataclass(frozen=True)
class ErrorRate:
    """A column: its name in the published CSV and in tables, and its bit error rate."""

    name: str
    column: str
    bits: float

    @property
    def loss(self) -> dict[str, Value]:
        """The loss of the link, both directions."""
        return {"kind": "bit-error", "rate": self.bits} if self.bits else {"kind": "none"}


NO_ERROR = ErrorRate("none", "rate_kbytes_per_s_no_error", 0.0)
LOW = ErrorRate("10e-7", "rate_kbytes_per_s_error_10e-7", 1e-7)
HIGH = ErrorRate("10e-6", "rate_kbytes_per_s_error_10e-6", 1e-6)
ERROR_RATES = (NO_ERROR, LOW, HIGH)


@dataclass(frozen=True)
class Figure:
    """One of the document's two tables, which the document calls figures."""

    name: str
    title: str
    profile: str
    file: str


FIGURE1 = Figure("figure1", "Figure 1: Big Windows, no NAKs", "bsd43-bigwindow", "figure1_no_naks.csv")
FIGURE2 = Figure("figure2", "Figure 2: Big Windows and NAKs", "bsd43-bigwindow-nak", "figure2_naks.csv")


def published(figure: Figure) -> dict[tuple[int, str], float]:
    """Transfer rate in K a second by window in K and name of the error rate."""
    path = DATA / "rfc1106" / "published" / figure.file
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            (int(line["window_kbytes"]), error.name): float(line[error.column])
            for line in csv.DictReader(lines)
            for error in ERROR_RATES
        }


def settings(window_kib: int, error: ErrorRate, profile: str) -> dict[str, Value]:
    """The settings of one cell, applied to the scenario file."""
    return {
        "tcp.profile": profile,
        "tcp.receive_window": f"{window_kib} KiB",
        "link.satellite.loss": error.loss,
    }


def rate_kib(transfer: Transfer) -> float:
    """Transfer rate in KiB/s, from the SYN to the ACK of the last byte; 0 for an unfinished transfer."""
    return TRANSFER_BYTES / 1024 / transfer.seconds


def packet_loss(bits_error_rate: float, packet_bytes: int = DATA_PACKET_BYTES) -> float:
    """Probability that a packet has at least one bit error."""
    return -math.expm1(8 * packet_bytes * math.log1p(-bits_error_rate))


def null_model_kib(window_kib: int, error: ErrorRate, round_trip_s: float = ROUND_TRIP_S) -> float:
    """A rate without a protocol, in KiB/s.

    The minimum of one window per RTT, the line rate and, with errors, the square-root bound of Mathis et al.
    (1997) with an ACK for every segment, sqrt(3/2) · MSS / (RTT · sqrt(p)).
    """
    ceiling = min(window_kib / round_trip_s, LINE_BPS / 8 / 1024)
    if error.bits:
        loss = packet_loss(error.bits)
        ceiling = min(ceiling, math.sqrt(1.5) * MSS_BYTES / 1024 / (round_trip_s * math.sqrt(loss)))
    return ceiling
