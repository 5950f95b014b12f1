"""Live sources as server-sent events.

Lives here: the transport of events to the page, and the end of every process when the page closes. Must not live here:
their content (``probing``, ``emulating``, ``following``).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from netspurt import _core
from netspurt.errors import RequestError
from netspurt.lab.watch import emulating, following, probing

Event = tuple[str, Any]
"""The name of the event, and JSON data."""

Scenarios = Callable[[dict[str, Any]], _core.Scenario]


def routes(scenario: Scenarios) -> list[Route]:
    """``api/ping``, ``api/emulate`` and ``api/follow``; status 400 means that the request cannot start."""

    async def ping(request: Request) -> Response:
        return await stream(probing.follow(await request.json()))

    async def emulate(request: Request) -> Response:
        body = await request.json()
        return await stream(emulating.follow(body, scenario(body)))

    async def follow(request: Request) -> Response:
        return await stream(following.follow(await request.json()))

    return [
        Route("/api/follow", follow, methods=["POST"]),
        Route("/api/ping", ping, methods=["POST"]),
        Route("/api/emulate", emulate, methods=["POST"]),
    ]


async def stream(events: AsyncGenerator[Event]) -> Response:
    """The events as an answer. Waits for the first event, so that an invalid request gets an error status."""
    try:
        first = await anext(events)
    except RequestError:
        await events.aclose()
        raise

    async def lines() -> AsyncIterator[str]:
        # When the page closes, this is cancelled, and with it the source of the events.
        async with aclosing(events):
            yield _line(first)
            try:
                async for event in events:
                    yield _line(event)
            except RequestError as error:
                yield _line(("wrong", {"message": str(error)}))

    return StreamingResponse(lines(), media_type="text/event-stream")


def _line(event: Event) -> str:
    name, data = event
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"
