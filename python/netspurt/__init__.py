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

if TYPE_CHECKING:
    from netspurt import plot as plot
    from netspurt._core import ScenarioError as ScenarioError
    from netspurt.capture import Capture as Capture
    from netspurt.capture import read_capture as read_capture
    from netspurt.scenario import Result as Result
    from netspurt.scenario import Scenario as Scenario
    from netspurt.scenario import load as load
    from netspurt.scenario import parse as parse

__version__ = "0.1.0"

__all__ = [
    *("Capture", "Result", "Scenario", "ScenarioError", "__version__"),
    *("load", "parse", "plot", "read_capture"),
]

_HOME = {
    "Capture": "netspurt.capture",
    "Result": "netspurt.scenario",
    "Scenario": "netspurt.scenario",
    "ScenarioError": "netspurt._core",
    "load": "netspurt.scenario",
    "parse": "netspurt.scenario",
    "read_capture": "netspurt.capture",
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return importlib.import_module("netspurt.plot")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'netspurt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
