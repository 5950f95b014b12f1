"""A scenario of one path that is made by a call."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

import netspurt as ns

core = pytest.importorskip("netspurt._core", reason="the native module is not built")

LINE: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "20 ms"}

FILE = """
duration = "10 min"
[tcp]
profile = "linux"
[link.path]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
loss = { kind = "packet-error", rate = "0.1%" }
[[flow]]
app = { kind = "bulk", bytes = "1 MB" }
from = "server"
to = "client"
count = 2
"""


def test_it_is_the_scenario_of_the_same_file() -> None:
    made = ns.path(**LINE, queue="50 packets", loss="0.1%", bytes="1 MB", count=2, reverse=True)
    assert made.merged() == ns.parse(FILE).merged()
    assert made.run(seed=3).digest == ns.parse(FILE).run(seed=3).digest


def test_it_can_be_changed_as_every_scenario() -> None:
    made = ns.path(**LINE).set(
        {"link.path.delay": "5 ms", "tcp.congestion": "bbr", "flow.0.app.bytes": "50 kB"}
    )
    merged = tomllib.loads(made.merged())
    assert merged["link"]["path"]["delay"] == "5 ms"
    assert made.run(seed=1).flows["bytes_delivered"].to_list() == [50_000]
    assert "tcp" in merged


def test_without_bytes_it_ends_after_30_seconds() -> None:
    assert tomllib.loads(ns.path(**LINE).merged())["duration"] == "30 s"
    assert tomllib.loads(ns.path(**LINE, duration="3 s").merged())["duration"] == "3 s"


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        (None, {"kind": "drop-tail", "limit": "1000 packets"}),
        ("64 KiB", {"kind": "drop-tail", "limit": "64 KiB"}),
        ({"kind": "drop-tail", "limit": "7 packets"}, {"kind": "drop-tail", "limit": "7 packets"}),
    ],
)
def test_a_queue_is_a_length_or_a_table(queue: Any, expected: dict[str, str]) -> None:
    made = ns.path(**LINE) if queue is None else ns.path(**LINE, queue=queue)
    assert tomllib.loads(made.merged())["link"]["path"]["queue"] == expected


def test_a_queue_is_a_discipline_or_one_of_a_model() -> None:
    disciplined = tomllib.loads(ns.path(**LINE, queue="fq-codel").merged())
    assert disciplined["link"]["path"]["queue"]["kind"] == "fq-codel"
    parsed = FILE.replace('rate = "10 Mbit/s"\ndelay = "20 ms"', 'path = "lte"')
    modelled = "".join(line for line in parsed.splitlines(True) if not line.startswith(("queue", "loss")))
    assert ns.path(path="lte", bytes="1 MB", count=2, reverse=True).merged() == ns.parse(modelled).merged()
    rated = ns.path(path="docsis:down=100mbit")
    assert rated.merged() == ns.path(path={"model": "docsis", "down": "100mbit"}).merged()
    assert rated.merged() != ns.path(path="docsis").merged()


def test_a_loss_is_a_share_a_probability_or_a_table() -> None:
    def loss(value: Any) -> Any:
        return tomllib.loads(ns.path(**LINE, loss=value).merged())["link"]["path"]["loss"]

    assert loss("1%") == loss(0.01) == {"kind": "packet-error", "rate": 0.01}
    assert loss({"kind": "bit-error", "rate": 1e-7})["kind"] == "bit-error"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": "10"}, r'^path\(\): rate: 10 has no unit: write "10 Mbit/s"'),
        ({"delay": 20}, r'^path\(\): delay: 20 has no unit: write "20 ms"'),
        ({"dely": "20 ms"}, r'^path\(\): unknown key "dely": did you mean "delay"\?'),
        ({"queue": 100}, r'^path\(\): queue.limit: 100 has no unit: write "100 packets"'),
        ({"queue": "fq-codl"}, r'^path\(\): queue: unknown kind "fq-codl": did you mean "fq-codel"\?'),
        ({"loss": "200%"}, r'^path\(\): loss.rate: "200%" is out of range'),
        ({"bytes": 5000}, r'^path\(\): bytes: 5000 has no unit: write "5000 KiB"'),
        ({"profile": "linus"}, r'^path\(\): profile: unknown name "linus": did you mean "linux"\?'),
        ({"count": 0}, r"^path\(\): count: 0 is out of range"),
        ({"path": "ltee"}, r'^path\(\): path: unknown path model "ltee": did you mean "lte"\?'),
    ],
)
def test_an_error_names_the_argument_and_no_place_in_a_file(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ns.ScenarioError, match=message) as caught:
        ns.path(**(LINE | arguments))
    assert (caught.value.file, caught.value.line, caught.value.column) == (None, None, None)
    assert str(caught.value) == f"path(): {caught.value.message}"


def test_without_a_link_there_is_no_path() -> None:
    with pytest.raises(TypeError, match="describes a link"):
        ns.path(bytes="1 MB")
    with pytest.raises(TypeError, match="cannot hold a NoneType"):
        ns.path(rate=None)  # type: ignore[arg-type]


def test_the_hosts_are_given() -> None:
    with pytest.raises(TypeError, match='has the hosts "client" and "server"'):
        ns.path(**LINE, between=["a", "b"])
    with pytest.raises(TypeError, match="reverse is True or False, not 'no'"):
        ns.path(**LINE, reverse="no")
