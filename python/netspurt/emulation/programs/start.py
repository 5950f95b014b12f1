"""Runs the program of a host and synchronises it with the programs of the other hosts.

It runs by file name, without ``site``, because dozens start at once. It reads the task by the host's name from
``tasks.json`` in the given folder, gets the program ready, waits until all are ready (or, with ``after`` in its task,
until that host is done), works, and writes the outcome to ``HOST.done.json``. The program of the first host leads: it
starts all programs when they are ready, and ends when all have ended. Programs synchronise by named pipes,
``HOST.ready``, ``HOST.done``, ``go`` and ``over``, which exist in the folder from the start.

Lives here: the choice of a program, and synchronisation. Must not live here: a program.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Without site, the package is found by the place of this file.
    sys.path.insert(0, str(Path(__file__).parents[3]))

from netspurt.emulation.programs import ours, transfers, web
from netspurt.emulation.programs.lateness import LatenessMonitor
from netspurt.emulation.programs.sockets import TIME_LIMIT_S, Work

HERE_PORT = 5999
"""A packet to this address reports to the emulator that a program is ready. No program listens there."""

PROGRAMS: dict[str, Callable[[dict[str, Any]], Work]] = {
    program.__name__: program for module in (transfers, web, ours) for program in module.PROGRAMS
}
"""Every program by the name that a task uses."""


def _wait_for(pipe: Path) -> None:
    """Waits until the pipe is opened for writing. It sleeps, because hundreds of polling programs would use all CPU."""
    os.close(os.open(pipe, os.O_RDONLY))


def _say(pipe: Path) -> None:
    """Wakes all programs that wait for a pipe, now or later: a pipe opens for reading while it is open for writing."""
    os.open(pipe, os.O_RDWR)  # until this program ends


def _on_alarm(_signal: int, _frame: Any) -> None:
    raise TimeoutError("the other programs did not get ready in time")


def _leave(path: Path, content: Any) -> None:
    """Writes a temporary file and renames it, so that a reader sees the complete content."""
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(content), encoding="utf-8")
    beside.rename(path)


def _be_prompt() -> None:
    """Raises the priority over ordinary programs: otherwise late answers would measure the machine."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def _outcome(work: Work) -> Any:
    try:
        return next(work)
    except OSError as error:
        return {"failed": str(error)}


def main() -> None:
    """Runs the task of this host, from the folder on the command line."""
    folder, me = Path(sys.argv[1]), os.environ["NETSPURT_HOST"]
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if tasks[me].get("prompt"):
        _be_prompt()
    work = PROGRAMS[tasks[me]["program"]](tasks[me])
    leads = me == next(iter(tasks))
    next(work)
    _say(folder / f"{me}.ready")
    with socket.create_server(("127.0.0.1", HERE_PORT)):
        if leads:
            signal.signal(signal.SIGALRM, _on_alarm)
            signal.alarm(TIME_LIMIT_S)
            for name in tasks:
                _wait_for(folder / f"{name}.ready")
            signal.alarm(0)
            lateness = LatenessMonitor() if tasks[me].get("prompt") else None
            _say(folder / "go")
        _wait_for(folder / f"{tasks[me]['after']}.done" if "after" in tasks[me] else folder / "go")
        _leave(folder / f"{me}.done.json", _outcome(work))
        _say(folder / f"{me}.done")
        if leads:
            for name in tasks:
                _wait_for(folder / f"{name}.done")
            if lateness is not None:
                _leave(folder / "machine.json", {"late_s": lateness.stop()})
            _say(folder / "over")
        # Servers and our hosts must continue, if only to acknowledge.
        _wait_for(folder / "over")
    work.close()


if __name__ == "__main__":
    main()
