"""The test against a real server: HTTP/1.1 over the sockets of this host, with TLS if the server's URLs say so.

HTTP/1.1 cannot multiplex, so a self probe is the kernel's estimate of the round trip of a load-generating connection,
as the draft permits: the sender's for uploads, the receiver's for downloads. Each connection has its own thread, which
waits in the kernel most of the time.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from netspurt.errors import RequestError, reason
from netspurt.underload.rpm.algorithm import Interval, Judge, Parameters, Responsiveness

WELL_KNOWN = "/.well-known/nq"
URLS = ("large_download_url", "small_download_url", "upload_url")

CHUNK = 1 << 18
UPLOAD_BYTES = 8 << 30
"""The draft's least size of the large object; an upload is cut off long before."""

ROUND_TRIPS = {"TLSv1.3": 1, "TLSv1.2": 2}
"""Of a TLS handshake, until the client may send its request."""

RTT_US, RECEIVER_RTT_US = 68, 92
"""Where ``struct tcp_info`` (linux/tcp.h) has the smoothed round trip of the sender, and that of the receiver."""

TIME_LIMIT_S = 10.0


@dataclass(frozen=True)
class Server:
    """Where the three objects are."""

    large: SplitResult
    small: SplitResult
    upload: SplitResult
    endpoint: str | None = None
    """The host to connect to, if it is not the one in the URLs."""

    @classmethod
    def read(cls, text: str, where: str) -> Server:
        """From the JSON object of a well-known URL; unknown names are ignored.

        Raises:
            RequestError: it is not such an object.
        """

        def refuse(why: str) -> RequestError:
            return RequestError(f"{where}: this is no configuration of a responsiveness test server: {why}")

        def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            names = [name for name, _ in pairs]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise refuse(f"'{twice}' is there twice")
            return dict(pairs)

        try:
            document = json.loads(text, object_pairs_hook=once)
        except ValueError as error:
            raise refuse(f"it is not JSON ({error})") from error
        if not isinstance(document, dict) or document.get("version") != 1:
            raise refuse('"version" must be 1')
        urls = document.get("urls")
        if not isinstance(urls, dict) or any(not isinstance(urls.get(name), str) for name in URLS):
            raise refuse(f'"urls" must have {", ".join(URLS)}')
        large, small, upload = (urlsplit(urls[name]) for name in URLS)
        for url in (large, small, upload):
            if url.scheme not in ("http", "https") or not url.hostname:
                raise refuse(f"'{url.geturl()}' is not an http or https URL")
        if len({url.hostname for url in (large, small, upload)}) > 1:
            raise refuse("the URLs name several hosts")
        endpoint = document.get("test_endpoint")
        if endpoint is not None and not isinstance(endpoint, str):
            raise refuse('"test_endpoint" must be the name of a host')
        return cls(large, small, upload, endpoint)


@dataclass(frozen=True)
class Opened:
    """A connection, and what it took to open it, in milliseconds."""

    socket: socket.socket
    tcp_ms: float
    tls_ms: float | None


@dataclass(frozen=True)
class Connector:
    """Opens connections.

    Attributes:
        endpoint: the host to connect to in place of that of a URL.
        verify: certificates must be valid.
    """

    endpoint: str | None = None
    verify: bool = True

    def open(self, url: SplitResult) -> Opened:
        """A connection to the host of a URL.

        Raises:
            OSError: it cannot be opened.
        """
        host = url.hostname or ""
        port = url.port or (443 if url.scheme == "https" else 80)
        family, kind, protocol, _, address = socket.getaddrinfo(
            self.endpoint or host, port, type=socket.SOCK_STREAM
        )[0]
        raw = socket.socket(family, kind, protocol)
        try:
            raw.settimeout(TIME_LIMIT_S)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            began = time.perf_counter()
            raw.connect(address)
            tcp_ms = 1e3 * (time.perf_counter() - began)
            if url.scheme == "http":
                return Opened(raw, tcp_ms, None)
            context = ssl.create_default_context()
            if not self.verify:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            wrapped = context.wrap_socket(raw, server_hostname=host, do_handshake_on_connect=False)
            began = time.perf_counter()
            wrapped.do_handshake()
            took_ms = 1e3 * (time.perf_counter() - began)
        except BaseException:
            raw.close()
            raise
        return Opened(wrapped, tcp_ms, took_ms / ROUND_TRIPS.get(wrapped.version() or "", 2))


