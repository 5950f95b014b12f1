"""What limited a transfer: the time budget of each connection.

Lives here: diagnoses as tables and as text, the filter of connections, and what may help against each limit. Must not
live here: the rules that name a limit (Rust has them), drawing, or printing.
"""

from __future__ import annotations

from netspurt.diagnosing.diagnosis import Diagnosis
from netspurt.diagnosing.reading import why

__all__ = ["Diagnosis", "why"]
