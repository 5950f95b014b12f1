"""An emulation of many paths at once, with a task for each host, and what came of it.

Lives here: running ``netspurt emulate`` and gathering. Must not live here: what the tasks do (``programs``).
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).with_name("programs.py")

Task = Mapping[str, Any]
"""What a host shall do: ``program``, a name in ``programs``, and what that wants to know."""


class NotPossible(Exception):  # noqa: N818 - no fault of anybody's
    """An emulation cannot be made here; why, in a sentence."""


@dataclass(frozen=True)
class Emulated:
    """What each host found, what the links did, and where the captures are."""

    found: Mapping[str, Any]
    report: Mapping[str, Any]
    captures: Mapping[str, Path]
    late_s: float | None = None
    """The longest that a program of these tasks' priority had to wait for a processor, if tasks were to be prompt."""

    @property
    def latest_s(self) -> float:
        """The latest that anything was: a packet that was handed over, or a program that wanted to go on."""
        packets = [link["delay_error_max_s"] for link in self.report["links"]]
        return float(max([self.late_s or 0.0, *(late for late in packets if late is not None)]))

    @property
    def late(self) -> float:
        """The share of packets that came more than a millisecond after their time."""
        arrived = sum(link["arrived"] for link in self.report["links"])
        late = sum(link["late"] for link in self.report["links"])
        return float(late / max(arrived, 1))


@contextmanager
def emulated(
    scenario: str,
    tasks: Mapping[str, Task],
    *,
    limit_s: float,
    seed: int = 1,
    captures: Sequence[str] = (),
    words: Sequence[str] = (),
) -> Iterator[Emulated]:
    """Emulates a scenario, given as text, until every host has done its task. The first leads, and must not serve.

    Args:
        scenario: TOML.
        tasks: by name of the host.
        limit_s: when it is given up.
        seed: of all that is random in the network.
        captures: hosts at which everything is captured. The files are there as long as the context.
        words: more options of ``netspurt emulate``.

    Raises:
        NotPossible: no privilege, no device, or it took too long.
    """
    with tempfile.TemporaryDirectory(prefix="netspurt-") as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(scenario, encoding="utf-8")
        for pipe in ("go", "over", *(f"{host}.{said}" for host in tasks for said in ("ready", "done"))):
            os.mkfifo(folder / pipe)
        (folder / "tasks.json").write_text(json.dumps(dict(tasks)), encoding="utf-8")
        files = {host: folder / f"{host}.pcapng" for host in captures}
        report = _run(folder, tasks, limit_s, ["--seed", str(seed), *words, *_captures(files)])
        found = {
            host: json.loads((folder / f"{host}.done.json").read_text(encoding="utf-8")) for host in tasks
        }
        for host, outcome in found.items():
            if isinstance(outcome, dict) and "failed" in outcome:
                raise NotPossible(f"the program on {host} failed: {outcome['failed']}")
        machine = folder / "machine.json"
        late_s = json.loads(machine.read_text(encoding="utf-8"))["late_s"] if machine.exists() else None
        yield Emulated(found, report, files, late_s)


def _captures(files: Mapping[str, Path]) -> list[str]:
    return [word for host, file in files.items() for word in ("--capture", f"{host}={file}")]


def _run(folder: Path, tasks: Mapping[str, Task], limit_s: float, words: Sequence[str]) -> Mapping[str, Any]:
    program = [sys.executable, "-S", "-E", "-P", str(PROGRAMS), str(folder)]
    first, *others = tasks
    command = [sys.executable, "-m", "netspurt", "emulate", str(folder / "scenario.toml"), "--json", *words]
    command += ["--client", first]
    command += [word for host in others for word in ("--on", host, shlex.join(program))]
    process = subprocess.Popen(
        [*command, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        told, said = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.communicate()
        raise NotPossible(f"it was not over after {limit_s:g} s") from None
    except BaseException:
        process.terminate()
        process.communicate()
        raise
    lines = said.strip().splitlines() or ["it exited without output"]
    if process.returncode:
        raise NotPossible(lines[-1].removeprefix("netspurt: ") if process.returncode == 2 else said.strip())
    report: Mapping[str, Any] = json.loads(told)
    return report
