"""Threads with the shape of ``concurrent.futures.Executor`` that nobody has to wait for.

Lives here: the executor that a sweep uses when none is named. Must not live here: what a sweep is.

The interpreter waits at exit for the threads of ``ThreadPoolExecutor``; these are daemons, so that Ctrl-C ends a sweep
at once, however long its simulations still have to go. Threads suffice: a simulation releases the interpreter lock.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_Item = tuple["Future[Any]", Callable[[], Any]]


class Threads(Executor):
    """So many daemon threads; ``shutdown(wait=False, cancel_futures=True)`` leaves them to themselves."""

    def __init__(self, count: int) -> None:
        self._items: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Has a call made in one of the threads."""
        future: Future[R] = Future()
        self._items.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads when they have done what was submitted; with ``cancel_futures``, what they have begun."""
        while cancel_futures:
            try:
                item = self._items.get_nowait()
            except queue.Empty:
                break
            if item is not None:
                item[0].cancel()
        for _ in self._threads:
            self._items.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        while (item := self._items.get()) is not None:
            future, call = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = call()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
