"""The paper's setting, shared by the parts of the study."""

from __future__ import annotations

from dataclasses import dataclass

from netspurt.settings import Value

SCENARIO = "table1.toml"

FILE_BITS = 8e6
"""Table I transfers 8 Mbit, according to its footer."""

SSTHRESH = {False: "65535 B", True: "1073725440 B"}
"""Initial ssthresh without and with scaling (65,535 · 2^14): the only effect of the paper's "scaling" option."""

MSS_BYTES = 1500
HEADER_BYTES = 40
DELAY_S = 1e-6


@dataclass(frozen=True)
class LineRate:
    """A line rate with the name it carries in tables."""

    name: str
    bps: float


RATES = (
    LineRate("1 Gbit/s", 1e9),
    LineRate("10 Gbit/s", 1e10),
    LineRate("100 Gbit/s", 1e11),
    LineRate("1 Tbit/s", 1e12),
    LineRate("10 Tbit/s", 1e13),
)


def settings(rate: str, scaling: bool) -> dict[str, Value]:
    """The settings of one cell of table I, applied to the scenario file."""
    return {"link.line.rate": rate, "tcp.initial_ssthresh": SSTHRESH[scaling]}


def goodput_gbps(bits: float, seconds: float) -> float:
    """Delivered bits over the time of the transfer, in Gbit/s; 0 for an unfinished transfer."""
    return bits / seconds / 1e9
