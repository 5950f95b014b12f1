"""Responsiveness under working conditions: round trips per minute (draft-ietf-ippm-responsiveness-08).

Load-generating connections are added at each interval until goodput no longer grows. Probes meanwhile measure round
trips: *foreign* ones open a connection of their own, *self* ones are on the connections of the load. Lives here: the
algorithm, its run in a simulation, and its client and server for real networks. Must not live here: tables and options.
"""

from netspurt.underload.rpm.algorithm import (
    Confidence,
    Interval,
    Parameters,
    Responsiveness,
    judge,
    trimmed_mean,
)
from netspurt.underload.rpm.simulated import simulate

__all__ = ["Confidence", "Interval", "Parameters", "Responsiveness", "judge", "simulate", "trimmed_mean"]
