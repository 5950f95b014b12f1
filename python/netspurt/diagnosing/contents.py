"""What a diagnosis is of, in one line.

Lives here: the counts of packets and connections, as text. Must not live here: limits, or layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netspurt.analysis import formats
from netspurt.analysis.capture import PASSED

if TYPE_CHECKING:
    from netspurt.diagnosing.diagnosis import Diagnosis

UNUSABLE = ("cut", "malformed", "untimed", "backwards")
"""Fates of packets that make a diagnosis worse; those of other protocols do not."""


def contents(diagnosis: Diagnosis) -> str:
    """The counts of packets and connections, and of packets that make the diagnosis worse."""
    tally = diagnosis.tally
    connections = formats.counted(tally["connections"], "TCP connection")
    if diagnosis.within is not None:
        connections += f", {diagnosis.within.words}"
    if diagnosis.flows is not None:
        return f"simulated, {connections}"
    packets = formats.counted(tally["packets"], "packet")
    unusable = ", ".join(f"{formats.count(tally[fate])} {PASSED[fate]}" for fate in UNUSABLE if tally[fate])
    if unusable and tally["segments"]:
        packets += f" ({unusable})"
    return f"{packets}, {connections}"
