"""Fixtures shared by all tests."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from netspurt import _core

Hook: TypeAlias = Callable[[], None]


TESTS = Path(__file__).parent

WAITING = (
    "cli/test_why_sockets.py",
    "docs/test_live_examples.py",
    "lab/test_lab.py",
    "probing",
    "remedies/test_proving.py",
    "sockets",
)
"""Tests of these files and folders mostly wait for real time: several run at once, but beside no computation."""

ALONE = ("emulation",)
"""Tests of these files and folders measure times, or look for processes that others start: they run one by one."""


def pytest_configure(config: pytest.Config) -> None:
    """Lets the commands that tests start receive Ctrl-C. A shell ignores it for its jobs in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "waiting: waits for real time, so it runs beside others that wait")
    config.addinivalue_line("markers", "alone: measures real time, so it must not run beside others")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that depend on real time."""
    for mark, places in ((pytest.mark.waiting, WAITING), (pytest.mark.alone, ALONE)):
        paths = [TESTS / place for place in places]
        for item in items:
            if any(item.path.is_relative_to(path) for path in paths):
                item.add_marker(mark)


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
