"""Chooses what hosts and cards take on the rows with Nagle's rule off, and on nothing else.

Eleven numbers for sixteen rates: what a segment, a byte read and a byte written take at a given clock; how long an
arrival waits for its host, and what cards leave between frames; for each system but FreeBSD what a request takes
(with FreeBSD it came to nothing); and three things that clocks do not explain: that UnixWare is slow to read, FreeBSD
to write, Solaris in everything. Misses count in units of each row's bar. Rates have small jumps where two events
change places; so the surface has many minima. The search begins at what the study runs with and at the best of many
guesses, the same every time.
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
"""Virtual time of a run: some hundred requests, all alike."""

STEP = 0.02
"""Relative step of a difference quotient, wide enough for the jumps."""

LOOKS = 24
"""How often the search looks at the rates, difference quotients not counted."""

NOTHING = 0.01
"""Requests a second that stand for none, where costs are out of all proportion."""


@dataclass(frozen=True)
class Free:
    """A free parameter: where it stands in ``Costs``, and between which numbers the search may begin."""

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
"""Points of a Latin hypercube that are looked at once."""

BEGINNINGS = 3
"""From how many of them, the nearest, the search begins."""

STEPS = (0.1, 0.05, 0.02)
"""In the end each number is changed by itself, by these fractions, as long as that helps: quotients are blind to
jumps."""


class CostsOffNagle:
    """The fit of ``costs.toml``."""

    file = "costs.toml"

    def run(self, jobs: int, tell: Callable[[str], None]) -> str:
        """The file with the costs that were found."""
        return fit(jobs, tell).toml()


def fit(jobs: int, tell: Callable[[str], None]) -> Costs:
    """The costs that come nearest to the rows with Nagle's rule off."""
    from scipy.optimize import least_squares

    printed = published()
    rows = [row for row in printed if row[0].role == "fitted"]
    told = np.array([printed[row].requests for row in rows])
    unit = np.array([bar(pairing).fraction for pairing, _ in rows])

    def misses(numbers: Floats) -> Floats:
        found = _rates(rows, costs_of(numbers), jobs)
        return np.asarray(np.log(np.maximum(found, NOTHING) / told) / unit)

    def search(guess: Floats) -> tuple[float, Floats]:
        # Places lie about one, so that a relative step is one for every number, whatever its unit.
        def place(places: Floats) -> Floats:
            return np.asarray(guess * np.exp(places - 1.0))

        best = least_squares(
            lambda at: misses(place(at)), np.ones_like(guess), diff_step=STEP, max_nfev=LOOKS
        )
        found = _mean_miss(best.fun)
        tell(f"root mean square {found:.2f} of the bars over {len(rows)} rates")
        return found, place(best.x)

    def error(numbers: Floats) -> float:
        return _mean_miss(misses(numbers))

    guesses = sorted(_guesses(), key=error)
    tell(f"{len(guesses)} guesses looked at, the nearest misses by {error(guesses[0]):.2f} of the bars")
    begin = [numbers_of(Costs.load()), *guesses[:BEGINNINGS]]
    best = polish(min((search(guess) for guess in begin), key=lambda found: found[0])[1], error)
    tell(f"{error(best):.3f} in the end")
    return costs_of(best)


def polish(numbers: Floats, error: Callable[[Floats], float]) -> Floats:
    """Changes one number at a time by ``STEPS``, as long as the error gets less."""
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
    """Spread evenly over the logarithms of the ranges, the same ones every time; shape (guesses, parameters)."""
    from scipy.stats import qmc

    low, high = (np.log([getattr(free, end) for free in FREE]) for end in ("low", "high"))
    return np.asarray(np.exp(qmc.scale(qmc.LatinHypercube(len(FREE), seed=1).random(GUESSES), low, high)))


def _rates(rows: list[tuple[Pairing, Reply]], costs: Costs, jobs: int) -> Floats:
    from netspurt import _core
    from netspurt.settings import overrides
    from netspurt.sweeping.threads import for_each

    scenario = _core.Scenario.load(str(DATA / "doupnik" / SCENARIO))
    found = np.zeros(len(rows))

    def run(at: int) -> float:
        chosen = {**settings(*rows[at], costs), "duration": DURATION}
        return rate(scenario.set(overrides(chosen)).run(1, ["pages"], None)).requests

    for_each(range(len(rows)), run, lambda at, value: found.__setitem__(at, value), jobs)
    return found


def costs_of(numbers: Floats) -> Costs:
    """Costs with these numbers for the free parameters, in the order of ``FREE``."""
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
