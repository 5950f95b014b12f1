"""Questions that the document leaves open: other queues, faster lines, ten segments, current pages and hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Label, Picture, Table
from netspurt.studies.rfc2415.setting import HTTP10, Load, Measured, each, estimated, measure

SEEDS, QUICK_SEEDS = 10, 1
WINDOWS = (1, 2, 3, 4, 10)
QUICK_WINDOWS = (1, 3, 10)

QUEUES: dict[str, dict[str, Value]] = {
    "drop-tail": {"kind": "drop-tail", "limit": "24 packets"},
    # Thresholds of 0.3 and 1.3 times the path's 8 packets and a weight of one in 16, from the script of the
    # authors' TCP in ns-2: with the usual weight the average lags by a second, and a page's burst is shorter.
    "RED": {"kind": "red", "limit": "24 packets", "min": "3 packets", "max": "11 packets", "weight": 0.0625},
    "RED, slow average": {"kind": "red", "limit": "24 packets"},
    # A packet takes 8 ms here, more than the usual target of 5.
    "CoDel": {"kind": "codel", "limit": "24 packets", "target": "12 ms"},
    "FQ-CoDel": {"kind": "fq-codel", "limit": "24 packets", "target": "12 ms"},
}
DRAWN = ("drop-tail", "RED", "CoDel", "FQ-CoDel")

LINES = {"1.5 Mbit/s": 16, "6 Mbit/s": 64, "24 Mbit/s": 256}
"""Numbers of web clients that give each line the load of the document's 16."""

TODAY = ("10 Mbit/s", "100 Mbit/s")
FILE_COUNT = 70
"""Requests of a page of 2.5 MB, about the median of the HTTP Archive."""

Values = Callable[[Sequence[Measured]], list[float]]
QUANTITIES: dict[str, tuple[str, Values]] = {
    "median_page_delay": ("s", lambda runs: each(runs, "web")),
    "page_delay_95th": ("s", lambda runs: [run.page_delay_p95_s["web"] for run in runs]),
    "drop_rate": ("%", lambda runs: each(runs, "drops_pct")),
    "link_utilisation": ("%", lambda runs: each(runs, "utilisation_pct")),
}


