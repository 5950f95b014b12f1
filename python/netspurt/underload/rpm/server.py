"""A responsiveness test server: the small object, the large one, the sink of uploads, and the URL that names them."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from netspurt.errors import RequestError, reason
from netspurt.underload.rpm.client import CHUNK, UPLOAD_BYTES, WELL_KNOWN

TIME_LIMIT_S = 60.0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIME_LIMIT_S

    def do_GET(self) -> None:
        """The objects, and the configuration."""
        host = self.headers.get("Host") or "localhost"
        if self.path == "/small":
            self._send(b"x")
        elif self.path == "/large":
            self._head(UPLOAD_BYTES)
            block, left = bytes(CHUNK), UPLOAD_BYTES
            with contextlib.suppress(OSError):
                while left > 0:
                    left -= self.wfile.write(block[:left])
            self.close_connection = True
        elif self.path == WELL_KNOWN:
            scheme = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
            urls = {"large_download_url": "large", "small_download_url": "small", "upload_url": "upload"}
            named = {name: f"{scheme}://{host}/{path}" for name, path in urls.items()}
            self._send(json.dumps({"version": 1, "urls": named}).encode(), "application/json")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Receives and discards data."""
        left = int(self.headers.get("Content-Length") or 0)
        room = bytearray(CHUNK)
        with contextlib.suppress(OSError):
            while left > 0 and (count := self.rfile.readinto(memoryview(room)[: min(left, CHUNK)])):
                left -= count
        if left:
            self.close_connection = True
        else:
            self._send(b"")

    def _head(self, length: int, kind: str = "application/octet-stream") -> None:
        self.send_response_only(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _send(self, body: bytes, kind: str = "application/octet-stream") -> None:
        self._head(len(body), kind)
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext | None) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._context = context
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, object]:
        """A new connection; its TLS handshake takes place in its own thread, with the first byte that is read."""
        channel, address = super().get_request()
        channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._context:
            channel = self._context.wrap_socket(channel, server_side=True, do_handshake_on_connect=False)
        return channel, address

    def handle_error(self, *_: object) -> None:
        """A client that goes away is no error of the server."""


@contextlib.contextmanager
def serving(
    address: str = "127.0.0.1", port: int = 0, cert: Path | None = None, key: Path | None = None
) -> Iterator[str]:
    """Serves until the end of the context; gives the URL of the server.

    Args:
        address: of this host.
        port: 0 takes a free one.
        cert: a certificate in PEM: with it the server speaks TLS.
        key: its key, if it is in another file.

    Raises:
        RequestError: the address cannot be used, or the certificate cannot be read.
    """
    context = None
    try:
        if cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)
        server = _Server((address, port), context)
    except OSError as error:
        raise RequestError(f"cannot serve at {address}, port {port}: {reason(error)}") from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        host = f"[{address}]" if ":" in address else address
        yield f"{'https' if context else 'http'}://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5.0)
