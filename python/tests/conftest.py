"""Fixtures shared by all tests."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from netspurt import _core

Hook: TypeAlias = Callable[[], None]


def pytest_configure() -> None:
    """Lets the commands that tests start receive Ctrl-C. A shell ignores it for its jobs in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def before_run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Hook], None]:
    """Takes a function to be called at the start of each run; it may raise."""
    run = _core.Scenario.run

    def hook(called: Hook) -> None:
        def hooked(scenario: _core.Scenario, *words: Any, **options: Any) -> _core.Run:
            called()
            return run(scenario, *words, **options)

        monkeypatch.setattr(_core.Scenario, "run", hooked)

    return hook
