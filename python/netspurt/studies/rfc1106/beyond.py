"""The same experiment with later recovery algorithms, and on other paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from netspurt.analysis.statistics import mean_interval
from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Label, Table
from netspurt.studies.rfc1106.setting import (
    ERROR_RATES,
    FIGURE1,
    FIGURE2,
    SCENARIO,
    WINDOWS_KIB,
    ErrorRate,
    settings,
)

_BEYOND = "beyond the document"

RECOVERIES: dict[str, dict[str, Value]] = {
    "reno": {"tcp.recovery": "reno", "tcp.congestion": "reno"},
    "newreno": {"tcp.recovery": "newreno", "tcp.congestion": "newreno"},
    "sack": {"tcp.sack": True, "tcp.recovery": "sack", "tcp.congestion": "newreno"},
    "cubic": {"tcp.sack": True, "tcp.recovery": "sack", "tcp.congestion": "cubic"},
}
"""Only recovery and congestion control differ from figure 1, so any difference has one cause."""


class OtherRecoveries:
    """The table of figures 1 and 2 for Reno, NewReno, SACK and CUBIC."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """27 cells for each algorithm."""
        seeds = plan.choose(8, 100)
        for name, error, window in product(RECOVERIES, ERROR_RATES, WINDOWS_KIB):
            yield Experiment(
                key=(f"beyond_{name}", error.name, f"{window}K"),
                scenario=SCENARIO,
                settings={**settings(window, error, FIGURE1.profile), **RECOVERIES[name]},
                seeds=seeds if error.bits else 1,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """One table for each algorithm."""
        return Findings(
            tables=tuple(
                Table(
                    f"beyond_{name}",
                    f"The same transfers with {name}",
                    tuple(
                        rate_cell(
                            samples,
                            (f"beyond_{name}", error.name, f"{window}K"),
                            {"window": f"{window}K", "error_rate": error.name},
                        )
                        for error, window in product(ERROR_RATES, WINDOWS_KIB)
                    ),
                    kind="beyond",
                )
                for name in RECOVERIES
            )
        )


@dataclass(frozen=True)
class Path:
    """A path other than the document's; the window is twice its BDP, and the file fills the path for a while."""

    name: str
    rate: str
    delay: str
    window: str
    bytes: str


PATHS = (
    Path("DS3, 30 ms", "44.736 Mbit/s", "15 ms", "512 KiB", "8 MiB"),
    Path("10 Mbit/s satellite", "10 Mbit/s", "290 ms", "2 MiB", "8 MiB"),
    Path("100 Mbit/s satellite", "100 Mbit/s", "290 ms", "16 MiB", "64 MiB"),
)

TCPS: dict[str, dict[str, Value]] = {
    "bsd43-bigwindow": {"tcp.profile": FIGURE1.profile},
    "bsd43-bigwindow-nak": {"tcp.profile": FIGURE2.profile},
    **{name: {"tcp.profile": FIGURE1.profile, **chosen} for name, chosen in RECOVERIES.items()},
}


class OtherPaths:
    """Faster satellites, and the transcontinental line of section 3 of the document."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each path, TCP and error rate; no host processing time, which was fitted to machines of 1989."""
        for path, (name, chosen), error in product(PATHS, TCPS.items(), ERROR_RATES):
            yield Experiment(
                key=_path_key(path, name, error),
                scenario=SCENARIO,
                settings={
                    **chosen,
                    "tcp.receive_window": path.window,
                    "tcp.send_buffer": path.window,
                    "link.satellite.rate": path.rate,
                    "link.satellite.delay": path.delay,
                    "link.satellite.loss": error.loss,
                    "host.earth.latency": "0 ms",
                    "host.space.latency": "0 ms",
                    "flow.0.app.bytes": path.bytes,
                },
                seeds=plan.choose(4, 50) if error.bits else 1,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """One table."""
        cells = tuple(
            rate_cell(
                samples,
                _path_key(path, name, error),
                {"path": path.name, "tcp": name, "error_rate": error.name},
            )
            for path, name, error in product(PATHS, TCPS, ERROR_RATES)
        )
        table = Table(
            "beyond_paths",
            "Other paths: windows of about two bandwidth-delay products, 8 MiB (64 MiB at 100 Mbit/s)",
            cells,
            kind="beyond",
        )
        return Findings(tables=(table,))


def _path_key(path: Path, name: str, error: ErrorRate) -> Key:
    return ("beyond_paths", path.name, name, error.name)


def rate_cell(samples: Samples, key: Key, row: dict[str, Label]) -> Cell:
    """The mean transfer rate of an experiment, in KiB/s."""
    transfers = samples.transfers(key)
    if transfers is None:
        return Cell(row, "transfer_rate", "KiB/s", None, None, runs=0)
    estimate = mean_interval([each.bytes / 1024 / each.seconds for each in transfers])
    return Cell(
        row,
        "transfer_rate",
        "KiB/s",
        None,
        estimate.mean,
        interval=estimate.interval,
        runs=len(transfers),
        reason=_BEYOND,
    )
