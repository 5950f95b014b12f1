"""Bodies of requests, and answers that the browser saves as files.

Lives here: what all requests have in common. Must not live here: the meaning of a request.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from netspurt.errors import RequestError

LARGEST_REQUEST = 4 << 20


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request.

    Raises:
        RequestError: it is too long, or no JSON object.
    """
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


def text_of(body: dict[str, Any], key: str) -> str:
    """A text of a request.

    Raises:
        RequestError: it is missing, or no text.
    """
    value = body.get(key)
    if not isinstance(value, str):
        raise RequestError(f"the request needs '{key}', which must be text")
    return value


def number_of(body: dict[str, Any], key: str, default: int, least: int, beyond: int) -> int:
    """A whole number of a request, at least ``least`` and below ``beyond``.

    Raises:
        RequestError: it is no such number.
    """
    value = body.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < beyond:
        words = "2^64 - 1" if beyond == 1 << 64 else str(beyond - 1)
        raise RequestError(
            f"'{value}' is not a valid {key}: it must be a whole number from {least} to {words}"
        )
    return value


def page_to_save(text: str | bytes, name: str) -> Response:
    """A report, as a file: the page's security policy would forbid the report's scripts."""
    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    return Response(text, media_type="text/html", headers={"content-disposition": disposition})
