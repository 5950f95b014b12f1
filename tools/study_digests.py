#!/usr/bin/env python3
"""Runs each simulated experiment of the studies once, and compares the digests with those of the last version.

A change that should not alter results must leave all of them as they are. Where a difference is intended, `--write`
stores the new digests, and the commit says why they differ.

Exit status: 0 if all are the same, 1 if one differs, is new or is gone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from netspurt.studies import NAMES, find
from netspurt.studies.experiment import CapturedExperiment, Experiment, Plan
from netspurt.studies.runner import prepare

if TYPE_CHECKING:
    from netspurt import _core

STORED = Path(__file__).parents[1] / "studies" / "digests.json"
SEED = 1


def digests(study: str, every: int = 1) -> Iterator[tuple[str, str]]:
    """The name of each simulated experiment of the quick plan, and the digest of its run with the first seed.

    With ``every`` only each so many-th one.
    """
    work = prepare(find(study), Plan(quick=True))
    simulated = [one for one in work.experiments if isinstance(one, Experiment | CapturedExperiment)]
    for experiment in simulated[::every]:
        run = cast("_core.Scenario", work.scenarios[experiment.key]).run(SEED, [], None)
        yield " ".join(map(str, experiment.key)), run.digest


def stored() -> dict[str, dict[str, str]]:
    """The digests of the last version, by study and experiment."""
    return dict(json.loads(STORED.read_text()))


def differences(study: str, every: int = 1) -> list[str]:
    """One line for each experiment whose digest is another one, is new, or is gone; of each ``every``-th one."""
    now, before = dict(digests(study, every)), stored().get(study, {})
    names = now if every > 1 else now | before
    return [
        f"{study}, {name}: {before.get(name, 'not stored')} before, {now.get(name, 'no such experiment')} now"
        for name in sorted(names)
        if now.get(name) != before.get(name)
    ]


def main() -> int:
    """Prints the differences, or writes the digests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="store the digests of this version")
    if parser.parse_args().write:
        STORED.write_text(json.dumps({name: dict(digests(name)) for name in NAMES}, indent=1) + "\n")
        return 0
    found = [line for name in NAMES for line in differences(name)]
    print("\n".join(found) or "all digests are as before")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
