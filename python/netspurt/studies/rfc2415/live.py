"""Beyond the document: pages between kernels over emulated T1 lines, with initial windows of 1, 3 and 10."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netspurt.analysis.statistics import quantile_interval
from netspurt.emulation.emulating import Task
from netspurt.studies import live
from netspurt.studies.experiment import AnyExperiment, Experiment, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table

if TYPE_CHECKING:
    from netspurt import _core

ASKED = {True: "live_quick.toml", False: "live.toml"}

WINDOWS = (1, 3, 10)
CLIENTS = 8
FILES = 4
"""A page is one file, then three files requested at once."""

MEDIAN_OCTETS, SHAPE, MOST_OCTETS = 1500, 1.2, 1_000_000
"""Parameters of the size distribution, as in ``web.toml``."""

PUBLISHED_S = {1: 0.56, 3: 0.56 * (1 - 0.179)}
"""Table 1, 8 web clients and no FTP: the median at IW 1, and the value reduced by 17.9 % at IW 3."""

PATH = """
rate = "1.5 Mbit/s"
delay = "33 ms"
queue = { kind = "drop-tail", limit = "24 packets" }
"""
"""The bottleneck of ``web.toml``, with the delays of the adjacent links."""


def _plan(request: Mapping[str, Any]) -> live.Emulation:
    tasks: dict[str, Task] = {}
    for window in WINDOWS:
        tasks[f"c{window}"] = {
            "program": "pages",
            "to": f"s{window}",
            "clients": _clients(request["pages"]),
        }
        tasks[f"s{window}"] = {
            "program": "files",
            "initial_window": window,
            "to": f"c{window}",
            "congestion": "cubic",
        }
    return live.Emulation("\n".join(_scenario()), tasks, request["limit_s"])


def _scenario() -> Iterator[str]:
    yield 'duration = "1 s"'
    for window in WINDOWS:
        yield f'[link.t{window}]\nbetween = ["c{window}", "s{window}"]{PATH}'
    yield '[[flow]]\nfrom = "c1"\nto = "s1"\napp = { kind = "bulk" }'


def _clients(count: int) -> list[list[tuple[float, list[int]]]]:
    """The work of each client: pauses in seconds, and sizes of a page's files; equal for every initial window.

    With so few pages and so heavy a tail, the sample mean would differ from the distribution's by tens of per cent.
    So one size is drawn from each of as many equal parts of the distribution as there are files.
    """
    draw = random.Random(1)
    scale = MEDIAN_OCTETS / (2 ** (1 / SHAPE) - 1)
    files = CLIENTS * count * FILES
    shares = [(number + draw.random()) / files for number in range(files)]
    sizes = [min(round(scale * (max(share, 1e-9) ** (-1 / SHAPE) - 1)) + 1, MOST_OCTETS) for share in shares]
    draw.shuffle(sizes)
    pages = [sizes[first : first + FILES] for first in range(0, files, FILES)]
    return [
        [
            (draw.uniform(1, 5) if number else draw.uniform(0, 5), pages[client * count + number])
            for number in range(count)
        ]
        for client in range(CLIENTS)
    ]


def _median(run: _core.Run) -> float:
    return float(np.median(np.asarray(run.pages()["delay_s"], dtype=np.float64)))


class Live:
    """Eight kernel clients on each of three lines, all at once."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """One emulation; the same load simulated with Linux's TCP at both ends."""
        if not plan.live:
            return
        yield live.experiment(("live",), ASKED[plan.quick], _plan, slow=True)
        for window in WINDOWS:
            yield Experiment(
                key=("live simulated", window),
                scenario="web.toml",
                settings={
                    "tcp.profile": "linux",
                    "tcp.rto": {"kind": "linux"},
                    "tcp.timer_grain": "1 ms",
                    "tcp.initial_window": f"{window} segments",
                },
                seeds=plan.choose(3, 20),
                record=("pages",),
                measure=_median,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Median page delays and their decreases; where no measurement was possible, the reason."""
        seen, notes = live.seen(samples, ("live",))
        if seen is None:
            return Findings(notes=notes)
        table = Table(
            "beyond_live",
            "Pages between kernels over emulated T1 lines, measured while the study ran",
            tuple(_cells(samples, seen)),
            kind="beyond",
            note=(
                "Live: 8 clients and a server, Linux with CUBIC, its initial window set by ip route … initcwnd; the "
                "pages are the same under each window, so the decreases are of pairs. A page ends with its last byte, "
                "as in the simulation. Published: 8 web clients without FTP in table 1, of 1998's TCP. Simulated: "
                "web.toml with the profile linux." + seen.doubt
            ),
        )
        return Findings(tables=(table,))


def _cells(samples: Samples, seen: live.Seen) -> Iterable[Cell]:
    delays = {window: np.asarray(seen.found[f"c{window}"], dtype=np.float64) for window in WINDOWS}
    for window, took in delays.items():
        row = {"initial_window": window}
        median = quantile_interval(took, 50)
        yield Cell(
            row,
            "live median page delay",
            "s",
            PUBLISHED_S.get(window),
            median.value,
            interval=median.interval,
            runs=len(took),
            reason=live.REASON,
        )
        yield _decrease(row, delays[1], took)
        simulated: Sequence[float] | None = samples.all(("live simulated", window))
        if simulated is not None:
            yield live.estimated(row, "simulated median page delay", "s", simulated)


def _decrease(row: Mapping[str, int], alone: Any, took: Any) -> Cell:
    """The decrease in page time of the same pages: the median of pairs."""
    percents = 100 * (1 - took / alone)
    median = quantile_interval(percents, 50)
    return Cell(
        dict(row),
        "live decrease",
        "%",
        None,
        median.value,
        interval=median.interval,
        runs=len(percents),
        reason=live.REASON,
    )
