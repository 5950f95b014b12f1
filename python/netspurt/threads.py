"""The thread pool: threads with the interface of ``concurrent.futures.Executor`` that do not delay the exit.

Lives here: the pool, and a loop over tasks on it. Must not live here: the meaning of a task, or progress display.

At exit, the interpreter waits for the threads of ``ThreadPoolExecutor``. These threads are daemons, so Ctrl-C ends a
sweep at once, even during long simulations. Threads suffice: a simulation releases the interpreter lock.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_Item = tuple["Future[Any]", Callable[[], Any]]

_POLL_S = 0.2
"""The longest sleep of the caller's thread in seconds between checks for signals."""


class Threads(Executor):
    """A pool of daemon threads; ``shutdown(wait=False, cancel_futures=True)`` abandons running calls."""

    def __init__(self, count: int) -> None:
        self._items: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Submits a call to the threads."""
        future: Future[R] = Future()
        self._items.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads after all submitted calls; with ``cancel_futures``, after the running calls."""
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


def for_each(tasks: Iterable[T], work: Callable[[T], R], done: Callable[[T, R], None], jobs: int) -> bool:
    """Calls ``work`` on every task, at most ``jobs`` at once, in the given order.

    Args:
        tasks: the tasks.
        work: called in other threads (in this one if ``jobs`` is 1).
        done: called in this thread with each task and its outcome, in order of completion.
        jobs: number of threads, at least 1.

    Returns:
        True if all tasks are done, False after Ctrl-C; ``done`` was called for each completed task.

    Raises:
        Exception: the first exception of ``work``; waiting tasks are dropped.
    """
    listed = list(tasks)
    try:
        if jobs <= 1:
            for task in listed:
                done(task, work(task))
        else:
            _on_threads(listed, work, done, jobs)
    except KeyboardInterrupt:
        return False
    return True


def _on_threads(tasks: list[T], work: Callable[[T], R], done: Callable[[T, R], None], jobs: int) -> None:
    back: queue.SimpleQueue[tuple[T, Future[R]]] = queue.SimpleQueue()
    pool = Threads(min(jobs, len(tasks)))

    def ended(task: T, future: Future[R]) -> None:
        back.put((task, future))
        if not future.cancelled() and future.exception() is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    try:
        for task in tasks:
            pool.submit(work, task).add_done_callback(partial(ended, task))
        for _ in tasks:
            task, future = _next(back)
            done(task, future.result())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _next(back: queue.SimpleQueue[tuple[T, Future[R]]]) -> tuple[T, Future[R]]:
    while True:
        try:
            return back.get(timeout=_POLL_S)
        except queue.Empty:
            continue
