"""The runs of the studies are those of the last version, segment by segment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from netspurt.studies import NAMES

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

import study_digests

EVERY = 16
"""Of so many experiments one is run; `tools/study_digests.py` runs all of them."""


@pytest.mark.parametrize("name", NAMES)
def test_experiments_run_as_in_the_last_version(name: str) -> None:
    found = study_digests.differences(name, EVERY)
    assert not found, "\n".join([*found, "if this is intended: tools/study_digests.py --write"])


def test_a_changed_a_new_and_a_missing_experiment_are_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_digests, "digests", lambda *_: [("same", "1"), ("changed", "2"), ("new", "3")])
    monkeypatch.setattr(study_digests, "stored", lambda: {"x": {"same": "1", "changed": "1", "gone": "4"}})
    assert [line.split(":")[0] for line in study_digests.differences("x")] == [
        "x, changed",
        "x, gone",
        "x, new",
    ]
