"""Beyond the document: probes over paths of the machine that runs the study."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netspurt.inputs import delays
from netspurt.studies.experiment import AnyExperiment, Floats, LiveExperiment, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table
from netspurt.studies.rfc889.beyond import TIMERS
from netspurt.studies.rfc889.setting import native, replay

LIVE = "live.toml"

LIMIT_S = 60.0
"""Time limit of each probe."""

PAIR = """
set -e
ip link set lo up
unshare -n sleep 60 & other=$!
trap "kill $other" EXIT
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link add near type veth peer name far netns $other
ip address add 10.9.0.1/24 dev near
ip link set near up
nsenter -t $other -n sh -ec "ip address add 10.9.0.2/24 dev far; ip link set far up"
"$@"
"""
"""Joins two network namespaces by a virtual Ethernet, then runs the command in the first."""

SHOWN = ("RFC 889", "RFC 6298", "Linux")


@dataclass(frozen=True)
class Way:
    """A path: its name, the probed host, and the prefix of the probing command."""

    name: str
    host: str
    before: tuple[str, ...] = ()


WAYS = (
    Way("loopback", "127.0.0.1"),
    Way("two namespaces", "10.9.0.2", ("unshare", "-rn", "sh", "-c", PAIR, "sh")),
)


@dataclass(frozen=True)
class Measured:
    """Columns of the measurement, times and one-way delays in seconds; or a sentence that says why there are none."""

    columns: Mapping[str, Floats]
    why_not: str = ""


def probe(way: Way, asked: Mapping[str, Any]) -> Measured:
    """Probes a path; any failure becomes a sentence."""
    missing = [name for name in ("unshare", "nsenter", "ip") if way.before and shutil.which(name) is None]
    if missing:
        return Measured({}, f"this machine has no {' and no '.join(missing)}")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "probe.parquet"
        low, high = asked["octets"]
        command = [*way.before, sys.executable, "-m", "netspurt", "ping", way.host, "--fast", "--json"]
        command += ["--count", str(asked["count"]), "--interval", str(asked["interval"]), "--timeout", "2"]
        command += ["--length", f"{low}..{high}", "--seed", "1", "--out", str(file)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Measured({}, str(error))
        if run.returncode not in (0, 1) or not file.exists():
            lines: Sequence[str] = run.stderr.strip().splitlines() or ["the prober exited without output"]
            return Measured({}, lines[-1].removeprefix("netspurt: "))
        (found,) = delays.read(str(file))
    if not np.isfinite(found.delay_s).any():
        return Measured({}, f"{way.host} did not answer")
    return Measured({"time_s": found.time_s, "delay_s": found.delay_s})


class Live:
    """Loopback and a pair of namespaces, with a replay of the timers over the measured delays."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """Two seconds for each path."""
        for way in WAYS if plan.live else ():
            yield LiveExperiment(key=("live", way.name), scenario=LIVE, measure=_measure(way))

    def evaluate(self, samples: Samples) -> Findings:
        """The measurements, and the cost of each timer; where no measurement was possible, the reason."""
        cells: list[Cell] = []
        notes: list[str] = []
        for way in WAYS:
            key = ("live", way.name)
            measured = samples.one(key, Measured) if samples.knows(key) else None
            if measured is None:
                continue
            if measured.why_not:
                notes.append(f"Not measured live: {way.name}, since {measured.why_not}.")
                continue
            cells += cells_of(way.name, measured)
        if not cells:
            return Findings(notes=tuple(notes))
        table = Table(
            "beyond_live",
            "Paths of this machine, measured while the study ran",
            tuple(cells),
            kind="beyond",
            note=(
                "Another run or another machine gives other figures. Delays are one way, half the RTT. On "
                "paths of microseconds the RTO floors of current timers are thousands of RTTs: no retransmission is "
                "superfluous, and a lost packet waits for the whole floor."
            ),
        )
        return Findings(tables=(table,), notes=tuple(notes))


def _measure(way: Way) -> Any:
    return lambda text: probe(way, tomllib.loads(text))


def cells_of(path: str, measured: Measured) -> Iterable[Cell]:
    """The measurements of a path, and the cost of each timer on it."""
    delay_s = np.asarray(measured.columns["delay_s"])
    good = delay_s[np.isfinite(delay_s)]
    row = {"path": path, "timer": ""}
    for quantity, unit, value in (
        ("packets", "packets", float(delay_s.size)),
        ("lost", "packets", float(delay_s.size - good.size)),
        ("mean", "us", 1e6 * float(good.mean())),
        ("cov", "", float(good.std() / good.mean())),
        ("p99", "us", 1e6 * float(np.quantile(good, 0.99))),
    ):
        yield Cell(row, quantity, unit, None, value, reason="measured live")
    timed = native(measured.columns)
    for name in SHOWN:
        cost = replay(timed, TIMERS[name], "connection")
        row = {"path": path, "timer": name}
        for quantity, key, unit in (("efficiency", "efficiency", ""), ("rtx_packets", "rtx", "packets")):
            yield Cell(row, quantity, unit, None, cost[key], reason="measured live")
