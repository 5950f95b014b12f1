"""Ending in good order what would go on for ever.

Lives here: Ctrl-C and SIGTERM as something to ask for. Must not live here: what is to be ended.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def asked_to_end() -> Iterator[threading.Event]:
    """Whether Ctrl-C or SIGTERM has requested the end. Output that is being written is completed.

    The second time it is broken off.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
