"""An emulation on the page: ``netspurt emulate`` in a separate process.

The capture of the first host goes into a pipe instead of a file and gives the traffic. The table follows at the
end, as on a terminal.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from netspurt import _core
from netspurt.errors import RequestError
from netspurt.lab.watch.packets import Rates

LONGEST_LINE = 1 << 16


async def follow(request: dict[str, Any], scenario: _core.Scenario) -> AsyncGenerator[tuple[str, Any]]:
    """Runs a command on the scenario's first host, and a server on its last, until it ends or the page closes.

    Events: ``began`` (``command``, ``hosts``), ``line`` (``text``), ``traffic`` (``time_s`` since the
    start, ``in_bps`` and ``out_bps`` at the first host), ``table`` (as ``emulate --json`` prints it), ``ended``
    (``status``).

    Args:
        request: ``command`` and ``server``, each a line as a user types it.
        scenario: the network between them.

    Raises:
        RequestError: the command is missing.
    """
    words = _words(request, "command")
    if not words:
        raise RequestError(
            "the command for the first host is missing; an example is: curl -sO http://server/"
        )
    server = str(request.get("server") or "").strip()
    hosts = scenario.hosts()
    with tempfile.TemporaryDirectory(prefix="netspurt-lab-") as folder:
        file, pipe = Path(folder, "scenario.toml"), Path(folder, "packets")
        file.write_text(scenario.merged(), encoding="utf-8")
        os.mkfifo(pipe)
        given = ["--server", server] if server else []
        shown = shlex.join(["netspurt", "emulate", "scenario.toml", *given, "--", *words])
        whole = ["emulate", str(file), *given, "--json", "--capture", f"{hosts[0]}={pipe}", "--", *words]
        # Opened before the emulator opens it: otherwise the emulator would wait for a reader.
        descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "netspurt", *whole),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue(1000)
        ended = asyncio.create_task(process.wait())
        work = [
            asyncio.create_task(_table(process.stdout, events)),
            asyncio.create_task(_lines(process.stderr, events)),
            asyncio.create_task(_traffic(descriptor, events, ended)),
        ]
        try:
            yield "began", {"command": shown, "hosts": hosts}
            while not (ended.done() and all(task.done() for task in work) and events.empty()):
                with contextlib.suppress(TimeoutError):
                    yield await asyncio.wait_for(events.get(), 0.1)
            yield "ended", {"status": ended.result()}
        finally:
            for task in work:
                task.cancel()
            os.close(descriptor)
            await _end(process)


def _words(request: dict[str, Any], key: str) -> list[str]:
    text = str(request.get(key) or "")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise RequestError(f"'{text}' cannot be split into words: {str(error).lower()}") from None


async def _lines(stream: asyncio.StreamReader | None, events: asyncio.Queue[tuple[str, Any]]) -> None:
    assert stream is not None
    while octets := await stream.read(LONGEST_LINE):
        await events.put(("line", {"text": octets.decode("utf-8", "replace")}))


async def _table(stream: asyncio.StreamReader | None, events: asyncio.Queue[tuple[str, Any]]) -> None:
    """Sends the table of the emulation."""
    assert stream is not None
    # Empty if the emulation failed; standard error says why.
    if document := await stream.read():
        await events.put(("table", json.loads(document)))


async def _traffic(descriptor: int, events: asyncio.Queue[tuple[str, Any]], ended: asyncio.Task[int]) -> None:
    """Sends rates until the emulation has ended and the pipe is empty."""
    packets, rates = _core.Packets(), Rates()
    over = False
    while not over:
        was_over = ended.done()
        try:
            octets = os.read(descriptor, 1 << 20)
        except BlockingIOError:
            octets = b""
        # After the end, the pipe contains all remaining data.
        over = was_over and not octets
        for at_ns, length, inbound, _ in packets.feed(octets):
            rates.add(at_ns, length, inbound)
        if (traffic := rates.take(over=over)) is not None:
            await events.put(("traffic", traffic))
        await asyncio.sleep(0 if octets else 0.02)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends the process like Ctrl-C, and kills it if that does not help."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(process.wait(), 3)
        except TimeoutError:
            process.kill()
