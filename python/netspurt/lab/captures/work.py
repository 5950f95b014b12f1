"""Work in a thread, with its progress as events for the page.

Lives here: the bridge between a thread and an event stream. Must not live here: the work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor
from typing import Any

from netspurt.lab.simulated.runs import SupersededError

Event = tuple[str, Any]

Report = Callable[[int, int, str], None]
"""Receives how much is done, how much there is, and words for it; raises if the result is no longer needed."""


async def follow(
    pool: Executor, ended: threading.Event, work: Callable[[Report], dict[str, Any]]
) -> AsyncGenerator[Event]:
    """Events of some work: ``progress`` (``done``, ``total``, ``words``), and ``result`` (what it returns).

    Args:
        pool: where the work is done.
        ended: set when the lab ends.
        work: stops with the first report after the page has closed.

    Raises:
        RequestError: the work raised it.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    unwanted = threading.Event()

    def report(done: int, total: int, words: str = "") -> None:
        if unwanted.is_set() or ended.is_set():
            raise SupersededError
        event = ("progress", {"done": done, "total": total, "words": words})
        loop.call_soon_threadsafe(events.put_nowait, event)

    future = loop.run_in_executor(pool, work, report)
    future.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield "result", future.result()
    finally:
        unwanted.set()
        # Work whose result is no longer needed may fail.
        future.add_done_callback(lambda each: each.cancelled() or each.exception())
