"""A prober that the page watches: the one of ``netspurt ping``, and the command line that does the same."""

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
"""Seconds of rows that the page gets together."""

MOST_HOSTS = 16


async def follow(asked: dict[str, Any]) -> AsyncGenerator[tuple[str, Any]]:
    """Probes until it is over or the page has gone.

    Events: ``began`` (``command``, ``complaints``), ``rows`` (lists of ``time_s``, ``host``, ``event``, ``rtt_ms``, and
    ``hosts``, the sums so far), ``ended``.

    Args:
        asked: ``hosts`` (names with spaces between), ``interval``, ``length``, ``count`` and ``out`` as a user types
            them; all but the first may be empty.

    Raises:
        RequestError: nobody can be probed, or not so; or the file cannot be written.
    """
    names = str(asked.get("hosts", "")).split()
    if not 1 <= len(names) <= MOST_HOSTS:
        raise RequestError(f"name one host or up to {MOST_HOSTS}, with spaces between")
    words = {key: str(asked.get(key) or "").strip() for key in ("interval", "length", "count", "out")}
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
            told = {name: rows[name].to_list() for name in ("time_s", "host", "event", "rtt_ms")}
            yield "rows", told | {"hosts": [each.summary() for each in loop.sums.hosts]}
        yield "ended", {}


def _read(name: str, read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except ArgumentTypeError as error:
        raise RequestError(f"{name}: {error}") from error


def _command(names: list[str], words: dict[str, str]) -> str:
    given = [part for key, text in words.items() if text for part in (f"--{key}", text)]
    return shlex.join(["netspurt", "ping", *names, *given, "--timeout", "3s"])
