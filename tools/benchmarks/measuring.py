"""One measured quantity, and how a command is measured."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Figure:
    """One measured quantity with its goal."""

    what: str
    measured: float
    unit: str
    milestone: str
    goal: str


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    """Runs a command; returns its CPU time and its output."""
    cpu, _, text = cost(command)
    return cpu, text


def cost(command: list[str]) -> tuple[float, float, str]:
    """Runs a command; returns its CPU time, its peak memory in MB, and its output."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"bench: {' '.join(command)} exited with status {child.returncode}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, out.read()


def number(pattern: str, text: str) -> float:
    """The number that a pattern matches."""
    found = re.search(pattern, text)
    if not found:
        raise SystemExit(f"bench: there is no match for {pattern!r} in {text!r}")
    return float(found[1])
