"""Figure 2: goodput of 8 MB files against the packet error rate, at 1 and 10 Tbit/s."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from netspurt.analysis.statistics import bootstrap_interval
from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Label, Picture, Table
from netspurt.studies.terabit.setting import SCENARIO, goodput_gbps, settings
from netspurt.studies.verdict import Range

FILE_BYTES = 8_000_000
RATES = ("1 Tbit/s", "10 Tbit/s")
QUICK_FILES, FULL_FILES = 100, 500

BARS = {
    1e-6: Range(98.0, 101.0, "≥ 98 % of lossless"),
    1e-5: Range(98.0, 101.0, "≥ 98 % of lossless"),
    1e-4: Range(91.0, 95.0, "91–95 % of lossless"),
    1e-3: Range(43.0, 52.0, "43–52 % of lossless"),
    1e-2: Range(0.0, 3.0, "≤ 3 % of lossless"),
}
"""By packet error rate; read off the paper's curve, which prints no numbers."""

SAME_POINTS = 2.0
"""The allowed difference between 1 and 10 Tbit/s, in points of lossless goodput."""

_NO_NUMBERS = "the figure prints no numbers"
_SAME = "figure 2: goodput relative to lossless differs by at most 2 points between 1 and 10 Tbit/s"


@dataclass(frozen=True)
class Point:
    """Goodputs at one line rate and packet error rate, in Gbit/s: one for each file, and over all files."""

    rate: str
    error_rate: float
    files: list[float]
    lossless: float
    total: float

    @property
    def mean(self) -> float:
        """Mean of the goodputs of single files."""
        return sum(self.files) / len(self.files)

    @property
    def percent(self) -> float:
        """The mean, in percent of the goodput without loss."""
        return 100.0 * self.mean / self.lossless

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean by bootstrap: each goodput is either near lossless or near zero."""
        return bootstrap_interval(self.files) if len(self.files) > 1 else (self.mean, self.mean)


class Figure2:
    """Many files over a lossy link, each a run with its own seed."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Files at each rate and error rate; gaps between losses are exponential, as in the paper."""
        files = plan.choose(QUICK_FILES, FULL_FILES)
        for rate in RATES:
            size: dict[str, Value] = {**settings(rate, True), "flow.0.app.response": f"{FILE_BYTES} B"}
            yield Experiment(key=_key(rate, None), scenario=SCENARIO, settings=size)
            for error_rate in BARS:
                loss: Value = {"kind": "exponential-gaps", "mean": f"{round(1 / error_rate)} packets"}
                yield Experiment(
                    key=_key(rate, error_rate),
                    scenario=SCENARIO,
                    settings={**size, "link.line.loss": loss},
                    seeds=files,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """The figure as a table and a picture, and why the mean over files is the number to compare."""
        points = {
            (rate, error_rate): _point(samples, rate, error_rate) for rate in RATES for error_rate in BARS
        }
        table = Table(
            "figure2",
            "Figure 2: goodput of 8 MB files with scaling, in percent of the goodput without loss",
            tuple(_cell(*key, point) for key, point in points.items()),
        )
        absolute = Table(
            "figure2_goodput",
            "The goodputs behind figure 2: mean over files, and total bits over total time",
            tuple(cell for key, point in points.items() for cell in _goodput_cells(*key, point)),
            kind="beyond",
        )
        present = [point for point in points.values() if point is not None]
        whole = len(present) == len(points)
        return Findings(
            tables=(table, absolute),
            checks=(_same_at_both_rates(present) if whole else Check(_SAME, None),),
            pictures=(_picture(present),) if present else (),
            notes=(_why_totals_differ(present),) if whole else (),
        )


def _key(rate: str, error_rate: float | None) -> Key:
    return ("figure2", rate, "lossless" if error_rate is None else f"per-{error_rate:g}")


def _point(samples: Samples, rate: str, error_rate: float) -> Point | None:
    lossless, transfers = samples.transfers(_key(rate, None)), samples.transfers(_key(rate, error_rate))
    if lossless is None or transfers is None:
        return None
    bits = 8.0 * FILE_BYTES
    return Point(
        rate,
        error_rate,
        [goodput_gbps(bits, each.seconds) for each in transfers],
        goodput_gbps(bits, lossless[0].seconds),
        goodput_gbps(bits * len(transfers), sum(each.seconds for each in transfers)),
    )


def _row(rate: str, error_rate: float) -> dict[str, Label]:
    return {"line_rate": rate, "packet_error_rate": error_rate}


def _cell(rate: str, error_rate: float, point: Point | None) -> Cell:
    row, bar = _row(rate, error_rate), BARS[error_rate]
    if point is None:
        return Cell(row, "goodput_of_lossless", "%", None, None, bar=bar, runs=0)
    low, high = point.interval
    return Cell(
        row,
        "goodput_of_lossless",
        "%",
        published=None,
        measured=point.percent,
        bar=bar,
        interval=(100.0 * low / point.lossless, 100.0 * high / point.lossless),
        runs=len(point.files),
    )


def _goodput_cells(rate: str, error_rate: float, point: Point | None) -> Iterable[Cell]:
    row = _row(rate, error_rate)
    if point is None:
        yield Cell(row, "mean_over_files", "Gbit/s", None, None, runs=0)
        yield Cell(row, "total_bits_over_total_time", "Gbit/s", None, None, runs=0)
        return
    runs = len(point.files)
    interval = point.interval
    yield Cell(
        row, "mean_over_files", "Gbit/s", None, point.mean, interval=interval, runs=runs, reason=_NO_NUMBERS
    )
    yield Cell(row, "total_bits_over_total_time", "Gbit/s", None, point.total, runs=runs, reason=_NO_NUMBERS)


def _same_at_both_rates(points: list[Point]) -> Check:
    percents = {(point.rate, point.error_rate): point.percent for point in points}
    apart = {e: abs(percents[RATES[0], e] - percents[RATES[1], e]) for e in BARS}
    worst = max(apart, key=lambda error_rate: apart[error_rate])
    return Check(_SAME, apart[worst] <= SAME_POINTS, f"at most {apart[worst]:.2f} points, at {worst:g}")


def _why_totals_differ(points: list[Point]) -> str:
    example = next(point for point in points if point.rate == RATES[0] and point.error_rate == 1e-4)
    file_s = 8.0 * FILE_BYTES / example.lossless / 1e9
    return (
        f"Figure 2 compares the mean of the goodputs of single files. Total bits over total time gives another result: "
        f"at {example.rate} and a packet error rate of 1e-4 it is {example.total:.3g} Gbit/s, while the mean over "
        f"files is {example.mean:.3g} Gbit/s. A file takes {file_s * 1e6:.0f} µs without loss, so one retransmission "
        f"timeout of 1 s costs as much time as {1 / file_s:,.0f} files: the few files with a timeout decide the total."
    )


def _picture(points: list[Point]) -> Picture:
    from netspurt import plot

    curves = {rate: [(p.error_rate, p.mean, *p.interval) for p in points if p.rate == rate] for rate in RATES}
    lossless = {point.rate: point.lossless for point in points}
    return Picture(
        name="terabit-figure2",
        title="Figure 2: goodput against packet error rate",
        caption=(
            "Mean goodput of single 8 MB files with scaling, with 95 % bootstrap intervals; dotted: without loss. "
            "Loss has no effect up to an error rate of 1e-5; it halves goodput at 1e-3 and removes almost all at 1e-2."
        ),
        alt="Goodput is flat to an error rate of 1e-5 and falls to nearly nothing at 1e-2, alike for both line rates.",
        make=lambda: [plot.error_rate_chart(curves, lossless)],
    )
