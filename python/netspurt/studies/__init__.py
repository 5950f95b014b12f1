"""The studies: reproductions of the published figures of documents, with verdicts.

Lives here: one package for each study, and what all of them share (experiments, verdicts, the runner).
Must not live here: scenario files and published figures; those are data, in ``studies/`` of the repository.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from netspurt.errors import RequestError, nearest

if TYPE_CHECKING:
    from netspurt.studies.experiment import Study

NAMES = ("terabit", "rfc1106", "rfc2415", "doupnik", "rfc889", "today")
"""Every study, in the order of execution."""


def choose(names: list[str]) -> list[str]:
    """The studies with these names; an empty list and ``all`` mean every study.

    Raises:
        RequestError: no study has this name.
    """
    if not names or "all" in names:
        names = [name for name in names if name not in ("all", *NAMES)] or list(NAMES)
    for name in names:
        if name not in NAMES:
            raise RequestError(
                f"there is no study '{name}'{nearest(name, NAMES)} (the studies are: {', '.join(NAMES)}, all)"
            )
    return list(dict.fromkeys(names))


def find(name: str) -> Study:
    """The study of that name, which must be one of ``NAMES``."""
    module = importlib.import_module(f"netspurt.studies.{name}")
    return cast("Study", module.STUDY)
