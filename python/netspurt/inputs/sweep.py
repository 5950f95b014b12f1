"""A sweep as a side of a comparison. Lives here: its name and its version. Must not live here: its tables."""

from __future__ import annotations

from dataclasses import dataclass

from netspurt.sweeping.outcome import Sweep


@dataclass
class Swept:
    """A sweep's folder."""

    name: str
    sweep: Sweep

    @property
    def made_by(self) -> str | None:
        """The version of netspurt."""
        return self.sweep.about.get("netspurt")
