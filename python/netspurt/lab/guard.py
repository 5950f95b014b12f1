"""Access control of the lab.

Every address of the lab begins with a token that only its user knows, and the Host header must be a name
of this machine's loopback device. This refuses pages of other sites whose name resolves to this machine (DNS
rebinding), and other users of this machine.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine in a browser. Any port is allowed, for ``ssh -L``."""

STRANGE_HOST = (
    "The lab answers only to this machine's own names ({names}), and the request was for '{host}'. "
    "Open the address that 'netspurt lab' printed."
)
WRONG_TOKEN = (
    "This address has no token or the wrong token for the running lab. "
    "Open the address that 'netspurt lab' printed; it is a new one each time the lab is started."
)

HEADERS = (
    (b"cache-control", b"no-store"),
    # The token is in the address: links of the page must not leak it.
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)


class Guard:
    """Passes requests with the token and a local name; it removes the token from the path.

    Args:
        app: the protected application.
        token: the required start of each path.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI. A refusal is one sentence, with status 421 (unknown host) or 403 (wrong token)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = _host(scope["headers"])
        if host is None or _name(host) not in LOCAL:
            sentence = STRANGE_HOST.format(names=", ".join(LOCAL), host=host or "")
            await _refuse(scope, receive, send, 421, sentence)
            return
        first, slash, rest = scope["path"].removeprefix("/").partition("/")
        if not hmac.compare_digest(first.encode("utf-8", "replace"), self._token):
            await _refuse(scope, receive, send, 403, WRONG_TOKEN)
            return
        if not slash:
            # Addresses in the page are relative, so its address must end in a slash.
            await _redirect(scope, receive, send, f"/{first}/")
            return
        inner = dict(scope, path=f"/{rest}", raw_path=f"/{rest}".encode())
        await self._app(inner, receive, _with_headers(send))


def _host(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    return hosts[0] if len(hosts) == 1 else None


def _name(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *HEADERS]}
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    from starlette.responses import HTMLResponse, JSONResponse

    if "/api/" in scope["path"]:
        response: ASGIApp = JSONResponse({"error": {"message": sentence}}, status)
    else:
        page = (
            "<!doctype html><html lang=en><meta charset=utf-8><title>netspurt lab</title>"
            "<body style='font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem'>"
            f"<h1>netspurt lab</h1><p>{escape(sentence)}</p>"
        )
        response = HTMLResponse(page, status)
    await response(scope, receive, _with_headers(send))


async def _redirect(scope: Scope, receive: Receive, send: Send, place: str) -> None:
    from starlette.responses import RedirectResponse

    await RedirectResponse(place, 307)(scope, receive, _with_headers(send))
