"""Many simulations on several cores, with an end that Ctrl-C can bring about at any time.

Lives here: a small pool of threads. Must not live here: what a task is, or what is shown meanwhile.

Threads suffice, because a simulation releases the interpreter lock. They are daemons and not those of
``concurrent.futures``, which the interpreter waits for at exit: a long simulation in another thread cannot
see Ctrl-C, and the user should not have to wait for its end.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Outcome: TypeAlias = "tuple[T, R | None, BaseException | None]"

_POLL_S = 0.2
"""How long the main thread sleeps at most before it looks whether a signal came in."""


def for_each(
    tasks: Iterable[T],
    work: Callable[[T], R],
    done: Callable[[T, R], None],
    jobs: int,
) -> bool:
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
    if jobs <= 1:
        return _one_by_one(tasks, work, done)
    waiting = list(reversed(list(tasks)))
    total = len(waiting)
    outcomes: queue.SimpleQueue[Outcome[T, R]] = queue.SimpleQueue()
    lock = threading.Lock()

    def worker() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                task = waiting.pop()
            try:
                outcomes.put((task, work(task), None))
            except BaseException as error:
                with lock:
                    waiting.clear()
                outcomes.put((task, None, error))
                return

    for _ in range(min(jobs, total)):
        threading.Thread(target=worker, daemon=True).start()
    try:
        for _ in range(total):
            task, value, error = _next(outcomes)
            if error is not None:
                raise error
            done(task, value)  # type: ignore[arg-type]  # no error, so there is a value
    except KeyboardInterrupt:
        return False
    finally:
        with lock:
            waiting.clear()
    return True


def _one_by_one(tasks: Iterable[T], work: Callable[[T], R], done: Callable[[T, R], None]) -> bool:
    try:
        for task in tasks:
            done(task, work(task))
    except KeyboardInterrupt:
        return False
    return True


def _next(outcomes: queue.SimpleQueue[Outcome[T, R]]) -> Outcome[T, R]:
    while True:
        try:
            return outcomes.get(timeout=_POLL_S)
        except queue.Empty:
            continue
