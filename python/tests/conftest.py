"""Fixtures shared by all tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import fake_core as fake
import pytest

import netspurt


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Puts the stand-in where the native module would be."""
    monkeypatch.setitem(sys.modules, "netspurt._core", fake)
    monkeypatch.setattr(netspurt, "_core", fake, raising=False)
    yield fake
    fake.before_run = None
