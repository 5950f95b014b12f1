"""How late the machine wakes programs up: the limit of what an emulation can measure.

Lives here: the measurement of lateness. Must not live here: programs.
"""

from __future__ import annotations

import os
import threading
import time

SENTRY_S = 0.001
BEGINNING_S = 0.1
"""All programs start at once, and the creation of a device occupies a processor for some milliseconds."""


class LatenessMonitor:
    """One thread per processor wakes up every millisecond and records its lateness, with this program's priority.

    Whatever delays these threads also delays answers, and the run then measures the machine. The scheduler may move
    the threads between processors, as it may move programs: a thread bound to the emulator's processor would only
    measure that one.
    """

    def __init__(self) -> None:
        self.over = threading.Event()
        self.worst_s = 0.0
        self.threads = [threading.Thread(target=self._watch) for _ in os.sched_getaffinity(0)]
        for thread in self.threads:
            thread.start()

    def _watch(self) -> None:
        time.sleep(BEGINNING_S)
        while not self.over.is_set():
            wanted = time.monotonic() + SENTRY_S
            time.sleep(SENTRY_S)
            self.worst_s = max(self.worst_s, time.monotonic() - wanted)

    def stop(self) -> float:
        """Ends the threads; returns the largest lateness in seconds."""
        self.over.set()
        for thread in self.threads:
            thread.join()
        return self.worst_s
