"""Common parts of the study: settings of the synthetic path of a run, and the replayed timers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from netspurt.analysis.rto_replay import costs, estimator
from netspurt.settings import Value
from netspurt.studies.experiment import Floats
from netspurt.studies.rfc889.published import FIRST_LONG, Line, Run, lines_of

if TYPE_CHECKING:
    from netspurt import _core

PATH = "path.toml"

BOUNDLESS = "min=0s,max=0s"
"""RFC 889 has no bounds."""

MILLS = f"rfc889:f1=0.9375,f2=0.75,g=2,{BOUNDLESS}"
SYMMETRIC = f"rfc889:f1=0.875,f2=0.875,g=2,{BOUNDLESS}"
"""The values of the document, and those "now used in typical implementations", F = 7/8 and G = 2."""

TOO_CLOSE = f"rfc889:f1=0.875,f2=0.875,g=1.5,{BOUNDLESS}"
"""The lower end of the range of G in RFC 793."""


def line_settings(lines: Sequence[Line]) -> dict[str, Value]:
    """The path's lines; without any, all packets have the same delay."""
    if not lines:
        return {}
    settings: dict[str, Value] = {
        "line": [
            {"octets": list(line.octets), "delay": [f"{delay:g} ms" for delay in line.delay_ms]}
            for line in lines
        ]
    }
    return settings if len(lines) == 1 else {**settings, "split": FIRST_LONG}


def run_settings(run: Run) -> dict[str, Value]:
    """A path with the run's lengths and lines, calibrated to its mean, variation and losses."""
    lengths: dict[str, Value] = {}
    if run.octets is not None:
        lengths["length"] = {"kind": "fixed", "octets": run.octets}
    return {
        **lengths,
        **line_settings(lines_of(run)),
        "calibrate": {"mean": f"{run.mean_ms.value:g} ms", "cov": run.cov.value, "lost": run.lost},
    }


def native(run: Mapping[str, Floats]) -> _core.Delays:
    """The delays of a synthetic run as the native type that the replay needs."""
    from netspurt import _core

    return _core.Delays(np.asarray(run["delay_s"], dtype=np.float64))


def replay(delays: _core.Delays, words: str, rules: str = "document") -> dict[str, float]:
    """The cost of a timer: lost, lost_s, rtx, rtx_s, total_s, efficiency, and percentiles of its timeout."""
    outcome = delays.replay(estimator(words), rules)
    row = costs(delays.summary(), outcome)
    return {**row, "late_p50_s": outcome["late_p50_s"], "late_p95_s": outcome["late_p95_s"]}
