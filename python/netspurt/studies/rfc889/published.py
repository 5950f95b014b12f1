"""The document's two tables, as published."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from netspurt.studies.experiment import DATA

CYCLES = 512
SHORT, SPLIT, LONG = 40, 125, 256
"""Ends of the regression lines, in octets."""

FIRST_LONG = 126
"""The first length of a multi-packet message."""

RICE = "RICE"
ROUND_TRIP = "table 1 gives RICE twice the delay of table 2: it appears to be an RTT, and is kept as printed"


@dataclass(frozen=True)
class Printed:
    """A number and its printed digits."""

    value: float
    decimals: int

    @classmethod
    def read(cls, text: str) -> Printed:
        """From the text in the table, such as ``.15``."""
        return cls(float(text), len(text.partition(".")[2]))


@dataclass(frozen=True)
class Line:
    """One-way delays in ms at two lengths in octets, and the printed rate in bit/s."""

    octets: tuple[int, int]
    delay_ms: tuple[float, float]
    rate_bps: float

    @property
    def rate(self) -> float:
        """8 · ΔL / ΔD from the printed delays, in bit/s."""
        return self._rate(0.0)

    @property
    def rate_range(self) -> tuple[float, float]:
        """The range of rates that the delays allow: each is rounded to 1 ms, so their difference is ±1 ms."""
        return self._rate(1.0), self._rate(-1.0)

    def _rate(self, more_ms: float) -> float:
        return 8000.0 * (self.octets[1] - self.octets[0]) / (self.delay_ms[1] - self.delay_ms[0] + more_ms)


@dataclass(frozen=True)
class Host:
    """A row of the table of section 2.1: one line, or two."""

    host: str
    comment: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Run:
    """A row of the table of section 3.1. Times in seconds, the mean in ms."""

    section: str
    host: str
    busy: bool
    octets: int | None
    total: Printed
    lost: int
    lost_s: Printed
    rtx: int
    rtx_s: Printed
    mean_ms: Printed
    cov: Printed
    efficiency: Printed

    @property
    def name(self) -> str:
        """The document's name; UCL appears in two sections, measured from two places."""
        from_nta = self.section.startswith("NTA") and self.host == "UCL"
        return self.host + (" *" if self.busy else "") + (" from NTA" if from_nta else "")

    @property
    def good_s(self) -> float:
        """Time in which good data was sent: the mean over all cycles, with zero for lost ones."""
        return CYCLES * self.mean_ms.value / 1000.0

    @property
    def wasted_s(self) -> float:
        """Time wasted by losses and superfluous retransmissions."""
        return self.lost_s.value + self.rtx_s.value


@cache
def hosts() -> tuple[Host, ...]:
    """The table of section 2.1."""
    return tuple(_host(row) for row in _rows("delay_vs_length.csv"))


def _host(row: dict[str, str]) -> Host:
    short, long = "single_packet_delay_ms_at_40_octets", "multi_packet_delay_ms_at_256_octets"
    ends = float(row[short]), float(row[long])
    last_rate = float(row["multi_packet_or_whole_range_rate_bps"])
    if row["characteristic"] == "one":
        return Host(row["host_id"], row["comments"], (Line((SHORT, LONG), ends, last_rate),))
    middle = (
        float(row["single_packet_delay_ms_at_125_octets"]),
        float(row["multi_packet_delay_ms_at_125_octets"]),
    )
    first = Line((SHORT, SPLIT), (ends[0], middle[0]), float(row["single_packet_rate_bps"]))
    second = Line((SPLIT, LONG), (middle[1], ends[1]), last_rate)
    return Host(row["host_id"], row["comments"], (first, second))


@cache
def runs() -> tuple[Run, ...]:
    """The table of section 3.1."""
    return tuple(
        Run(
            section=row["section"],
            host=row["host_id"],
            busy=row["high_arpanet_activity"] == "yes",
            octets=int(row["run_length_class"]) if row["run_length_class"].isdigit() else None,
            total=Printed.read(row["total_time_s"]),
            lost=int(row["lost_packets_count"]),
            lost_s=Printed.read(row["lost_packets_time_s"]),
            rtx=int(row["rtx_packets_count"]),
            rtx_s=Printed.read(row["rtx_packets_time_s"]),
            mean_ms=Printed.read(row["mean_delay_ms"]),
            cov=Printed.read(row["coefficient_of_variation"]),
            efficiency=Printed.read(row["efficiency"]),
        )
        for row in _rows("rto_results.csv")
    )


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / "rfc889" / "published" / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def lines_of(run: Run) -> tuple[Line, ...]:
    """The delay lines of a run: those of its host, at low or high traffic; none if all lengths are equal."""
    if run.octets is not None:
        return ()
    by_name = {host.host: host.lines for host in hosts()}
    suffix = "-H" if run.busy else "-L"
    return by_name.get(run.host) or by_name[run.host + suffix]
