"""What scripts of packetdrill need of the kernel that they test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from packetdrill import may_choose


@pytest.mark.parametrize(
    ("default", "allowed", "expected"),
    [("bbr", "reno bbr", False), ("bbr", "reno cubic", True), ("cubic", "reno", True)],
    ids=["another default", "allowed", "the default"],
)
def test_a_namespace_uses_the_default_or_an_allowed_congestion_control(
    default: str, allowed: str, expected: bool, tmp_path: Path
) -> None:
    (tmp_path / "tcp_congestion_control").write_text(default + "\n")
    (tmp_path / "tcp_allowed_congestion_control").write_text(allowed + "\n")
    assert may_choose("cubic", tmp_path) is expected
