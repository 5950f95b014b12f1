"""netspurt, a TCP performance laboratory.

One TCP, written without I/O, runs in a simulated world; this package loads scenarios, runs them,
turns the outcome into tables and pictures, and compares it with published figures.

    import netspurt as ns
    scenario = ns.load("satellite.toml").set({"link.satellite.loss.rate": 1e-7})
    result = scenario.run(seed=1, record=["cwnd"])
    result.flows

Names are imported when first used: ``netspurt --help`` must not wait for numpy or the native module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from netspurt import display

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from netspurt import algorithms as algorithms
    from netspurt import plot as plot
    from netspurt._core import AlgorithmError as AlgorithmError
    from netspurt._core import ScenarioError as ScenarioError
    from netspurt.analysis.capture import Capture as Capture
    from netspurt.analysis.capture import read_capture as read_capture
    from netspurt.comparing import Comparison as Comparison
    from netspurt.comparing import compare as compare
    from netspurt.diagnosing import Diagnosis as Diagnosis
    from netspurt.diagnosing import why as why
    from netspurt.errors import RequestError as RequestError
    from netspurt.fitting import Fit as Fit
    from netspurt.fitting import fit as fit
    from netspurt.inputs.paths.made_path import path as path
    from netspurt.inputs.paths.path_models import PathModel as PathModel
    from netspurt.inputs.paths.path_models import paths as paths
    from netspurt.remedies import WhatIf as WhatIf
    from netspurt.remedies import what_if as what_if
    from netspurt.scenario import Result as Result
    from netspurt.scenario import Scenario as Scenario
    from netspurt.scenario import load as load
    from netspurt.scenario import parse as parse
    from netspurt.sweeping import Stop as Stop
    from netspurt.sweeping import Sweep as Sweep
    from netspurt.sweeping import read_sweep as read_sweep
    from netspurt.sweeping import sweep as sweep
    from netspurt.sweeping.axes import latin_hypercube as latin_hypercube
    from netspurt.sweeping.axes import random_sample as random_sample
    from netspurt.underload import UnderLoad as UnderLoad
    from netspurt.underload import rrul as rrul

__version__ = "0.2.0"

__all__ = [
    *("AlgorithmError", "Capture", "RequestError", "Result", "Scenario", "ScenarioError", "__version__"),
    *("Comparison", "Diagnosis", "Stop", "Sweep", "compare", "why"),
    *("UnderLoad", "WhatIf", "rrul", "what_if"),
    *("Fit", "fit"),
    *(
        "latin_hypercube",
        "algorithms",
        "load",
        "parse",
        "path",
        "PathModel",
        "paths",
        "plot",
        "random_sample",
        "read_capture",
        "read_sweep",
        "sweep",
    ),
]

_HOME = {
    "AlgorithmError": "netspurt._core",
    "Capture": "netspurt.analysis.capture",
    "RequestError": "netspurt.errors",
    "Result": "netspurt.scenario",
    "Scenario": "netspurt.scenario",
    "ScenarioError": "netspurt._core",
    "Comparison": "netspurt.comparing",
    "Diagnosis": "netspurt.diagnosing",
    "Stop": "netspurt.sweeping",
    "Sweep": "netspurt.sweeping",
    "compare": "netspurt.comparing",
    "latin_hypercube": "netspurt.sweeping.axes",
    "load": "netspurt.scenario",
    "parse": "netspurt.scenario",
    "path": "netspurt.inputs.paths.made_path",
    "PathModel": "netspurt.inputs.paths.path_models",
    "paths": "netspurt.inputs.paths.path_models",
    "random_sample": "netspurt.sweeping.axes",
    "read_capture": "netspurt.analysis.capture",
    "read_sweep": "netspurt.sweeping",
    "sweep": "netspurt.sweeping",
    "why": "netspurt.diagnosing",
    "UnderLoad": "netspurt.underload",
    "WhatIf": "netspurt.remedies",
    "rrul": "netspurt.underload",
    "what_if": "netspurt.remedies",
    "Fit": "netspurt.fitting",
    "fit": "netspurt.fitting",
}


_MODULES = {
    "algorithms": "netspurt.algorithms",
    "paired": "netspurt.analysis.paired",
    "plot": "netspurt.plot",
    "statistics": "netspurt.analysis.statistics",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name == "run":
        raise AttributeError("module 'netspurt' has no attribute 'run': write ns.load(FILE).run(seed=1)")
    raise AttributeError(f"module 'netspurt' has no attribute {name!r}")


def _html(form: str, value: object) -> str:
    from netspurt import notebook

    return notebook.shown(form, value)


def _gauge(title: str) -> AbstractContextManager[display.Gauge]:
    from netspurt.cli.progress import Gauge

    return Gauge(title)


display.fill(_html, _gauge)


def __dir__() -> list[str]:
    return sorted(__all__)
