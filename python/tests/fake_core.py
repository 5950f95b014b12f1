"""A stand-in for the native module: the same names and shapes, and a model of TCP that fits on a page.

It is put in place by the ``fake_core`` fixture and never shipped. Its numbers mean nothing; tests that need true
ones ask for the native module.
"""

from __future__ import annotations

import hashlib
import json
import random
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

UNITS = {
    "Kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "Tbit/s": 1e12,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
}
UNITS |= {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "packets": 1, "segments": 1}

before_run: Callable[[Scenario, int], None] | None = None
"""A hook of tests, called at the start of each run; it may raise."""


class ScenarioError(ValueError):
    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {message}")
        self.file, self.line, self.column, self.message = file, line, column, message


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def quantity(text: Any) -> float:
    number, _, unit = str(text).partition(" ")
    return float(number) * UNITS[unit]


class Scenario:
    def __init__(self, tree: dict[str, Any], name: str) -> None:
        self.tree, self.name = tree, name
        self.algorithms: dict[str, Any] = {}

    @staticmethod
    def load(path: str, overrides: Sequence[tuple[str, str]] = ()) -> Scenario:
        return Scenario.parse(Path(path).read_text(encoding="utf-8"), path, overrides)

    @staticmethod
    def parse(text: str, name: str = "<scenario>", overrides: Sequence[tuple[str, str]] = ()) -> Scenario:
        try:
            tree = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError(name, 1, 1, str(error)) from error
        return Scenario(tree, name).set(overrides)

    def set(self, overrides: Sequence[tuple[str, str]]) -> Scenario:
        tree = json.loads(json.dumps(self.tree))
        for path, text in overrides:
            *parents, last = path.split(".")
            node: Any = tree
            for parent in parents:
                node = node[int(parent)] if isinstance(node, list) else node.setdefault(parent, {})
            if last == "no_such_key":
                raise ScenarioError(self.name, 3, 1, "unknown key 'no_such_key', did you mean 'no_key'?")
            node[int(last) if isinstance(node, list) else last] = _value(text)
        return Scenario(tree, self.name)

    def merged(self) -> str:
        return f"# merged\nduration = {json.dumps(self.tree['duration'])}\n"

    def run(
        self,
        seed: int = 1,
        record: Sequence[str] = (),
        pcap: str | None = None,
        *,
        capture: Sequence[str] = (),
        snaplen: int | None = None,
    ) -> Run:
        if before_run is not None:
            before_run(self, seed)
        if pcap is not None:
            Path(pcap).write_bytes(b"\x0a\x0d\x0d\x0a")
        return Run(self, seed, tuple(record))


class Run:
    """A transfer whose rate is the window per round trip, cut by the line and by a loss at random."""

    def __init__(self, scenario: Scenario, seed: int, record: tuple[str, ...]) -> None:
        tree = scenario.tree
        link = next(iter(tree["link"].values()))
        app = tree["flow"][0]["app"]
        self.seed, self.record, self.scenario = seed, record, scenario
        self.bytes = int(quantity(app.get("bytes", app.get("response"))))
        self.round_trip = 2 * quantity(link["delay"]) + 1e-12
        loss = link.get("loss", {"kind": "none"})
        self.lossy = loss["kind"] not in ("none", "script")
        window = quantity(tree["tcp"].get("receive_window", "64 KiB"))
        rate = min(window / self.round_trip, quantity(link["rate"]) / 8)
        chance = random.Random(f"{seed} {json.dumps(loss)}")
        self.seconds = self.bytes / rate * (chance.uniform(1.5, 3.0) if self.lossy else 1.0)
        self.digest = hashlib.sha256(f"{json.dumps(tree)} {seed}".encode()).hexdigest()[:16]

    def _flow(self) -> dict[str, Any]:
        return {
            "flow": "flow",
            "index": 0,
            "from": "a",
            "to": "b",
            "bytes_delivered": self.bytes,
            "start_s": 0.0,
            "end_s": self.seconds,
            "goodput_bps": 8 * self.bytes / self.seconds,
            "segments_sent": self.bytes // 1024,
            "retransmitted": 3 if self.lossy else 0,
            "timeouts": 0,
            "fast_retransmits": 0,
            "naks_sent": 0,
            "rtt_mean_s": self.round_trip,
            "completed": True,
            "wrong_bytes": 0,
            "held_tails": 0,
            "held_tail_s": 0.0,
        }

    def json(self) -> str:
        link = {"link": "line", "direction": "a->b", "packets": 8, "bytes": 800, "drops": {"queue": 1}}
        return json.dumps(
            {
                "scenario": self.scenario.name,
                "seed": self.seed,
                "digest": self.digest,
                "duration_s": self.seconds,
                "flows": [self._flow()],
                "links": [{**link, "utilisation": 0.5, "queue_mean_packets": 1.0}],
                "performance": {"events": 1, "wall_s": 0.001, "data_packets_per_s": 1.0},
            }
        )

    def flows(self) -> dict[str, list[Any]]:
        return {name: [value] for name, value in self._flow().items()}

    def links(self) -> dict[str, list[Any]]:
        return {"link": ["line"], "direction": ["a->b"], "packets": [8], "bytes": [800], "drops_queue": [1]}

    def series(self, name: str) -> dict[str, Any]:
        rounds = np.arange(6) if name in self.record else np.arange(0)
        columns: dict[str, Any] = {"time_s": rounds * self.round_trip, "value": 1024.0 * 2.0**rounds}
        if name == "queue":
            return columns | {"link": ["line"] * rounds.size, "direction": ["a->b"] * rounds.size}
        return columns | {"flow": ["flow"] * rounds.size, "end": ["client", "server"] * (rounds.size // 2)}

    def segments(self) -> dict[str, Any]:
        count = 40 if "segments" in self.record else 0
        number = np.arange(count)
        data = number % 2 == 0
        return {
            "time_s": number * self.round_trip / 20,
            "flow": ["flow"] * count,
            "index": np.zeros(count, dtype=np.int64),
            "connection": np.zeros(count, dtype=np.int64),
            "from_client": data,
            "seq": np.where(data, number * 512, 0),
            "length": np.where(data, 1024, 0),
            "ack": np.where(data, 0, number * 512),
            "window": np.full(count, 65536),
            "reason": np.where(number == 20, "nak-resend", np.where(data, "new-data", "ack")),
            "nak": np.where(number == 19, 9216, -1),
        }

    def marks(self) -> dict[str, list[Any]]:
        return {"time_s": [], "link": [], "direction": [], "flow": []}

    def drops(self) -> dict[str, list[Any]]:
        return {"time_s": [], "link": [], "direction": [], "flow": [], "size": [], "cause": []}


def commit() -> str | None:
    return None


def schema() -> str:
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"})


def profiles() -> str:
    entry = {"name": "reno", "summary": "4.3BSD-Reno", "document": "RFC 2001", "tcp": {"recovery": "reno"}}
    return json.dumps([entry])


def mechanisms() -> str:
    parameter = {"name": "min", "default": "1 s", "unit": "time span", "summary": "lower bound"}
    choice = {
        "name": "rfc6298",
        "default": True,
        "summary": "…",
        "document": "RFC 6298",
        "parameters": [parameter],
    }
    family = {"family": "rto", "path": "tcp.rto", "summary": "…", "default": "rfc6298", "choices": [choice]}
    plain = {
        "family": "mss",
        "path": "tcp.mss",
        "summary": "…",
        "unit": "size",
        "default": "1460 B",
        "choices": [],
    }
    return json.dumps([family, plain])


def version() -> str:
    return "0.1.0"
