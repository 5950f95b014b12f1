"""``netspurt emulate`` for tests: a small scenario, the command, and what it leaves."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LIMIT_S = 60

ENVIRONMENT = dict(os.environ)
"""For programs that other threads start: pytest changes its own environment meanwhile, which must not be read then."""

SCENARIO = """
duration = "1 s"
[link.path]
between = ["earth", "space"]
delay = "10 ms"
{link}
[[flow]]
from = "earth"
to = "space"
app = {{ kind = "bulk" }}
"""


def emulate(
    directory: Path, *words: str, link: str = 'rate = "100 Mbit/s"', **run: Any
) -> subprocess.CompletedProcess[str]:
    """Runs the command ``netspurt emulate`` with these words behind the scenario."""
    return subprocess.run(
        command(directory, *words, link=link), capture_output=True, text=True, timeout=LIMIT_S, **run
    )


def command(directory: Path, *words: str, link: str = 'rate = "100 Mbit/s"') -> list[str]:
    """The same as words."""
    scenario = directory / "scenario.toml"
    scenario.write_text(SCENARIO.format(link=link), encoding="utf-8")
    return [sys.executable, "-m", "netspurt", "emulate", str(scenario), *words]


def report(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The document of ``--json``: nothing else stands on standard output."""
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def said(run: subprocess.CompletedProcess[str]) -> str:
    """What the programs print, which is on standard error with ``--json``."""
    return "".join(line for line in run.stderr.splitlines(keepends=True) if not line.startswith("netspurt: "))


def carriers() -> list[int]:
    """Processes that belong to an emulation."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and b"NETSPURT_EMULATION=" in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found
