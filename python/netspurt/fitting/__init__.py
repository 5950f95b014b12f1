"""A scenario fitted to a capture.

Lives here: estimates of path and hosts, their text, and the check by simulation. Must not live here: packet analysis
(``analysis`` and ``diagnosing``), remedies, or text for a terminal.
"""

from __future__ import annotations

from netspurt.fitting.checking import Row
from netspurt.fitting.fitted import Fit, fit

__all__ = ["Fit", "Row", "fit"]
