"""Beyond the document: the prober over emulated paths with glitches, and a replay of the timers over its delays."""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netspurt.emulation.emulating import NotPossible, emulated
from netspurt.inputs import delays
from netspurt.studies.experiment import AnyExperiment, LiveExperiment, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table
from netspurt.studies.rfc889.live import Measured, cells_of

ASKED = {True: "emulated_quick.toml", False: "emulated.toml"}

PATHS = {
    "emulated, steady": 'rate = "256 kbit/s"',
    "emulated, glitches": (
        'trace = { kind = "rates", times = ["0 s", "6 s", "7.5 s"], '
        'rates = ["256 kbit/s", "0 bit/s", "256 kbit/s"], repeat = "8 s" }'
    ),
}
"""A line, and the same line with an interruption of 1.5 s in every eight seconds: waiting packets arrive late, each a
little less late than the one before."""


def _scenario() -> str:
    lines = ['duration = "1 s"']
    for number, line in enumerate(PATHS.values()):
        lines += [f'[link.p{number}]\nbetween = ["a{number}", "b{number}"]\ndelay = "50 ms"', line]
        lines.append('loss = { kind = "packet-error", rate = 0.01 }')
    lines.append('[[flow]]\nfrom = "a0"\nto = "b0"\napp = { kind = "bulk" }')
    return "\n".join(lines)


def probe(asked: Mapping[str, Any]) -> dict[str, Measured]:
    """Probes both paths at once; any failure becomes a sentence."""
    low, high = asked["octets"]
    command = [sys.executable, "-m", "netspurt", "ping", "--fast", "--json", "--timeout", "5"]
    command += ["--count", str(asked["count"]), "--interval", str(asked["interval"])]
    command += ["--length", f"{low}..{high}", "--seed", "1"]
    with tempfile.TemporaryDirectory() as name:
        files = {path: Path(name) / f"{number}.parquet" for number, path in enumerate(PATHS)}
        tasks: dict[str, Mapping[str, Any]] = {}
        for number, file in enumerate(files.values()):
            tasks[f"a{number}"] = {"program": "run", "words": [*command, f"b{number}", "--out", str(file)]}
            tasks[f"b{number}"] = {"program": "rest"}
        try:
            with emulated(_scenario(), tasks, limit_s=asked["limit_s"]) as done:
                said = [done.found[f"a{number}"] for number in range(len(PATHS))]
        except NotPossible as reason:
            return {path: Measured({}, str(reason)) for path in PATHS}
        return {path: _read(file, each) for (path, file), each in zip(files.items(), said, strict=True)}


def _read(file: Path, said: Mapping[str, Any]) -> Measured:
    if said["status"] not in (0, 1) or not file.exists():
        return Measured(
            {}, said["error"].strip().removeprefix("netspurt: ") or "the prober exited without output"
        )
    (found,) = delays.read(str(file))
    if not np.isfinite(found.delay_s).any():
        return Measured({}, "there was no answer")
    return Measured({"time_s": found.time_s, "delay_s": found.delay_s})


class Emulated:
    """A line with and without interruptions, probed side by side."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """Half a minute for both paths in a quick run, three minutes in a full run."""
        if plan.live:
            yield LiveExperiment(
                key=("emulated",),
                scenario=ASKED[plan.quick],
                measure=lambda text: probe(tomllib.loads(text)),
                slow=True,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The measurements, and the cost of each timer; where no measurement was possible, the reason."""
        measured = samples.one(("emulated",), dict) if samples.knows(("emulated",)) else None
        if measured is None:
            return Findings()
        cells: list[Cell] = []
        notes: list[str] = []
        for path, of_path in measured.items():
            if of_path.why_not:
                notes.append(f"Not measured live: {path}, since {of_path.why_not}.")
            else:
                cells += cells_of(path, of_path)
        if not cells:
            return Findings(notes=tuple(notes))
        table = Table(
            "beyond_live_emulated",
            "A slow line without and with interruptions, emulated and probed while the study ran",
            tuple(cells),
            kind="beyond",
            note=(
                "Live: 256 kbit/s, 50 ms one way, 1 % packet loss in each direction; with interruptions, "
                "the link sends nothing for 1.5 s in every 8 s. Delays are one way, half the RTT."
            ),
        )
        return Findings(tables=(table,), notes=tuple(notes))
