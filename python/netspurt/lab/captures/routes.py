"""The requests about captures, and their answers.

================================= =========================================================================
``POST api/captures``             stores a dropped file (the body; ``?name=``), answers its key
``POST api/capture/read``         the connections, worst first (server-sent events with progress)
``POST api/capture/connection``   a connection as columns (``wire``)
``POST api/capture/fit``          the fitted path, as a scenario of the page (server-sent events)
``POST api/capture/remedies``     remedies simulated on it (server-sent events)
``GET  api/capture/report``       all of this as one file
================================= =========================================================================

A request names a capture as ``{"key": …}`` and, except for ``read``, a ``connection`` by its number.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from netspurt import _core
from netspurt.errors import RequestError
from netspurt.lab.captures import graph, work
from netspurt.lab.captures.box import LARGEST, Box, Item
from netspurt.lab.requests import body_of, page_to_save
from netspurt.lab.shelf import Book, Shelf
from netspurt.lab.simulated.runs import Runs
from netspurt.lab.watch.live import stream
from netspurt.lab.wire import pack
from netspurt.settings import overrides

if TYPE_CHECKING:
    from netspurt.fitting import Fit

LISTED = 200
"""The maximal number of connections in the list, the worst ones."""

COLUMNS = ("connection", "client", "server", "bytes", "duration_s", "lost_s", "limit", "sentence")


class Captures:
    """The routes of one lab."""

    def __init__(self, box: Box, shelf: Shelf, runs: Runs) -> None:
        self.box = box
        self._shelf = shelf
        self._runs = runs

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/api/captures", self._receive, methods=["POST"]),
            Route("/api/capture/read", self._events(self._read), methods=["POST"]),
            Route("/api/capture/connection", self._connection, methods=["POST"]),
            Route("/api/capture/fit", self._events(self._fit), methods=["POST"]),
            Route("/api/capture/remedies", self._events(self._remedies), methods=["POST"]),
            Route("/api/capture/report", self._report),
        ]

    async def _receive(self, request: Request) -> Response:
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > LARGEST:
            raise RequestError(f"a capture on the page must have a length of at most {LARGEST} bytes")
        item = await self.box.receive(request.query_params.get("name", ""), request.stream())
        return JSONResponse({"key": item.key, "name": item.name})

    def _events(self, of: Callable[[Item, dict[str, Any], work.Report], dict[str, Any]]) -> Any:
        """An endpoint that answers with the events of some work."""

        async def answer(request: Request) -> Response:
            body = await body_of(request)
            item = self.box.find(str(body.get("key")))

            def working(report: work.Report) -> dict[str, Any]:
                try:
                    return of(item, body, report)
                except _core.ScenarioError as error:
                    raise RequestError(" ".join(error.message.split())) from error
                except (RequestError, OSError, ValueError) as error:
                    raise RequestError(item.words(error)) from error

            return await stream(work.follow(self._runs.pool, self.box.ended, working))

        return answer

    def _read(self, item: Item, _body: dict[str, Any], report: work.Report) -> dict[str, Any]:
        from netspurt.diagnosing.diagnosis import collect
        from netspurt.diagnosing.reading import Reading

        if item.diagnosis is None:
            reading, size = Reading(item.path), item.path.stat().st_size
            item.diagnosis = collect(
                reading, lambda: report(min(reading.octets, size), size, "Reading the capture")
            )
        found = item.diagnosis
        rows = found.connections.head(LISTED).select(*COLUMNS).to_dicts()
        if not rows:
            raise RequestError(found.fault or f"{item.name} contains no connection that carried data")
        fault = found.fault and item.words(RequestError(found.fault))
        return {"name": item.name, "connections": rows, "of": found.connections.height, "fault": fault}

    async def _connection(self, request: Request) -> Response:
        body = await body_of(request)
        item = self.box.find(str(body.get("key")))
        whole = await self._in_thread(partial(_columns, item, _number(body.get("connection"))))
        return Response(whole, media_type="application/octet-stream")

    def _fit(self, item: Item, body: dict[str, Any], report: work.Report) -> dict[str, Any]:
        number = _number(body.get("connection"))
        key = f"fit/{item.key}/{number}"
        if number not in item.fits:
            item.fits[number] = _fitted(item, number, report)
            path = self.box.folder() / "path.toml"
            path.write_text(item.fits[number].text, encoding="utf-8")
            self._shelf.add(Book(key, "Fitted", f"Path of {Path(item.name).name}, {number}", path, path.name))
        found = item.fits[number]
        document = {**found.document(), "book": key, "flow": _flow(number)}
        fault = item.diagnosis.fault if item.diagnosis else None
        # The page says already that the file is damaged.
        said = [each for each in found.warnings if not fault or fault not in each]
        document["warnings"] = [item.words(RequestError(each)) for each in said]
        return document

    def _remedies(self, item: Item, body: dict[str, Any], report: work.Report) -> dict[str, Any]:
        from netspurt.remedies import what_if

        number = _number(body.get("connection"))
        if number not in item.fits:
            raise RequestError("the path of this connection is not fitted yet")
        if number not in item.remedies:
            item.remedies[number] = what_if(
                item.fits[number],
                flow=_flow(number),
                jobs=os.cpu_count(),
                report=lambda done, total, name: report(done, total, f"Simulating {name}"),
            )
        found = item.remedies[number]
        document = found.document()
        for each, shown in zip(found.remedies, document["remedies"], strict=True):
            # Settings move the sliders; a change of the network itself needs another text.
            changed = found.scenarios[each.name].merged()
            plain = not _differs(found.scenario, each.settings, changed)
            shown["settings"] = overrides(each.settings) if plain else None
            shown["text"] = None if plain else changed
            shown["helps"] = each.helps
        return document

    async def _report(self, request: Request) -> Response:
        item = self.box.find(request.query_params.get("key", ""))
        number = _number(request.query_params.get("connection"))
        text = await self._in_thread(partial(self._page, item, number))
        return page_to_save(text, f"{Path(item.name).name}-{number}.html")

    def _page(self, item: Item, number: int) -> bytes:
        from netspurt.lab.captures import report
        from netspurt.report.page import html

        if item.diagnosis is None:
            raise RequestError(f"{item.name} is not read yet")
        return html(report.page_of(item, item.diagnosis, number)).encode()

    async def _in_thread(self, call: Callable[[], bytes]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._runs.pool, call)


def _columns(item: Item, number: int) -> bytes:
    if item.diagnosis is None:
        raise RequestError(f"{item.name} is not read yet")
    try:
        return pack(*graph.graph(item.diagnosis, number))
    except (RequestError, ValueError) as error:
        raise RequestError(item.words(error)) from error


def _fitted(item: Item, number: int, report: work.Report) -> Fit:
    """The path of a connection, with those that share it: alone it would look slower than it is."""
    from netspurt.fitting import fit

    def advance(done: int, total: int) -> None:
        report(done, total, "Fitting the path")

    if item.diagnosis is not None and item.diagnosis.connections.height > 1:
        # The largest connection and those between the same hosts.
        with contextlib.suppress(RequestError):
            several = fit(item.path, advance=advance)
            if number in several.connections:
                return several
    return fit(item.path, connection=number, advance=advance)


def _flow(number: int) -> str:
    """The name of the flow of a connection in a fitted scenario."""
    return f"connection-{number}"


def _differs(scenario: Any, settings: Any, changed: str) -> bool:
    if not settings:
        return True
    try:
        return bool(scenario.set(settings).merged() != changed)
    except _core.ScenarioError:
        return True


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise RequestError("the request needs 'connection', the number of a connection")
    return int(value)
