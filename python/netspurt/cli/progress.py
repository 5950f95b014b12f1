"""Progress on standard error: a bar on a terminal, elsewhere a line every 10 seconds.

Lives here: progress. Must not live here: results, which go to standard output.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

BAR_EVERY_S, LINE_EVERY_S = 0.1, 10.0

LATE_S = 1.0
"""A single run shows progress after this time."""

quiet = False
"""Whether ``-q`` is given: no progress then."""


class Gauge:
    """How far long work has come, with the time left: a bar on a terminal, elsewhere a line now and then.

    Used as a context. ``show`` may be called as often as one likes: most calls cost nothing.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None
        self._task: Any = None
        self._shown = self._began = time.monotonic()
        self._first: int | None = None

    def __enter__(self) -> Gauge:
        if sys.stderr.isatty() and not quiet:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("[dim]{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
                speed_estimate_period=60,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=None, note="")
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, total: int, note: str = "") -> None:
        """Reports that ``done`` of ``total`` are done; ``note`` is further text."""
        if quiet:
            return
        now = time.monotonic()
        if self._first is None:
            self._first = done
        if now - self._shown < (LINE_EVERY_S if self._bar is None else BAR_EVERY_S):
            return
        self._shown = now
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, note=note)
            return
        pace = (done - self._first) / (now - self._began)
        left = f", {duration((total - done) / pace)} left" if pace > 0 else ""
        print(f"{self._title}: {done} of {total}{left}{f' ({note})' if note else ''}", file=sys.stderr)


def duration(seconds: float) -> str:
    """A span of time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def simulated_time(title: str) -> Iterator[Callable[[float, float], None]]:
    """Yields the watch of a run: after a second it shows how much of the simulated time is over."""
    began = time.monotonic()
    with ExitStack() as shown:
        gauge: Gauge | None = None

        def watch(now_s: float, end_s: float) -> None:
            nonlocal gauge
            if gauge is None and time.monotonic() - began > LATE_S:
                gauge = shown.enter_context(Gauge(title))
            if gauge is not None:
                gauge.show(round(now_s), round(end_s), "seconds simulated; it ends earlier if all flows do")

        yield watch


@contextmanager
def progress(total: int, title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that counts one more piece of work as done and names it; any thread may call it."""
    done, lock = 0, threading.Lock()
    with Gauge(title) as gauge:

        def advance(label: str) -> None:
            nonlocal done
            with lock:
                done += 1
                gauge.show(done, total, label)

        if total:
            gauge.show(0, total)
        yield advance
