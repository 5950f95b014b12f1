"""Ending in good order what would go on for ever.

Lives here: Ctrl-C and SIGTERM as something to ask for. Must not live here: what is to be ended.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType


class Request:
    """Whether the end has been requested.

    A handler of signals runs between any two steps of the main thread. It must not wait for a lock that the main
    thread may hold, as ``threading.Event`` would.
    """

    def __init__(self) -> None:
        self._made = False
        self._reader, self._writer = socket.socketpair()

    def is_set(self) -> bool:
        """Whether it has."""
        return self._made

    def set(self) -> None:
        """Requests the end, and wakes who waits for that."""
        if not self._made:
            self._made = True
            self._writer.send(b"\0")

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the request, at most so many seconds; returns whether it was made."""
        self._reader.settimeout(None if timeout is None else max(timeout, 0.0))
        with contextlib.suppress(TimeoutError, BlockingIOError):
            self._reader.recv(1, socket.MSG_PEEK)
        return self._made

    def close(self) -> None:
        """Afterwards nobody can wait for it; whether it was made remains known."""
        self._reader.close()
        self._writer.close()


@contextlib.contextmanager
def asked_to_end() -> Iterator[Request]:
    """Whether Ctrl-C or SIGTERM has requested the end. Output that is being written is completed.

    The second time it is broken off.
    """
    with contextlib.closing(Request()) as asked:
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
