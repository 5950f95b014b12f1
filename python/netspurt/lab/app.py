"""The requests of the page, and their answers.

========================== ==================================================================================
``GET  api/shelf``         the scenarios, texts for reasons, the version
``POST api/scenario``      text and controls of a scenario
``POST api/run``           a run as columns (``wire``), or the error in the scenario
``POST api/ping``          results of a prober as they arrive (server-sent events)
``POST api/follow``        the content of a growing file (server-sent events)
``POST api/emulate``       an emulation's lines and its table (server-sent events)
``*    api/capture*``     captures: see ``captures.routes``
========================== ==================================================================================

A request names a scenario as ``{"key": …}``, with ``text`` if it was edited on the page and ``settings``, pairs of path
and value.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from netspurt import _core, version
from netspurt.errors import RequestError
from netspurt.lab import controls, pictures, reasons, verdict
from netspurt.lab.captures.box import Box
from netspurt.lab.captures.routes import Captures
from netspurt.lab.guard import Guard
from netspurt.lab.runs import Runs, SupersededError
from netspurt.lab.shelf import Shelf
from netspurt.lab.watch import live
from netspurt.lab.wire import pack

PAGE = Path(__file__).parent / "page"
VENDOR = Path(__file__).parents[1] / "vendor" / "uplot"

LARGEST_REQUEST = 4 << 20

T = TypeVar("T")


class Lab:
    """The application of one ``netspurt lab``: its shelf, its captures, its runs, and its routes."""

    def __init__(self, shelf: Shelf, token: str, box: Box | None = None) -> None:
        self.shelf = shelf
        self.runs = Runs()
        self.box = box or Box()
        routes = [
            Route("/", lambda _request: FileResponse(PAGE / "index.html")),
            Route("/api/shelf", self._shelf),
            Route("/api/scenario", self._scenario, methods=["POST"]),
            Route("/api/run", self._run, methods=["POST"]),
            *live.routes(self.scenario),
            *Captures(self.box, shelf, self.runs).routes(),
            Mount("/page", StaticFiles(directory=PAGE)),
            Mount("/vendor", StaticFiles(directory=VENDOR)),
        ]
        inner = Starlette(
            routes=routes,
            exception_handlers={
                RequestError: _wrong,
                _core.ScenarioError: _wrong_scenario,
                SupersededError: _superseded,
            },
        )
        self.app = Guard(inner, token)

    def scenario(self, body: dict[str, Any]) -> _core.Scenario:
        """The scenario of a request.

        Raises:
            RequestError: unknown file, or invalid request.
            ScenarioError: the scenario is invalid.
        """
        book = self.shelf.find(_text(body, "key"))
        text = body.get("text")
        settings = body.get("settings", [])
        if not isinstance(settings, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, str) for each in pair)
            for pair in settings
        ):
            raise RequestError("'settings' must be a list of pairs of text: path and value")
        # Relative file names in a scenario refer to its folder, so an edited scenario keeps its path.
        return _core.Scenario.parse(
            book.text() if text is None else _text(body, "text"),
            str(book.path),
            [(path, value) for path, value in settings],
        )

    async def _shelf(self, _request: Request) -> Response:
        books = [{"key": book.key, "group": book.group, "name": book.name} for book in self.shelf.books]
        captures = [{"key": item.key, "name": item.name} for item in self.box.items]
        about = {
            "books": books,
            "captures": captures,
            "reasons": reasons.described(),
            "limits": verdict.described(),
        }
        return JSONResponse(about | {"version": version.full()})

    async def _scenario(self, request: Request) -> Response:
        body = await _body_of(request)
        book = self.shelf.find(_text(body, "key"))
        text = book.text() if body.get("text") is None else _text(body, "text")
        try:
            read = self.scenario(body | {"text": text})
            scenario = controls.read(read.merged())
        except _core.ScenarioError as error:
            # The user has to correct its text.
            return JSONResponse({"text": text, "file": book.shown(), "error": _error_of(error)})
        answer = {"text": text, "file": book.shown(), "hosts": read.hosts()}
        return JSONResponse(
            answer | {"groups": controls.groups(scenario), "values": controls.values(scenario)}
        )

    async def _run(self, request: Request) -> Response:
        body = await _body_of(request)
        place = _text(body, "place")
        unwanted = self.runs.enter(place)
        try:
            whole = await self._in_thread(partial(self._answer, body, unwanted))
        finally:
            self.runs.leave(place, unwanted)
        return Response(whole, media_type="application/octet-stream")

    def _answer(self, body: dict[str, Any], unwanted: Any) -> bytes:
        scenario = self.scenario(body)
        merged = scenario.merged()
        seed = body.get("seed", 1)
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 1 << 64:
            raise RequestError(f"'{seed}' is not a valid seed: it must be a whole number from 0 to 2^64 - 1")
        run = self.runs.run(scenario, seed, pictures.RECORD, unwanted)
        wanted = body.get("connection")
        head, columns = pictures.pictures(run, tuple(wanted) if wanted else None)
        head["values"] = controls.values(controls.read(merged))
        head["scenario"] = merged
        head["command"] = self._command(body, seed)
        return pack(head, columns)

    def _command(self, body: dict[str, Any], seed: int) -> str:
        """The equivalent command line; for an edited scenario, after it is saved."""
        book = self.shelf.find(_text(body, "key"))
        words = ["netspurt", "run"]
        words += (book.options or [book.shown()]) if body.get("text") is None else ["scenario.toml"]
        for path, value in body.get("settings", []):
            words += ["--set", f"{path}={value}"]
        if seed != 1:
            words += ["--seed", str(seed)]
        return shlex.join(words)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.runs.pool, work)


async def _body_of(request: Request) -> dict[str, Any]:
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > LARGEST_REQUEST:
        raise RequestError(f"a request must have a length of at most {LARGEST_REQUEST} bytes")
    try:
        body = await request.json()
    except ValueError as error:
        raise RequestError(f"the request is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise RequestError("the request is not a JSON object")
    return body


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise RequestError(f"the request needs '{key}', which must be text")
    return value


def _error_of(error: _core.ScenarioError) -> dict[str, Any]:
    return {
        "message": " ".join(error.message.split()),
        "line": error.line,
        "column": error.column,
        "path": error.path,
    }


async def _wrong(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": {"message": str(error)}}, 400)


async def _wrong_scenario(_request: Request, error: Exception) -> Response:
    assert isinstance(error, _core.ScenarioError)
    return JSONResponse({"error": _error_of(error)}, 422)


async def _superseded(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"error": {"message": "a newer request replaced this one"}}, 409)
