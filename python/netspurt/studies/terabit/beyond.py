"""A cause that the paper's conclusion omits: its 28 µs follow from the cap of 100 segments, not from the delay.

The part sweeps cap, initial window, delay and rate one at a time. Then it runs Linux TCP over 400 and 800 Gbit/s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Label, Table
from netspurt.studies.terabit.setting import FILE_BITS, SCENARIO, goodput_gbps, settings

_BEYOND = "beyond the document"
NO_CAP = "infinite"


@dataclass(frozen=True)
class Sweep:
    """One varied setting; the others are as in table I with scaling at 10 Tbit/s."""

    name: str
    title: str
    column: str
    values: tuple[str, ...]
    path: str
    fixed: tuple[tuple[str, Value], ...] = ()
    note: str = ""

    def settings(self, value: str) -> dict[str, Value]:
        """The settings of one run."""
        return {**settings("10 Tbit/s", True), **dict(self.fixed), self.path: value}


SWEEPS = (
    Sweep(
        "beyond_cap",
        "The cap on the send window, at 10 Tbit/s and 1 µs",
        "send_window",
        ("10 segments", "30 segments", "100 segments", "300 segments", "1000 segments"),
        "tcp.send_window",
        note="The delay is the same in every row: the cap causes part of the time that the paper calls latency.",
    ),
    Sweep(
        "beyond_initial_window",
        "The initial window, without a cap, at 10 Tbit/s and 1 µs",
        "initial_window",
        ("1 segments", "3 segments", "10 segments", "100 segments", "1000 segments"),
        "tcp.initial_window",
        (("tcp.send_window", NO_CAP),),
        note="Slow start, not the line rate, limits a short transfer: each doubling saves one RTT.",
    ),
    Sweep(
        "beyond_delay",
        "The delay of the link, with the paper's cap, at 10 Tbit/s",
        "delay",
        ("10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms"),
        "link.line.delay",
        note="The time is proportional to the delay as soon as the window is smaller than the bandwidth-delay product.",
    ),
    Sweep(
        "beyond_rate",
        "The line rate, without a cap, at 1 µs",
        "line_rate",
        ("10 Gbit/s", "100 Gbit/s", "400 Gbit/s", "800 Gbit/s", "1 Tbit/s", "10 Tbit/s"),
        "link.line.rate",
        (("tcp.send_window", NO_CAP),),
    ),
)


class Sweeps:
    """One table for each swept setting."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One run for each value: the runs have no randomness."""
        for sweep in SWEEPS:
            for value in sweep.values:
                yield Experiment(key=(sweep.name, value), scenario=SCENARIO, settings=sweep.settings(value))

    def evaluate(self, samples: Samples) -> Findings:
        """Transmission time and goodput of table I's transfer for each value."""
        tables = (
            Table(
                sweep.name,
                sweep.title,
                tuple(
                    cell
                    for value in sweep.values
                    for cell in _cells(samples, (sweep.name, value), {sweep.column: value}, FILE_BITS)
                ),
                kind="beyond",
                note=sweep.note,
            )
            for sweep in SWEEPS
        )
        return Findings(tables=tuple(tables))


ETHERNET_RATES = ("400 Gbit/s", "800 Gbit/s")
ETHERNET_DELAYS = {"rack": "1 us", "data centre": "25 us", "metro": "500 us", "continent": "20 ms"}
ETHERNET_BYTES = (1_000_000, 8_000_000, 64_000_000)


class Ethernet:
    """The profile linux over the fastest current Ethernet, on short and long paths."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One run for each rate, delay and file size."""
        for rate, place, size in _ethernet():
            yield Experiment(
                key=_ethernet_key(rate, place, size),
                scenario="ethernet.toml",
                settings={
                    "link.line.rate": rate,
                    "link.line.delay": ETHERNET_DELAYS[place],
                    "flow.0.app.response": f"{size} B",
                },
            )

    def evaluate(self, samples: Samples) -> Findings:
        """One table."""
        cells = tuple(
            cell
            for rate, place, size in _ethernet()
            for cell in _cells(
                samples,
                _ethernet_key(rate, place, size),
                {"line_rate": rate, "delay": f"{ETHERNET_DELAYS[place]} ({place})", "file_bytes": size},
                8.0 * size,
            )
        )
        table = Table(
            "beyond_ethernet",
            "400 and 800 Gbit/s Ethernet, profile linux, windows up to 1 GB",
            cells,
            kind="beyond",
            note="From 25 µs on, a doubled line rate saves little for files of 1 and 8 MB: the RTT limits them.",
        )
        return Findings(tables=(table,))


def _ethernet() -> list[tuple[str, str, int]]:
    return [
        (rate, place, size) for size in ETHERNET_BYTES for place in ETHERNET_DELAYS for rate in ETHERNET_RATES
    ]


def _ethernet_key(rate: str, place: str, size: int) -> Key:
    return ("beyond_ethernet", rate, place, size)


def _cells(samples: Samples, key: Key, row: dict[str, Label], bits: float) -> Iterable[Cell]:
    transfers = samples.transfers(key)
    seconds = None if transfers is None else transfers[0].seconds
    time_us = None if seconds is None else seconds * 1e6
    goodput = None if seconds is None else goodput_gbps(bits, seconds)
    yield Cell(row, "transmission_time", "us", None, time_us, reason=_BEYOND)
    yield Cell(row, "goodput", "Gbit/s", None, goodput, reason=_BEYOND)
