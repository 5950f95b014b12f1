"""Table I: transmission time and goodput at five line rates, without and with scaling; 20 numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netspurt.settings import Value
from netspurt.studies.experiment import DATA, Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Label, Table
from netspurt.studies.terabit import closed_form
from netspurt.studies.terabit.setting import (
    DELAY_S,
    FILE_BITS,
    RATES,
    SCENARIO,
    LineRate,
    goodput_gbps,
    settings,
)
from netspurt.studies.verdict import PrintedDigits, prints_alike

DECIMALS = 2
CLOCK_S = 2e-12
"""The allowed difference between simulation and formula: the clock counts whole picoseconds."""


@dataclass(frozen=True)
class Variant:
    """A setting other than the paper's. It must not reproduce the table; otherwise the comparison proves nothing."""

    name: str
    words: str
    settings: Mapping[str, Value]


VARIANTS = (
    Variant("mss-1460", "an MSS of 1460 bytes", {"tcp.mss": "1460 B"}),
    Variant("cap-99", "a cap of 99 segments", {"tcp.send_window": "99 segments"}),
    Variant("cap-101", "a cap of 101 segments", {"tcp.send_window": "101 segments"}),
    Variant("window-65535", "a real window of 65,535 bytes", {"tcp.receive_window": "65535 B"}),
)

PAPER = Variant("table1", "the paper's setting", {})


def published() -> dict[tuple[float, bool], tuple[float, float]]:
    """Transmission time in µs and goodput in Gbit/s, by line rate in bit/s and scaling."""
    path = DATA / "terabit" / "published" / "table1.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            (float(line["line_rate_bps"]), line["window_scaling"] == "yes"): (
                float(line["transmission_time_us"]),
                float(line["goodput_gbps"]),
            )
            for line in csv.DictReader(lines)
        }


class Table1:
    """Runs the ten transfers of table I, then repeats them under settings that must not reproduce it."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Ten transfers for the paper's setting and ten for each variant; no randomness, so one seed."""
        for variant in (PAPER, *VARIANTS):
            for rate, scaling in _columns():
                yield Experiment(
                    key=_key(variant, rate, scaling),
                    scenario=SCENARIO,
                    settings={**settings(rate.name, scaling), **variant.settings},
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The table, its closed form, and whether the variants fail as expected."""
        table = Table(
            "table1", "Table I: performance with and without scaling", tuple(_cells(samples, PAPER))
        )
        checks = [_closed_form(samples), *(_discriminates(samples, variant) for variant in VARIANTS)]
        return Findings(tables=(table,), checks=tuple(checks), notes=(_null_note(table),))


def _columns() -> list[tuple[LineRate, bool]]:
    return [(rate, scaling) for scaling in (False, True) for rate in RATES]


def _key(variant: Variant, rate: LineRate, scaling: bool) -> Key:
    return (variant.name, rate.name, "scaled" if scaling else "unscaled")


def _seconds(samples: Samples, variant: Variant, rate: LineRate, scaling: bool) -> float | None:
    transfers = samples.transfers(_key(variant, rate, scaling))
    return None if transfers is None else transfers[0].seconds


def null_model_s(rate_bps: float) -> float:
    """A rule without TCP: the bits at the line rate, plus one RTT for the request."""
    return FILE_BITS / rate_bps + 2 * DELAY_S


def _cells(samples: Samples, variant: Variant) -> Iterable[Cell]:
    numbers = published()
    for rate, scaling in _columns():
        time_us, goodput = numbers[rate.bps, scaling]
        seconds = _seconds(samples, variant, rate, scaling)
        null_s = null_model_s(rate.bps)
        row: dict[str, Label] = {"line_rate": rate.name, "window_scaling": scaling}
        yield Cell(
            row=row,
            quantity="transmission_time",
            unit="us",
            published=time_us,
            measured=None if seconds is None else seconds * 1e6,
            decimals=DECIMALS,
            bar=PrintedDigits(DECIMALS),
            null_model=null_s * 1e6,
        )
        yield Cell(
            row=row,
            quantity="goodput",
            unit="Gbit/s",
            published=goodput,
            measured=None if seconds is None else goodput_gbps(FILE_BITS, seconds),
            decimals=DECIMALS,
            bar=PrintedDigits(DECIMALS),
            null_model=goodput_gbps(FILE_BITS, null_s),
        )


def _discriminates(samples: Samples, variant: Variant) -> Check:
    words = f"{variant.words} does not reproduce the table"
    cells = list(_cells(samples, variant))
    if any(cell.verdict == "not run" for cell in cells):
        return Check(words, None)
    exact = sum(cell.verdict == "exact" for cell in cells)
    return Check(words, exact < len(cells), f"{exact} of {len(cells)} numbers agree to the printed digit")


def _closed_form(samples: Samples) -> Check:
    words = "at 1 and 10 Tbit/s the simulated time equals the closed form to the picosecond"
    worst = 0.0
    for rate in RATES[-2:]:
        for scaling, rounds in ((False, closed_form.WITHOUT_SCALING), (True, closed_form.WITH_SCALING)):
            seconds = _seconds(samples, PAPER, rate, scaling)
            if seconds is None:
                return Check(words, None)
            worst = max(worst, abs(seconds - closed_form.transmission_time_s(rate.bps, rounds)))
    return Check(words, worst <= CLOCK_S, f"largest difference {worst * 1e12:.2f} ps")


def _null_note(table: Table) -> str:
    matched = sum(
        cell.published is not None
        and cell.null_model is not None
        and prints_alike(cell.published, cell.null_model, DECIMALS)
        for cell in table.cells
    )
    return (
        f"Null model for table I (bits at the line rate plus one round trip): {matched} of {len(table.cells)} "
        "numbers to the printed digit."
    )
