"""The requests of the page, and their answers.

========================== ==================================================================================
``GET  api/shelf``         the scenarios, texts for reasons, the version
``POST api/scenario``      text and controls of a scenario
``POST api/run``           a run: see ``simulated.routes``, also for ``api/seeds`` and ``api/report``
``POST api/ping``          results of a prober as they arrive (server-sent events)
``POST api/follow``        the content of a growing file (server-sent events)
``POST api/emulate``       an emulation's lines and its table (server-sent events)
``*    api/capture*``     captures: see ``captures.routes``
========================== ==================================================================================

A request names a scenario as ``{"key": …}``: see ``simulated.asked``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from netspurt import _core, version
from netspurt.errors import RequestError
from netspurt.lab import controls
from netspurt.lab.captures.box import Box
from netspurt.lab.captures.routes import Captures
from netspurt.lab.guard import Guard
from netspurt.lab.requests import body_of
from netspurt.lab.shelf import Shelf
from netspurt.lab.simulated import reasons, verdict
from netspurt.lab.simulated.asked import Asked
from netspurt.lab.simulated.routes import Simulations
from netspurt.lab.simulated.runs import Runs, SupersededError
from netspurt.lab.watch import live

PAGE = Path(__file__).parent / "page"
VENDOR = Path(__file__).parents[1] / "vendor" / "uplot"


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
            *Simulations(shelf, self.runs).routes(),
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
        return Asked.of(self.shelf, body).scenario()

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
        asked = Asked.of(self.shelf, await body_of(request))
        book = asked.book
        text = book.text() if asked.text is None else asked.text
        try:
            read = replace(asked, text=text).scenario()
            scenario = controls.read(read.merged())
        except _core.ScenarioError as error:
            # The user has to correct its text.
            return JSONResponse({"text": text, "file": book.shown(), "error": _error_of(error)})
        answer = {"text": text, "file": book.shown(), "hosts": read.hosts()}
        return JSONResponse(
            answer | {"groups": controls.groups(scenario), "values": controls.values(scenario)}
        )


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