def request(url: SplitResult, method: str = "GET", length: int | None = None) -> bytes:
    """The head of a request, after which the server closes."""
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {url.netloc}",
        "Accept-Encoding: identity",
        "Connection: close",
    ]
    if length is not None:
        lines += ["Content-Type: application/octet-stream", f"Content-Length: {length}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def fetch(url: SplitResult, connector: Connector) -> tuple[bytes, Opened, float]:
    """A small object: its body, the connection, and the milliseconds from request to response.

    Raises:
        OSError: no connection, or no response of 200.
    """
    opened = connector.open(url)
    with opened.socket as channel:
        began = time.perf_counter()
        channel.sendall(request(url))
        received = bytearray()
        while part := channel.recv(CHUNK):
            received += part
        took_ms = 1e3 * (time.perf_counter() - began)
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split(b" ")
    if len(status) < 2 or status[1] != b"200":
        shown = b" ".join(status)[:60].decode("latin-1")
        raise OSError(f"{url.geturl()}: the server answers '{shown}', and not 200")
    return body, opened, took_ms


def discover(url: str, *, verify: bool = True) -> Server:
    """Finds the test server of a URL, or of a host by its well-known URL.

    Raises:
        RequestError: there is no such server.
    """
    whole = urlsplit(url if "//" in url else f"https://{url}")
    if whole.scheme not in ("http", "https") or not whole.hostname:
        raise RequestError(f"'{url}' is no server: write https://HOST or http://HOST:PORT")
    if whole.path in ("", "/"):
        whole = whole._replace(path=WELL_KNOWN)
    try:
        body, _, _ = fetch(whole, Connector(verify=verify))
    except OSError as error:
        raise RequestError(_why(whole.geturl(), error)) from error
    return Server.read(body.decode("utf-8", "replace"), whole.geturl())


def _why(url: str, error: OSError) -> str:
    """Why the configuration cannot be read; an answer of the server names the URL itself."""
    why = str(error) if error.errno is None else reason(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        why = f"{error.verify_message}; if the certificate is your own, give --insecure"
    elif isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        why = "the server does not use TLS at this port: write http://"
    return why if url in why else f"cannot read {url}: {why}"


class Load:
    """A load-generating connection."""

    def __init__(self, server: Server, connector: Connector, upload: bool) -> None:
        self.upload = upload
        self.bytes = 0
        self.error: OSError | None = None
        self._over = threading.Event()
        self._url = server.upload if upload else server.large
        self._opened = connector.open(self._url)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        channel = self._opened.socket
        try:
            if self.upload:
                channel.sendall(request(self._url, "POST", UPLOAD_BYTES))
                block = bytes(CHUNK)
                while not self._over.is_set():
                    self.bytes += channel.send(block)
            else:
                channel.sendall(request(self._url))
                room = bytearray(CHUNK)
                while not self._over.is_set() and (count := channel.recv_into(room)):
                    self.bytes += count
                if not self._over.is_set():
                    raise ConnectionError("the server closed a load-generating connection")
        except OSError as error:
            if not self._over.is_set():
                self.error = error

    def delivered(self) -> int:
        """Bytes that have arrived at the other end, or here."""
        if not self.upload:
            return self.bytes
        # What waits in the socket is not delivered. SIOCOUTQ is TIOCOUTQ of the terminal interface.
        with contextlib.suppress(OSError, ImportError):
            import fcntl
            import termios

            waiting = bytearray(4)
            fcntl.ioctl(self._opened.socket.fileno(), termios.TIOCOUTQ, waiting)
            return max(0, self.bytes - int.from_bytes(waiting, "little"))
        return self.bytes

    def round_trip_ms(self) -> float | None:
        """The kernel's estimate, if it has one."""
        with contextlib.suppress(OSError):
            info = self._opened.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            place = RTT_US if self.upload else RECEIVER_RTT_US
            if len(info) >= place + 4:
                (estimate,) = struct.unpack_from("=I", info, place)
                return estimate / 1e3 if estimate else None
        return None

    def close(self) -> None:
        """Ends the connection at once."""
        self._over.set()
        with contextlib.suppress(OSError):
            self._opened.socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(TIME_LIMIT_S)
        self._opened.socket.close()


class Prober:
    """Sends foreign and self probes in turn until the test ends."""

    def __init__(self, server: Server, connector: Connector, loads: list[Load]) -> None:
        self._server, self._connector, self._loads = server, connector, loads
        self._guard = threading.Lock()
        self._seen = Interval()
        self._over = threading.Event()
        self.gap_s = 0.1
        self.error: OSError | None = None
        # It chooses a connection; nothing depends on how.
        self._dice = random.Random(1)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                began = time.monotonic()
                _, opened, http_ms = fetch(self._server.small, self._connector)
                chosen = self._dice.choice(self._loads).round_trip_ms() if self._loads else None
                with self._guard:
                    self._seen.tcp_ms.append(opened.tcp_ms)
                    self._seen.http_ms.append(http_ms)
                    if opened.tls_ms is not None:
                        self._seen.tls_ms.append(opened.tls_ms)
                    if chosen is not None:
                        self._seen.self_ms.append(chosen)
                self._over.wait(max(0.0, self.gap_s - (time.monotonic() - began)))
        except OSError as error:
            self.error = error

    def take(self) -> Interval:
        """What was seen since the last call."""
        with self._guard:
            seen, self._seen = self._seen, Interval()
        return seen

    def close(self) -> None:
        """Ends it after the probe under way."""
        self._over.set()
        self._thread.join(TIME_LIMIT_S)


def measure(
    server: Server,
    *,
    direction: str = "both",
    limit_s: float = 60.0,
    verify: bool = True,
    parameters: Parameters | None = None,
    after_interval: Callable[[Judge], None] = lambda _: None,
) -> Responsiveness:
    """Runs the test against a server.

    Args:
        server: from ``discover``.
        direction: what loads the path: ``both``, ``download`` or ``upload``.
        limit_s: the test ends at this time, stable or not.
        verify: certificates must be valid.
        parameters: the draft's.
        after_interval: called after each interval.

    Raises:
        RequestError: a connection ended with an error, so the test was ended.
    """
    judged = Judge(parameters or Parameters())
    connector = Connector(server.endpoint, verify)
    try:
        with _running(server, connector) as (loads, prober):
            _measure(judged, server, connector, direction, limit_s, loads, prober, after_interval)
    except OSError as error:
        raise RequestError(f"the test was ended: {error}") from error
    return judged.result()


@contextlib.contextmanager
def _running(server: Server, connector: Connector) -> Iterator[tuple[list[Load], Prober]]:
    loads: list[Load] = []
    prober = Prober(server, connector, loads)
    try:
        yield loads, prober
    finally:
        prober.close()
        for load in loads:
            load.close()


def _measure(
    judged: Judge,
    server: Server,
    connector: Connector,
    direction: str,
    limit_s: float,
    loads: list[Load],
    prober: Prober,
    after_interval: Callable[[Judge], None],
) -> None:
    chosen = judged.parameters
    ways = {"both": (False, True), "download": (False,), "upload": (True,)}[direction]
    began, before = time.monotonic(), 0
    for interval in range(int(limit_s / chosen.interval_s + 1e-9)):
        while len(loads) < chosen.connections(interval) * len(ways):
            loads.append(Load(server, connector, ways[len(loads) % len(ways)]))
        end = began + (interval + 1) * chosen.interval_s
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(0.1, left))
            for error in (prober.error, *(load.error for load in loads)):
                if error:
                    raise error
        delivered = sum(load.delivered() for load in loads)
        seen = prober.take()
        seen.goodput_bps = 8 * (delivered - before) / chosen.interval_s
        before = delivered
        judged.add(seen)
        prober.gap_s = 1 / chosen.probes_per_second(judged.goodput_bps / len(ways))
        after_interval(judged)
        if judged.is_over:
            return
