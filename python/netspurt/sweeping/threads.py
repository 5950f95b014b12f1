"""The thread pool: threads with the shape of ``concurrent.futures.Executor`` that nobody has to wait for.

Lives here: the pool, and a loop over tasks on it. Must not live here: what a task is, or what is shown meanwhile.

The interpreter waits at exit for the threads of ``ThreadPoolExecutor``; these are daemons, so that Ctrl-C ends a sweep
at once, however long its simulations still have to go. Threads suffice: a simulation releases the interpreter lock.
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
"""How long the caller's thread sleeps at most before it sees a signal."""


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


def for_each(tasks: Iterable[T], work: Callable[[T], R], done: Callable[[T, R], None], jobs: int) -> bool:
    """Does ``work`` on every task, at most ``jobs`` at once, in the order given.

    Args:
        tasks: what to work on.
        work: called in other threads (in this one if ``jobs`` is 1).
        done: called in this thread with each task and its outcome, in order of completion.
        jobs: number of threads, at least 1.

    Returns:
        True if all was done, False if Ctrl-C cut it short; what was done by then has been reported.

    Raises:
        Exception: the first that ``work`` raised; tasks not yet begun are dropped.
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
