"""A process started elsewhere, followed by its growing file: of ``ping --out``, or a capture of ``emulate``.

Lives here: the new content of a growing file. Must not live here: the analysis of packets or RTTs.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import _core
from netspurt.errors import RequestError
from netspurt.inputs.kind import Kind, kind_of
from netspurt.lab.watch.packets import Rates
from netspurt.probing.prober import SCHEMA, Host
from netspurt.probing.sums import HostSums

if TYPE_CHECKING:
    import polars as pl

LOOK_S = 0.25
"""Seconds between checks for new content."""

AT_ONCE = 1 << 20

SECTION = b"\x0a\x0d\x0d\x0a"
"""The first bytes of a pcapng file."""


async def follow(request: dict[str, Any]) -> AsyncGenerator[tuple[str, Any]]:
    """Sends the content of a file, and new content as it is written, until the page closes.

    Events: ``began`` (``command``: one that writes such a file; ``kind``: "ping" or "traffic"), then ``rows`` as in
    ``probing``, or ``traffic`` as in ``emulating``.

    Args:
        request: ``file``, a path as a user types it.

    Raises:
        RequestError: the file does not exist, or has a format that cannot be followed.
    """
    path = Path(str(request.get("file") or "").strip()).expanduser()
    if not path.is_file():
        raise RequestError(
            f"there is no file {path}: give one that 'netspurt ping HOST --out FILE.parquet' or 'netspurt emulate "
            "SCENARIO --capture HOST=FILE.pcapng' writes"
        )
    events = _probe(path) if kind_of(path) in (Kind.PARQUET, Kind.TRACE) else _capture(path)
    async for event in events:
        yield event


async def _probe(path: Path) -> AsyncGenerator[tuple[str, Any]]:
    sums: dict[tuple[str, str], HostSums] = {}
    seen, stamp = 0, -1
    command = shlex.join(["netspurt", "ping", "HOST", "--out", str(path)])
    new = await asyncio.to_thread(_rows, path, seen)
    yield "began", {"command": command, "kind": "ping"}
    while True:
        if new.height:
            seen += new.height
            for (name, address), part in new.group_by(["host", "address"], maintain_order=True):
                who = (str(name), str(address))
                sums.setdefault(who, HostSums(Host(*who, place=str(address)))).add(part)
            columns = {name: new[name].to_list() for name in ("time_s", "host", "event", "rtt_ms")}
            yield "rows", columns | {"hosts": [each.summary() for each in sums.values()]}
        while (now := _stamp(path)) == stamp:
            await asyncio.sleep(LOOK_S)
        stamp = now
        new = await asyncio.to_thread(_rows, path, seen)


def _stamp(path: Path) -> int:
    """A number that changes with any piece of the file."""
    return sum(piece.stat().st_mtime_ns for piece in _pieces(path))


def _pieces(path: Path) -> list[Path]:
    """The file, and the pieces that ``GrowingParquet`` has written beside it."""
    pieces = [path]
    while (piece := path.with_suffix(f".{len(pieces) + 1}.parquet")).is_file():
        pieces.append(piece)
    return pieces


def _rows(path: Path, seen: int) -> pl.DataFrame:
    """The rows after the first ``seen``."""
    import polars as pl

    try:
        return pl.scan_parquet(_pieces(path)).select(list(SCHEMA)).slice(seen).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RequestError(f"{path} is not a file of 'netspurt ping --out'") from error


async def _capture(path: Path) -> AsyncGenerator[tuple[str, Any]]:
    packets, rates = _core.Packets(), Rates()
    with path.open("rb", buffering=0) as file:
        if file.read(len(SECTION)) != SECTION:
            raise RequestError(
                f"{path} is neither a Parquet file of 'netspurt ping --out' nor a capture in pcapng: the lab follows "
                "only these"
            )
        file.seek(0)
        command = shlex.join(
            ["netspurt", "emulate", "SCENARIO.toml", "--capture", f"HOST={path}", "--", "COMMAND"]
        )
        yield "began", {"command": command, "kind": "traffic"}
        while True:
            octets = file.read(AT_ONCE)
            if octets:
                try:
                    complete = packets.feed(octets)
                except _core.CaptureError as error:
                    raise RequestError(f"cannot follow {path}: {error}") from error
                for at_ns, length, inbound, _ in complete:
                    rates.add(at_ns, length, inbound)
                await asyncio.sleep(0)
            else:
                if (traffic := rates.take(over=True)) is not None:
                    yield "traffic", traffic
                await asyncio.sleep(LOOK_S)
                if os.fstat(file.fileno()).st_size < file.tell():
                    raise RequestError(f"{path} was replaced by a new file: follow it again")
