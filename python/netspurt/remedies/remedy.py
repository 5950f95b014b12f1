"""A remedy: what changes, why it helps, and how a user makes the change.

Lives here: the type, and access to the advice of the diagnosis. Must not live here: any single remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netspurt.diagnosing.remedies_text import of_limit
from netspurt.settings import Value

NO_EVIDENCE: Mapping[str, Any] = {"budget": (), "rtt_min_s": None}
"""A direction without numbers, for advice that needs none."""


@dataclass(frozen=True)
class Remedy:
    """A change of a scenario.

    Attributes:
        name: its name.
        limit: the limit that it relaxes; "" for a remedy of the user's own.
        words: what is changed and why, in a sentence or two.
        settings: dotted path and value, as for ``Scenario.set``.
        how: the commands, settings or calls that do it; capitals stand for names to fill in.
        literal: whether the values are text as on a command line, which the scenario's parser reads.
        rewrite: a change of the whole scenario, for remedies that need another network; None for settings alone.
    """

    name: str
    limit: str
    words: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    how: tuple[str, ...] = ()
    literal: bool = False
    rewrite: Callable[[dict[str, Any]], None] | None = field(default=None, compare=False)


def commands(limit: str, part: str, evidence: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The commands of the diagnosis's advice against a limit, of the piece of advice that contains ``part``."""
    for each in of_limit(limit, evidence or {}, NO_EVIDENCE):
        if any(part in command for command in each.commands):
            return each.commands
    raise LookupError(f"no advice against {limit} contains {part!r}")
