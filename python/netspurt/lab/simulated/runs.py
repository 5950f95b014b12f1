"""Runs of which only the newest is needed.

While a user drags a slider, requests arrive faster than long runs end. Each request has a *place* (a page and one of
its two sides); a newer request in the same place ends the older one, waiting or running.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from netspurt import _core
from netspurt.errors import RequestError

T = TypeVar("T")

LONGEST_S = 10.0
"""The time limit of a run: an interactive user does not wait longer, and a page cannot hold longer recordings."""


class SupersededError(Exception):
    """A newer request replaced this one."""


class Runs:
    """A few threads, and in each place at most one run that is still needed."""

    def __init__(self, threads: int = 4, longest_s: float = LONGEST_S) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="lab")
        self._longest_s = longest_s
        self._newest: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def enter(self, place: str) -> threading.Event:
        """Registers a new request in this place. Returns an event that is set when the run is no longer needed."""
        unwanted = threading.Event()
        with self._lock:
            older = self._newest.get(place)
            self._newest[place] = unwanted
        if older is not None:
            older.set()
        return unwanted

    def leave(self, place: str, unwanted: threading.Event) -> None:
        """Ends a request that is answered, or whose page has closed."""
        unwanted.set()
        with self._lock:
            if self._newest.get(place) is unwanted:
                del self._newest[place]

    def run(
        self, scenario: _core.Scenario, seed: int, record: Sequence[str], unwanted: threading.Event
    ) -> _core.Run:
        """Simulates until the run ends or is no longer needed.

        Raises:
            SupersededError: the run is no longer needed.
            RequestError: the run takes too long for a page.
        """
        until = time.monotonic() + self._longest_s
        if unwanted.is_set():
            raise SupersededError
        return scenario.run(seed, list(record), watch=self._watch(unwanted, until))

    def _watch(self, unwanted: threading.Event, until: float) -> Callable[[float, float], None]:
        def watch(_now_s: float, _end_s: float) -> None:
            if unwanted.is_set():
                raise SupersededError
            if time.monotonic() > until:
                raise RequestError(
                    f"this run takes longer than {self._longest_s:g} s, too long for a page: shorten 'duration', send "
                    "less, or copy the command line and run it there"
                )

        return watch

    def close(self) -> None:
        """Ends all running simulations."""
        with self._lock:
            for unwanted in self._newest.values():
                unwanted.set()
        self.pool.shutdown(wait=False, cancel_futures=True)
