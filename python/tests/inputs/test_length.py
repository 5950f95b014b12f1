"""Whether a run is short, from its scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

import netspurt as ns
from netspurt.inputs.length import is_short
from netspurt.inputs.paths.one_path import OnePath

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("path", "short"),
    [
        (OnePath(rate="10mbit", delay="40ms", bytes="20MB"), True),
        (OnePath(rate="10mbit", delay="40ms"), True),
        (OnePath(rate="10gbit", delay="1ms", bytes="1 MB"), True),
        (OnePath(rate="10gbit", delay="1ms"), False),
        (OnePath(rate="10gbit", delay="1ms", bytes="1 MB", parallel="100000"), False),
        (OnePath(delay="1ms"), False),
        (OnePath(path="leo"), False),
    ],
)
def test_slow_links_and_small_transfers_are_short(path: OnePath, short: bool) -> None:
    assert is_short(path.scenario().merged()) is short


def test_every_example_has_a_length() -> None:
    assert is_short(ns.load(ROOT / "examples" / "satellite.toml").merged())