class Queues:
    """The loads of 16 web clients, alone and with two file transfers, under other queues."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each queue, window and load; in a quick run three windows."""
        for queue, ftps, window in product(QUEUES, (0, 2), QUICK_WINDOWS if plan.quick else WINDOWS):
            load = Load(HTTP10, 16, ftps, window)
            yield Experiment(
                key=_queue_key(queue, ftps, window),
                scenario=load.scenario,
                settings={**load.settings(), "link.bottleneck.queue": QUEUES[queue]},
                seeds=plan.choose(QUICK_SEEDS, SEEDS),
                measure=measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """One table, the document's statement about RED, and the picture."""
        cells: list[Cell] = []
        for queue, ftps, window in product(QUEUES, (0, 2), WINDOWS):
            row: dict[str, Label] = {"queue": queue, "ftp_clients": ftps, "initial_window": window}
            cells += _cells(samples, _queue_key(queue, ftps, window), row)
        note = (
            "RED has thresholds of 3 and 11 packets, and an average with a weight of 1/16; with a slow "
            "average it has the defaults of ns-2. Under RED and CoDel half of the pages are faster, but more of those "
            "that lose a packet early wait for an RTO of 6 s: the utilisation of the line is lower."
        )
        table = Table("beyond_queues", "Other queues: 16 web clients, HTTP/1.0", tuple(cells), "beyond", note)
        return Findings(
            tables=(table,),
            checks=(_as_red(samples),),
            pictures=(_picture(partial(_mean_delay, samples)),),
        )


class Lines:
    """Faster lines, with the number of clients in proportion to the rate."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each line and window; a quick run omits the fastest."""
        lines = list(LINES.items())[: 2 if plan.quick else None]
        for (line, webs), window in product(lines, QUICK_WINDOWS if plan.quick else WINDOWS):
            yield Experiment(
                key=("line", line, window),
                scenario="web.toml",
                settings=_line_settings(line, webs, window),
                seeds=plan.choose(QUICK_SEEDS, 4),
                measure=measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """One table."""
        cells: list[Cell] = []
        for (line, webs), window in product(LINES.items(), WINDOWS):
            row: dict[str, Label] = {"line": line, "web_clients": webs, "initial_window": window}
            cells += _cells(samples, ("line", line, window), row)
        note = (
            "Rate, clients and queue grow together. The document expects its results to hold on faster links. They "
            "hold, and the delays are lower, because the bursts of many clients rarely coincide."
        )
        title = "Faster lines with more clients: HTTP/1.0, no file transfers"
        return Findings(tables=(Table("beyond_lines", title, tuple(cells), "beyond", note),))


class Today:
    """Current pages and hosts behind one line: 4 users, 70 files per page, over one connection."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each line and window; a quick run omits the faster one."""
        for line, window in product(TODAY[: 1 if plan.quick else None], WINDOWS):
            if not plan.quick or window in QUICK_WINDOWS:
                yield Experiment(
                    key=("today", line, window),
                    scenario="web.toml",
                    settings=_today_settings(line, window),
                    seeds=plan.choose(QUICK_SEEDS, SEEDS),
                    measure=measure,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """One table."""
        cells: list[Cell] = []
        for line, window in product(TODAY, WINDOWS):
            cells += _cells(samples, ("today", line, window), {"line": line, "initial_window": window})
        note = (
            "The profile linux with Reno's congestion control (SACK, window scaling), 33 ms one way, a queue of "
            f"one BDP, {FILE_COUNT} files per page with a median of 8 kB, over one connection, pipelined."
        )
        title = "Current pages: 4 web clients, one connection per page"
        return Findings(tables=(Table("beyond_today", title, tuple(cells), "beyond", note),))


def _queue_key(queue: str, ftps: int, window: int) -> Key:
    return ("queue", queue, ftps, window)


def _rate(line: str) -> float:
    return float(line.split()[0])


def _access(rate: str) -> dict[str, Value]:
    return {f"link.n{node}.rate": rate for node in range(2, 10)}


def _line_settings(line: str, webs: int, window: int) -> dict[str, Value]:
    factor = _rate(line) / 1.5
    return {
        **Load(HTTP10, webs, 0, window).settings(),
        **_access(f"{10 * factor:g} Mbit/s"),
        "link.bottleneck.rate": line,
        "link.bottleneck.queue": {"kind": "drop-tail", "limit": f"{round(25 * factor) - 1} packets"},
    }


def _today_settings(line: str, window: int) -> dict[str, Value]:
    round_trip = round(_rate(line) * 1e6 * 0.066 / 8 / 1500)
    settings: dict[str, Value] = {
        **Load(HTTP10, 4, 0, window).settings(),
        **_access("1 Gbit/s"),
        "duration": "120 s",
        "link.bottleneck.rate": line,
        "link.bottleneck.queue": {"kind": "drop-tail", "limit": f"{round_trip} packets"},
        "tcp": {"profile": "linux", "congestion": "reno", "initial_window": f"{window} segments"},
    }
    for flow in range(4):
        app = f"flow.{flow}.app"
        settings[f"{app}.files"] = FILE_COUNT
        settings[f"{app}.http"] = {"kind": "1.1", "order": "pipelined"}
        settings[f"{app}.size"] = {"kind": "lomax", "median": "8 kB", "shape": 1.2, "max": "5 MB"}
    return settings


def _cells(samples: Samples, key: Key, row: Mapping[str, Label]) -> Iterable[Cell]:
    """No cells if the experiment is not part of the plan."""
    if not samples.knows(key):
        return
    runs: list[Measured] | None = samples.all(key)
    for quantity, (unit, values) in QUANTITIES.items():
        cell = Cell(row, quantity, unit, None, None, reason="beyond the document")
        yield estimated(cell, None if runs is None else values(runs))


def _mean_delay(samples: Samples, queue: str, ftps: int, window: int) -> float | None:
    key = _queue_key(queue, ftps, window)
    runs = samples.all(key) if samples.knows(key) else None
    return None if runs is None else sum(each(runs, "web")) / len(runs)


def _as_red(samples: Samples) -> Check:
    """Section 4: RED with a window of one segment gave gains similar to those of larger windows without RED."""
    words = (
        "RED with IW 1 gives the pages at least half of the gain of IW 3 without RED (section 4: similar gains), "
        "with two file clients"
    )
    plain, larger = (_mean_delay(samples, "drop-tail", 2, window) for window in (1, 3))
    red = _mean_delay(samples, "RED", 2, 1)
    if plain is None or larger is None or red is None:
        return Check(words, None)
    found = f"{plain:.2f} s; IW 3 {larger:.2f} s; RED {red:.2f} s"
    return Check(words, plain - red >= (plain - larger) / 2, found)


def _picture(delay: Callable[[str, int, int], float | None]) -> Picture:
    from netspurt import plot

    panels = {
        words: {queue: [delay(queue, ftps, window) for window in WINDOWS] for queue in DRAWN}
        for ftps, words in ((0, "no file clients"), (2, "2 file clients"))
    }
    return Picture(
        "rfc2415-queues",
        "Median page delay under other queues",
        "16 web clients, HTTP/1.0, initial windows of 1 to 4 and of 10 segments; means over seeds.",
        "Page delay against the initial window for drop-tail, RED, CoDel and FQ-CoDel.",
        partial(plot.against_window_charts, panels, WINDOWS, "median page delay (s)", {}),
    )
