"""The same link simulated and emulated: goodput within 5 %, quantiles of the delay within 10 %."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import Future
from pathlib import Path

import pytest

import netspurt as ns

pytest.importorskip("netspurt._core")

from emulations import ENVIRONMENT, LIMIT_S, said

PEER = f"{sys.executable} {Path(__file__).with_name('emulated_peer.py')}"
OCTETS = 3_000_000
TRIES = 3
"""A machine that is busy with something else spoils a run."""

LINKS = {
    "directions": (
        'rate = ["2 Mbit/s", "8 Mbit/s"]\ndelay = ["4 ms", "16 ms"]\n'
        'queue = { kind = "drop-tail", limit = "60 ms" }'
    ),
    "shaper": (
        'rate = "50 Mbit/s"\ndelay = "10 ms"\nqueue = { kind = "drop-tail", limit = "100 packets" }\n'
        'shaper = ["none", { rate = "8 Mbit/s", burst = "200 kB" }]'
    ),
    "cake": 'rate = "20 Mbit/s"\ndelay = "10 ms"\nqueue = { kind = "cake", bandwidth = "8 Mbit/s" }',
    "pie": 'rate = "8 Mbit/s"\ndelay = "10 ms"\nqueue = { kind = "pie" }',
    "fq-codel": 'rate = "8 Mbit/s"\ndelay = "10 ms"\nqueue = { kind = "fq-codel" }',
    "dualpi2": 'rate = "8 Mbit/s"\ndelay = "10 ms"\nqueue = { kind = "dualpi2" }',
    "aggregation": (
        'rate = "8 Mbit/s"\ndelay = "10 ms"\nqueue = { kind = "drop-tail", limit = "100 packets" }\n'
        'aggregation = ["none", { packets = "8 packets", timeout = "2 ms" }]\n'
        'ack_thinning = [{ keep = 4, interval = "5 ms" }, "none"]'
    ),
}

DELAYS = {
    "normal": 'delay = { kind = "normal", mean = "20 ms", sd = "4 ms", correlation = 0.3 }',
    "quantiles": (
        'delay = { kind = "quantiles", probabilities = [0.0, 0.5, 0.9, 1.0], '
        'values = ["8 ms", "15 ms", "30 ms", "50 ms"] }'
    ),
    "uniform": 'delay = { kind = "uniform", min = "5 ms", max = "25 ms", reorders = true }',
}


def scenario(link: str, app: str) -> str:
    """Between two hosts."""
    return (
        f'duration = "60 s"\n[tcp]\nprofile = "linux"\n[link.path]\nbetween = ["earth", "space"]\n{link}\n'
        f'[[flow]]\nfrom = "earth"\nto = "space"\napp = {app}\n'
    )


def simulated(directory: Path, text: str) -> ns.Result:
    """The run with seed 1."""
    file = directory / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    return ns.load(file).run(1)


def emulated(directory: Path, text: str, server: str, client: str) -> str:
    """What the client printed."""
    file = directory / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "netspurt", "emulate", str(file), "--json", "--congestion", "cubic"),
            *("--server", server, "--", *client.split()),
        ],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env=ENVIRONMENT,
    )
    assert run.returncode == 0, run.stderr
    return said(run)


def measured(name: str) -> list[float]:
    """What an emulation measures relative to the simulation, in the last of at most three tries."""
    with tempfile.TemporaryDirectory() as directory:
        ratios = transfer_time if name in LINKS else delay_quantiles
        return ratios(Path(directory), name)


def transfer_time(directory: Path, name: str) -> list[float]:
    """The time of a transfer."""
    app = f'{{ kind = "files", size = "{OCTETS} B", transfers = 1 }}'
    text = scenario(LINKS[name], app)
    expected = float(simulated(directory, text).flows["page_delay_median_s"][0])
    ratio = 0.0
    for _ in range(TRIES):
        output = emulated(directory, text, f"{PEER} serve {OCTETS} 1", f"{PEER} fetch space 0 2")
        took = next(json.loads(line)[1] for line in output.splitlines() if line.startswith("["))
        ratio = took / expected
        if abs(ratio - 1.0) <= 0.05:
            break
    return [ratio]


def delay_quantiles(directory: Path, name: str) -> list[float]:
    """The median of the delays and their 95 % quantile."""
    app = '{ kind = "request-response", request = "5 B", response = "5 B", exchanges = "forever" }'
    text = scenario(f'rate = "100 Mbit/s"\n{DELAYS[name]}', app)
    flows = simulated(directory, text).flows
    found = []
    for _ in range(TRIES):
        times = json.loads(emulated(directory, text, f"{PEER} echo", f"{PEER} ask space 200"))
        quantiles = (statistics.median(times), statistics.quantiles(times, n=20)[-1])
        wanted = [float(flows[f"page_delay_{each}_s"][0]) for each in ("median", "p95")]
        found = [one / other for one, other in zip(quantiles, wanted, strict=True)]
        if all(abs(ratio - 1.0) <= 0.1 for ratio in found):
            break
    return found


@pytest.mark.parametrize("name", LINKS)
def test_a_transfer_is_as_fast_in_an_emulation_as_in_a_simulation(
    name: str, at_once: dict[str, Future[list[float]]]
) -> None:
    assert at_once[name].result() == [pytest.approx(1.0, abs=0.05)]


@pytest.mark.parametrize("name", DELAYS)
def test_delays_have_the_same_quantiles_in_an_emulation_as_in_a_simulation(
    name: str, at_once: dict[str, Future[list[float]]]
) -> None:
    assert at_once[name].result() == [pytest.approx(1.0, abs=0.1)] * 2
