"""A prober on the page, as in ``netspurt ping``, and the equivalent command line."""

from __future__ import annotations

import asyncio
import secrets
import shlex
from argparse import ArgumentTypeError
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from netspurt.errors import RequestError
from netspurt.files.growing import GrowingParquet
from netspurt.inputs import typed
from netspurt.probing.loop import Loop, bounded
from netspurt.probing.prober import SCHEMA, Probing, resolve_all

T = TypeVar("T")

BATCH_S = 0.1
"""Seconds of rows in one event."""

MOST_HOSTS = 16


async def follow(request: dict[str, Any]) -> AsyncGenerator[tuple[str, Any]]:
    """Probes until the prober ends or the page closes.

    Events: ``began`` (``command``, ``complaints``), ``rows`` (lists of ``time_s``, ``host``, ``event``, ``rtt_ms``, and
    ``hosts``, the sums so far), ``ended``.

    Args:
        request: ``hosts`` (names separated by spaces), ``interval``, ``length``, ``count`` and ``out`` as a user types
            them; all but the first may be empty.

    Raises:
        RequestError: no host can be probed, a value is invalid, or the file cannot be written.
    """
    names = str(request.get("hosts", "")).split()
    if not 1 <= len(names) <= MOST_HOSTS:
        raise RequestError(f"give one to {MOST_HOSTS} hosts, separated by spaces")
    words = {key: str(request.get(key) or "").strip() for key in ("interval", "length", "count", "out")}
    pace = _read("interval", typed.pace, words["interval"] or "1s")
    lengths = _read("length", typed.lengths, words["length"] or "84")
    count = _read("count", typed.positive, words["count"]) if words["count"] else None
    hosts, complaints = await asyncio.to_thread(resolve_all, names)
    with ExitStack() as stack:
        file = stack.enter_context(GrowingParquet(Path(words["out"]), SCHEMA)) if words["out"] else None
        probing = Probing(
            hosts,
            lengths,  # type: ignore[arg-type]  # options are plain text and lists
            bounded(pace, "gentle"),  # type: ignore[arg-type]
            count=count,
            lost_after_s=3.0,
            seed=secrets.randbits(63),
        )
        stack.enter_context(probing)
        loop = Loop(probing, file)
        complaints += loop.complaints
        yield "began", {"command": _command(names, words), "complaints": complaints}
        going = True
        while going:
            going = await asyncio.to_thread(loop.wait, BATCH_S)
            rows = loop.take()
            columns = {name: rows[name].to_list() for name in ("time_s", "host", "event", "rtt_ms")}
            yield "rows", columns | {"hosts": [each.summary() for each in loop.sums.hosts]}
        yield "ended", {}


def _read(name: str, read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except ArgumentTypeError as error:
        raise RequestError(f"{name}: {error}") from error


def _command(names: list[str], words: dict[str, str]) -> str:
    given = [part for key, text in words.items() if text for part in (f"--{key}", text)]
    return shlex.join(["netspurt", "ping", *names, *given, "--timeout", "3s"])
