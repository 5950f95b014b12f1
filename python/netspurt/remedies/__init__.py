"""What would help a transfer: remedies, each simulated, and one of them carried out with the kernel's TCP.

Lives here: the choice of remedies, their changes of a scenario, their simulation and proof. Must not live here: the
diagnosis of a transfer (``diagnosing``), the fit of a path to a capture (``fitting``), or text for a terminal.
"""

from __future__ import annotations

from netspurt.remedies.answer import WhatIf, what_if

__all__ = ["WhatIf", "what_if"]
