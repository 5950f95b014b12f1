"""An emulation of many paths at once, with a task for each host, and its results.

Lives here: running ``netspurt emulate`` and collecting results. Must not live here: the tasks' work (``programs``).
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

START = Path(__file__).with_name("programs") / "start.py"

Task = Mapping[str, Any]
"""The task of a host: ``program``, a name in ``programs.start.PROGRAMS``, and its parameters."""


_under_way: set[subprocess.Popen[str]] = set()
"""The emulations of all threads."""


class NotPossible(Exception):  # noqa: N818 - not an error of the caller
    """This machine cannot make the emulation; the text says why."""


@dataclass(frozen=True)
class Emulated:
    """The outcome of each host, statistics of the links, and the capture files."""

    found: Mapping[str, Any]
    report: Mapping[str, Any]
    captures: Mapping[str, Path]
    late_s: float | None = None
    """The longest wait for a processor of a program with the tasks' priority, if the tasks were prompt."""

    @property
    def latest_s(self) -> float:
        """The largest lateness of a packet delivery or a program."""
        packets = [link["delay_error_max_s"] for link in self.report["links"]]
        return float(max([self.late_s or 0.0, *(late for late in packets if late is not None)]))

    @property
    def late(self) -> float:
        """The share of packets that were more than a millisecond late."""
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
    """Emulates a scenario, given as text, until every host has done its task. The first host leads, and must not serve.

    Args:
        scenario: TOML.
        tasks: task by host name.
        limit_s: time limit in seconds.
        seed: seed of all randomness in the network.
        captures: hosts at which all packets are captured. The files exist until the context ends.
        words: further options of ``netspurt emulate``.

    Raises:
        NotPossible: missing privilege, missing device, or time limit exceeded.
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


def end_all() -> None:
    """Ends the emulations of all threads, for the end of a program that no longer waits for them."""
    for process in list(_under_way):
        process.terminate()


def _captures(files: Mapping[str, Path]) -> list[str]:
    return [word for host, file in files.items() for word in ("--capture", f"{host}={file}")]


def _run(folder: Path, tasks: Mapping[str, Task], limit_s: float, words: Sequence[str]) -> Mapping[str, Any]:
    program = [sys.executable, "-S", "-E", "-P", str(START), str(folder)]
    first, *others = tasks
    command = [sys.executable, "-m", "netspurt", "emulate", str(folder / "scenario.toml"), "--json", *words]
    command += ["--client", first]
    command += [word for host in others for word in ("--on", host, shlex.join(program))]
    process = subprocess.Popen(
        [*command, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _under_way.add(process)
    try:
        output, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.communicate()
        raise NotPossible(f"the emulation did not end within {limit_s:g} s") from None
    except BaseException:
        process.terminate()
        process.communicate()
        raise
    finally:
        _under_way.discard(process)
    lines = errors.strip().splitlines() or ["netspurt emulate exited without output"]
    if process.returncode:
        raise NotPossible(lines[-1].removeprefix("netspurt: ") if process.returncode == 2 else errors.strip())
    report: Mapping[str, Any] = json.loads(output)
    return report
