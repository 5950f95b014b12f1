"""The stub of the native module says what the module is: every name, parameter and default."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import netspurt


def test_the_stub_is_true(tmp_path: Path) -> None:
    pytest.importorskip("netspurt._core", reason="the native module is not built")
    pytest.importorskip("mypy", reason="mypy is not installed")
    # Elsewhere than the checkout, whose configuration speaks of files that are not asked about.
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "netspurt._core"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"MYPYPATH": str(Path(netspurt.__file__).parents[1]), "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
