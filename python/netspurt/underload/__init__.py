"""Latency under load: downloads, uploads and a probe at the same time, as flent's RRUL test does.

Lives here: the flows of the test and what is measured. Must not live here: drawing, or text for a terminal.
"""

from __future__ import annotations

from netspurt.underload.measuring import Latency, Test, UnderLoad, rrul

__all__ = ["Latency", "Test", "UnderLoad", "rrul"]
