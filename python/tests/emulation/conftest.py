"""Fixtures of emulations: whether they are permitted here, and that they leave nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from emulations import carriers, emulate


@pytest.fixture(scope="session")
def permitted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips all where there are no namespaces or devices for us."""
    trial = emulate(tmp_path_factory.mktemp("trial"), "--on", "space", "true", "--", "true")
    if trial.returncode == 2:
        pytest.skip(trial.stderr.strip())
    assert trial.returncode == 0, trial.stderr


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """Namespaces and devices are there as long as a process is in them: none must be left."""
    before = set(carriers())
    yield
    assert set(carriers()) <= before


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """The test leaves no emulation."""
    with leaving_nothing():
        yield


@pytest.fixture(scope="module")
def at_once(permitted: None, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Any]]]:
    """What the module's function `measured` returns for the name of each of its tests that was selected.

    Its emulations need a tenth of a processor each, so three run at once. They leave nothing, either.
    """
    measured: Callable[[str], Any] = request.module.measured
    names = [
        item.callspec.params["name"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module and hasattr(item, "callspec")
    ]
    with leaving_nothing(), ThreadPoolExecutor(3) as pool:
        yield {name: pool.submit(measured, name) for name in names}
