"""The requests about simulated runs, and their answers.

==================== ==========================================================================================
``POST api/run``      a run as columns (``wire``), or the error in the scenario
``POST api/seeds``    the spread of a connection over several seeds as columns
``POST api/report``   ``{"sides": [request, …], "seeds": N}``: the report of one setting, or of two, as a file
==================== ==========================================================================================
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from netspurt.errors import RequestError
from netspurt.lab import controls
from netspurt.lab.requests import body_of, number_of, page_to_save, text_of
from netspurt.lab.shelf import Shelf
from netspurt.lab.simulated import pictures
from netspurt.lab.simulated.asked import Asked
from netspurt.lab.simulated.runs import Runs
from netspurt.lab.simulated.spread import RECORD, Spread
from netspurt.lab.wire import pack

MOST_SEEDS = 100
SEEDS_S = 30.0
"""The time limit for the runs of all seeds: the page shows those that are done."""

T = TypeVar("T")


class Simulations:
    """Answers about runs of the scenarios on a shelf."""

    def __init__(self, shelf: Shelf, runs: Runs) -> None:
        self._shelf = shelf
        self._runs = runs

    def routes(self) -> list[Route]:
        """The routes, with their paths on the page."""
        return [
            Route("/api/run", self._in_place(self._one), methods=["POST"]),
            Route("/api/seeds", self._in_place(self._seeds), methods=["POST"]),
            Route("/api/report", self._report, methods=["POST"]),
        ]

    def _in_place(self, answer: Callable[[Asked, dict[str, Any], Event], bytes]) -> Any:
        """An endpoint whose work ends when a newer request comes in the same place."""

        async def endpoint(request: Request) -> Response:
            body = await body_of(request)
            place = text_of(body, "place")
            unwanted = self._runs.enter(place)
            try:
                whole = await self._in_thread(partial(answer, Asked.of(self._shelf, body), body, unwanted))
            finally:
                self._runs.leave(place, unwanted)
            return Response(whole, media_type="application/octet-stream")

        return endpoint

    def _one(self, asked: Asked, _body: dict[str, Any], unwanted: Event) -> bytes:
        scenario = asked.scenario()
        merged = scenario.merged()
        run = self._runs.run(scenario, asked.seed, pictures.RECORD, unwanted)
        head, columns = pictures.pictures(run, asked.connection)
        head["values"] = controls.values(controls.read(merged))
        head["scenario"] = merged
        head["command"] = asked.command()
        return pack(head, columns)

    def _seeds(self, asked: Asked, body: dict[str, Any], unwanted: Event) -> bytes:
        scenario = asked.scenario()
        wanted = _seeds_of(body)
        spread = Spread(asked.connection)
        until = time.monotonic() + SEEDS_S
        for seed in range(asked.seed, asked.seed + wanted):
            if time.monotonic() > until:
                break
            spread.add(self._runs.run(scenario, seed, RECORD, unwanted))
        return pack(spread.head() | {"wanted": wanted}, spread.columns())

    async def _report(self, request: Request) -> Response:
        body = await body_of(request)
        sides = body.get("sides")
        if (
            not isinstance(sides, list)
            or len(sides) not in (1, 2)
            or not all(isinstance(each, dict) for each in sides)
        ):
            raise RequestError("the request needs 'sides', a list of one request of a run, or of two")
        asked = [Asked.of(self._shelf, side) for side in sides]
        text = await self._in_thread(partial(_page, asked, _seeds_of(body)))
        return page_to_save(text, f"{Path(asked[0].file()).stem}.html")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._runs.pool, work)


def _seeds_of(body: dict[str, Any]) -> int:
    return number_of(body, "seeds", 1, 1, MOST_SEEDS + 1)


def _page(asked: list[Asked], seeds: int) -> str:
    from netspurt.lab.simulated import report
    from netspurt.report.page import html

    return html(report.page_of(asked, seeds))
