"""The document's setting, shared by the parts of the study: runs, measured quantities, published values."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from netspurt.analysis.statistics import mean_interval
from netspurt.settings import Value
from netspurt.studies.experiment import DATA, Key, Samples
from netspurt.studies.model import Cell, Label

if TYPE_CHECKING:
    from netspurt import _core

WEBS = (8, 16, 32)
FTPS = (0, 1, 2, 3)
WINDOWS = (1, 2, 3, 4)
"""Initial windows in segments."""
SEEDS = 10
"""Seeds of every run with a bar; the document has one."""
BOTTLENECK = ("bottleneck", "n1->n0")
"""The link and direction that all replies take."""


@dataclass(frozen=True)
class Http:
    """A web model, with the names of its tables."""

    name: str
    words: str
    app: Mapping[str, Value]
    delay_table: str
    power_table: str


HTTP10 = Http("1.0", "HTTP/1.0", {"kind": "1.0"}, "table1", "table3")
HTTP11 = Http("1.1", "HTTP/1.1", {"kind": "1.1", "order": "as-one"}, "table4", "table5")
"""Section 3 says that one connection sends all information: one transfer of the sum of the sizes."""
MODELS = (HTTP10, HTTP11)


@dataclass(frozen=True)
class Load:
    """One run of the document."""

    http: Http
    webs: int
    ftps: int
    window: int

    @property
    def key(self) -> Key:
        """Its key among the experiments."""
        return ("grid", self.http.name, self.webs, self.ftps, self.window)

    @property
    def name(self) -> str:
        """Such as ``16/2``: web clients and FTP clients."""
        return f"{self.webs}/{self.ftps}"

    @property
    def place(self) -> tuple[int, int, int]:
        """Its place in the published tables: web clients, FTP clients, initial window."""
        return self.webs, self.ftps, self.window

    @property
    def row(self) -> dict[str, Label]:
        """The labels of its row."""
        return {"web_clients": self.webs, "ftp_clients": self.ftps, "initial_window": self.window}

    @property
    def scenario(self) -> str:
        """The scenario file. A flow cannot have zero clients, so there are two files."""
        return "web_and_files.toml" if self.ftps else "web.toml"

    def settings(self) -> dict[str, Value]:
        """The settings of this run, applied to the scenario file."""
        settings: dict[str, Value] = {"tcp.initial_window": f"{self.window} segments"}
        for flow in range(4):
            settings[f"flow.{flow}.count"] = self.webs // 4
            settings[f"flow.{flow}.app.http"] = dict(self.http.app)
        if self.ftps:
            settings["flow.4.count"] = self.ftps
        return settings


def loads(http: Http) -> Iterable[Load]:
    """The 48 runs of a model."""
    return (Load(http, webs, ftps, window) for webs, ftps, window in product(WEBS, FTPS, WINDOWS))


class Measured(NamedTuple):
    """The outcome of one run. Times in seconds; drops in per cent of the arrivals at the bottleneck."""

    page_delay_s: Mapping[str, float]
    """Median over all pages of the flows of a name."""
    page_delay_p95_s: Mapping[str, float]
    web_megabytes: Mapping[str, float]
    utilisation_pct: float
    drops_pct: float
    ftp_megabytes: float
    ftp_median_s: float

    @property
    def web_power(self) -> float:
        """Network power of page transfers: megabytes of pages over the median page delay in seconds."""
        return self.web_megabytes["web"] / self.page_delay_s["web"]

    @property
    def power(self) -> float:
        """FTP network power: megabytes in the whole run over the median transfer time in seconds."""
        return self.ftp_megabytes / self.ftp_median_s if self.ftp_median_s > 0 else 0.0


def measure(run: _core.Run) -> Measured:
    """Reads a run."""
    links = run.links()
    line = list(zip(links["link"], links["direction"], strict=True)).index(BOTTLENECK)
    passed = int(links["packets"][line])
    dropped = sum(int(column[line]) for name, column in links.items() if name.startswith("drops_"))
    groups = run.groups()
    row = {name: i for i, name in enumerate(groups["flow"])}
    webs = [name for name in row if name != "ftp"]
    ftp = row.get("ftp")
    return Measured(
        page_delay_s={name: float(groups["page_delay_median_s"][row[name]]) for name in webs},
        page_delay_p95_s={name: float(groups["page_delay_p95_s"][row[name]]) for name in webs},
        web_megabytes={name: float(groups["bytes_delivered"][row[name]]) / 1e6 for name in webs},
        utilisation_pct=100 * float(links["utilisation"][line]),
        drops_pct=100 * dropped / max(passed + dropped, 1),
        ftp_megabytes=0.0 if ftp is None else float(groups["bytes_delivered"][ftp]) / 1e6,
        ftp_median_s=0.0 if ftp is None else float(groups["transfer_time_median_s"][ftp]),
    )


def estimated(cell: Cell, values: Sequence[float] | None) -> Cell:
    """The cell with the mean over seeds and its interval; ``values`` is None if some are missing."""
    if values is None:
        return replace(cell, measured=None, runs=0)
    estimate = mean_interval(values)
    return replace(cell, measured=estimate.mean, interval=estimate.interval, runs=len(values))


def each(runs: Sequence[Measured], what: str) -> list[float]:
    """One quantity of each run; ``what`` names a field, or a flow for its median page delay."""
    if runs and what in runs[0].page_delay_s:
        return [run.page_delay_s[what] for run in runs]
    return [float(getattr(run, what)) for run in runs]


class Runs:
    """The outcomes by load; None for a load with missing seeds."""

    def __init__(self, samples: Samples, key: Callable[[Load], Key] = lambda load: load.key) -> None:
        self._samples = samples
        self._key = key

    def of(self, load: Load) -> list[Measured] | None:
        """All seeds of a load."""
        key = self._key(load)
        return self._samples.all(key) if self._samples.knows(key) else None

    def each(self, load: Load, what: str) -> list[float] | None:
        """One quantity over the seeds; ``what`` as for ``each``."""
        runs = self.of(load)
        return None if runs is None else each(runs, what)

    def mean(self, load: Load, what: str) -> float | None:
        """Its mean."""
        values = self.each(load, what)
        return None if values is None else sum(values) / len(values)

    def decreases(self, load: Load, what: str = "web") -> list[float] | None:
        """The decrease of the median page delay relative to an initial window of one segment, in per cent.

        The same seed gives the same pages, so each pair of runs gives one difference.
        """
        one, more = self.each(replace(load, window=1), what), self.each(load, what)
        if one is None or more is None:
            return None
        return [100 * (1 - b / a) for a, b in zip(one, more, strict=True)]


def published(table: str) -> list[dict[str, str]]:
    """The rows of a published table, as text."""
    with (DATA / "rfc2415" / "published" / f"{table}.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def by_load(table: str, column: str) -> dict[tuple[int, int, int], float]:
    """A quantity of tables 1 to 5 by web clients, FTP clients and initial window; ``{}`` is replaced by the window."""
    numbers = {}
    for row in published(table):
        for window in WINDOWS:
            text = row.get(column.format(window), "")
            if text:
                numbers[int(row["web_clients"]), int(row["ftp_clients"]), window] = float(text)
    return numbers


_DELAY = {"1.0": "median_page_delay_s_iw{}", "1.1": "http11_median_page_delay_s_iw{}"}
_POWER = {"1.0": "ftp_network_power_iw{}", "1.1": "http11_ftp_network_power_iw{}"}


def published_decreases(http: Http) -> dict[tuple[int, int, int], float]:
    """The decreases of tables 1 and 4, in per cent."""
    return by_load(http.delay_table, "pct_decrease_iw{}")


def published_delays(http: Http) -> dict[tuple[int, int, int], float]:
    """Median page delays in seconds: as printed at one segment, else computed from the decrease."""
    start, falls = by_load(http.delay_table, _DELAY[http.name]), published_decreases(http)
    derived = {
        (webs, ftps, window): start[webs, ftps, 1] * (1 - fall / 100)
        for (webs, ftps, window), fall in falls.items()
    }
    return start | derived


def published_power(http: Http) -> dict[tuple[int, int, int], float]:
    """Network power of file transfers of tables 3 and 5."""
    return by_load(http.power_table, _POWER[http.name])
