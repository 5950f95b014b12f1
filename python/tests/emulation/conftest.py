"""Fixtures of emulations: whether they are permitted here, and that they leave nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from emulations import carriers, emulate


@pytest.fixture(scope="session")
def permitted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips all where there are no namespaces or devices for us."""
    trial = emulate(tmp_path_factory.mktemp("trial"), "--on", "space", "true", "--", "true")
    if trial.returncode == 2:
        pytest.skip(trial.stderr.strip())
    assert trial.returncode == 0, trial.stderr


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """Namespaces and devices are there as long as a process is in them: none must be."""
    before = set(carriers())
    yield
    assert set(carriers()) <= before
