"""A lab for tests: ``netspurt lab`` in a process of its own, on any free port, and requests to it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LIMIT_S = 60

SMALL = """\
duration = "60 s"

[link.path]
between = ["near", "far"]
rate = "1 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "20 packets" }

[tcp]
profile = "newreno"

[[flow]]
from = "near"
to = "far"
app = { kind = "bulk", bytes = "300 kB" }
"""
"""A transfer of two seconds that overruns its queue once."""

ENDLESS = SMALL.replace('"60 s"', '"1000000 s"').replace(', bytes = "300 kB"', "").replace("1 Mbit", "1 Gbit")
"""A transfer that no one will see the end of."""


@dataclass
class Answer:
    """What came back."""

    status: int
    body: bytes
    headers: dict[str, str]

    def json(self) -> Any:
        return json.loads(self.body)

    def run(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Head and columns of a run, as ``page/base/wire.js`` reads them."""
        import numpy as np

        length = int.from_bytes(self.body[:4], "little")
        head = json.loads(self.body[4 : 4 + length])
        columns, place = {}, 4 + length
        for column in head["columns"]:
            kind = np.dtype(column["type"]).newbyteorder("<")
            columns[column["name"]] = np.frombuffer(self.body, kind, column["count"], place)
            place += -(-column["count"] * kind.itemsize // 8) * 8
        return head, columns


@dataclass
class Lab:
    """A lab that runs; ``address`` is what it printed."""

    address: str

    @property
    def token(self) -> str:
        return urlsplit(self.address).path.strip("/")

    @contextlib.contextmanager
    def asked(
        self, path: str, body: Any = None, host: str | None = None, method: str | None = None
    ) -> Iterator[HTTPResponse]:
        """A request whose answer is still coming."""
        place = urlsplit(self.address)
        assert place.hostname is not None
        connection = HTTPConnection(place.hostname, place.port, timeout=LIMIT_S)
        headers = {"host": host or place.netloc}
        octets = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path, octets, headers)
        try:
            yield connection.getresponse()
        finally:
            connection.close()

    def ask(self, path: str, body: Any = None, **options: Any) -> Answer:
        """A whole answer; ``path`` begins with a slash, or is one below the token."""
        whole = path if path.startswith("/") else f"/{self.token}/{path}"
        with self.asked(whole, body, **options) as response:
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, response.read(), headers)

    def run(self, **asked: Any) -> Answer:
        """A run of the user's first scenario."""
        return self.ask("api/run", {"key": "own/0", "place": "test", **asked})


@contextlib.contextmanager
def lab(directory: Path, text: str = SMALL, files: Sequence[str] = ()) -> Iterator[Lab]:
    """A lab with one scenario of its own, ``own.toml``, and other files or options, ended as Ctrl-C would end it."""
    (directory / "own.toml").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "netspurt", "lab", "own.toml", *files, "--json", "--port", "0"]
    folder = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(
        words, cwd=directory, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            yield Lab(json.loads(process.stdout.readline())["address"])
        finally:
            process.send_signal(signal.SIGINT)
            try:
                status = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert status == 0
