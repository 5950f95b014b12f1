"""The lab's server: bound to the loopback device, until Ctrl-C.

Lives here: the socket, start and end of the server. Must not live here: the answers (``app``).
"""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from netspurt.errors import RequestError
from netspurt.lab.app import Lab
from netspurt.lab.captures.box import Box
from netspurt.lab.shelf import Described, Shelf

ADDRESS = "127.0.0.1"

PORT = 8421
"""The default port; if it is in use, any free one."""


def bind(port: int | None) -> socket.socket:
    """A socket on the loopback device. Port 0 is any port; None is ``PORT``, or any if that is in use.

    Raises:
        RequestError: the port is not available.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((ADDRESS, PORT if port is None else port))
    except OSError as error:
        sock.close()
        if port is None:
            return bind(0)
        why = (error.strerror or str(error)).lower()
        raise RequestError(f"cannot listen on port {port}: {why}; omit --port for any free port") from error
    return sock


def serve(
    own: Sequence[Path],
    sock: socket.socket,
    ready: Callable[[str], None],
    captures: Sequence[Path] = (),
    described: Described | None = None,
) -> None:
    """Serves until Ctrl-C or SIGTERM.

    Args:
        own: the user's scenario files, listed first.
        sock: the socket of ``bind``.
        ready: called with the page's address as soon as it answers.
        captures: the user's captures; the page opens on the first.
        described: a scenario without a file, listed before all others.
    """
    token = secrets.token_urlsafe(24)
    lab = Lab(Shelf(own, described), token, Box(captures))
    settings = uvicorn.Config(
        lab.app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _Server(settings, lambda: ready(f"http://{ADDRESS}:{sock.getsockname()[1]}/{token}/"))
    try:
        # Ctrl-C is the normal end.
        with contextlib.suppress(KeyboardInterrupt):
            server.run([sock])
    finally:
        lab.runs.close()
        lab.box.close()


class _Server(uvicorn.Server):
    def __init__(self, settings: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(settings)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()
