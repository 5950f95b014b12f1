"""Fits the costs of hosts and network cards to the rows with Nagle's rule off, and to no other row.

Eleven parameters for sixteen rates: the cost of a segment, a byte read and a byte written at a given clock; the
latency of an arrival at its host, and the gap that cards leave between frames; for each system except FreeBSD the
cost of a request (the fit for FreeBSD gave zero); and three that clocks do not explain: UnixWare reads slowly,
FreeBSD writes slowly, Solaris is slow in everything. Residuals are in units of each row's bar. Rates have small jumps
where two events change order, so the surface has many minima. The search starts at the current costs and at the best
of many guesses, which are the same in each fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from netspurt.studies.doupnik.setting import (
    SCENARIO,
    Costs,
    Pairing,
    Reply,
    System,
    published,
    rate,
    settings,
)
from netspurt.studies.doupnik.table1 import bar
from netspurt.studies.experiment import DATA

Floats = npt.NDArray[np.float64]

DURATION = "1500 ms"
"""Virtual time of a run: about a hundred identical requests."""

STEP = 0.02
"""Relative step of a difference quotient, larger than the jumps."""

LOOKS = 24
"""The maximal number of evaluations of the search, without difference quotients."""

NOTHING = 0.01
"""Requests per second in place of zero, where the costs are far too high."""


@dataclass(frozen=True)
class Free:
    """A free parameter: its place in ``Costs``, and the range in which the search may start."""

    system: str | None
    name: str
    low: float
    high: float


FREE = (
    Free(None, "segment_us", 30, 150),
    Free(None, "byte_read_ns", 20, 150),
    Free(None, "byte_written_ns", 40, 250),
    Free(None, "arrival_us", 3, 60),
    Free(None, "gap_octets", 20, 150),
    Free("UW7", "request_us", 5, 150),
    Free("UW7", "read_us", 40, 150),
    Free("FreeBSD", "writing", 1, 3),
    Free("Linux", "request_us", 10, 150),
    Free("Solaris7", "request_us", 80, 300),
    Free("Solaris7", "path", 1.2, 3.5),
)

GUESSES = 128
"""Points of a Latin hypercube that are evaluated once."""

BEGINNINGS = 3
"""The number of best points at which the search starts."""

STEPS = (0.1, 0.05, 0.02)
"""Finally the fit changes each parameter alone by these fractions, as long as the error falls: difference quotients
do not see jumps."""


class CostsOffNagle:
    """The fit of ``costs.toml``."""

    file = "costs.toml"

    def run(self, jobs: int, report: Callable[[str], None]) -> str:
        """The file with the fitted costs."""
        return fit(jobs, report).toml()


def fit(jobs: int, report: Callable[[str], None]) -> Costs:
    """The costs that fit the rows with Nagle's rule off best."""
    from scipy.optimize import least_squares

    printed = published()
    rows = [row for row in printed if row[0].role == "fitted"]
    printed_rates = np.array([printed[row].requests for row in rows])
    unit = np.array([bar(pairing).fraction for pairing, _ in rows])

    def misses(numbers: Floats) -> Floats:
        found = _rates(rows, costs_of(numbers), jobs)
        return np.asarray(np.log(np.maximum(found, NOTHING) / printed_rates) / unit)

    def search(guess: Floats) -> tuple[float, Floats]:
        # Scaled parameters are about one, so a relative step is equal for every parameter, whatever its unit.
        def parameters(scales: Floats) -> Floats:
            return np.asarray(guess * np.exp(scales - 1.0))

        best = least_squares(
            lambda at: misses(parameters(at)), np.ones_like(guess), diff_step=STEP, max_nfev=LOOKS
        )
        found = _mean_miss(best.fun)
        report(f"root mean square {found:.2f} of the bars over {len(rows)} rates")
        return found, parameters(best.x)

    def error(numbers: Floats) -> float:
        return _mean_miss(misses(numbers))

    guesses = sorted(_guesses(), key=error)
    report(f"{len(guesses)} guesses evaluated, the best has an error of {error(guesses[0]):.2f} of the bars")
    begin = [numbers_of(Costs.load()), *guesses[:BEGINNINGS]]
    best = polish(min((search(guess) for guess in begin), key=lambda found: found[0])[1], error)
    report(f"final error: {error(best):.3f} of the bars")
    return costs_of(best)


def polish(numbers: Floats, error: Callable[[Floats], float]) -> Floats:
    """Changes one number at a time by ``STEPS``, as long as the error falls."""
    least = error(numbers)
    for step in STEPS:
        before = np.inf
        while least < before:
            before = least
            for number, factor in product(range(len(numbers)), (1.0 + step, 1.0 / (1.0 + step))):
                tried = numbers.copy()
                tried[number] *= factor
                if (found := error(tried)) < least:
                    numbers, least = tried, found
    return numbers


def _mean_miss(misses: Floats) -> float:
    return float(np.sqrt(np.mean(misses**2)))


def _guesses() -> Floats:
    """Points spread evenly over the logarithms of the ranges; constant; shape (guesses, parameters)."""
    from scipy.stats import qmc

    low, high = (np.log([getattr(free, end) for free in FREE]) for end in ("low", "high"))
    return np.asarray(np.exp(qmc.scale(qmc.LatinHypercube(len(FREE), seed=1).random(GUESSES), low, high)))


def _rates(rows: list[tuple[Pairing, Reply]], costs: Costs, jobs: int) -> Floats:
    from netspurt import _core
    from netspurt.settings import overrides
    from netspurt.threads import for_each

    scenario = _core.Scenario.load(str(DATA / "doupnik" / SCENARIO))
    found = np.zeros(len(rows))

    def run(at: int) -> float:
        chosen = {**settings(*rows[at], costs), "duration": DURATION}
        return rate(scenario.set(overrides(chosen)).run(1, ["pages"], None)).requests

    for_each(range(len(rows)), run, lambda at, value: found.__setitem__(at, value), jobs)
    return found


def costs_of(numbers: Floats) -> Costs:
    """Costs with these values of the free parameters, in the order of ``FREE``."""
    shared: dict[str, float] = {}
    own: dict[str, dict[str, float]] = {}
    for free, value in zip(FREE, numbers.tolist(), strict=True):
        (shared if free.system is None else own.setdefault(free.system, {}))[free.name] = value
    return Costs(**shared, systems={name: System(**values) for name, values in own.items()})


def numbers_of(costs: Costs) -> Floats:
    """The free parameters of these costs, in the order of ``FREE``."""
    return np.array(
        [getattr(costs if free.system is None else costs.systems[free.system], free.name) for free in FREE],
        dtype=np.float64,
    )
