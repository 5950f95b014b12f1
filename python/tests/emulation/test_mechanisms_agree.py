"""The same link simulated and emulated: goodput within 5 %, quantiles of the delay within 10 %."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import netspurt as ns

pytest.importorskip("netspurt._core")

from emulations import LIMIT_S, said

PEER = f"{sys.executable} {Path(__file__).with_name('emulated_peer.py')}"
OCTETS = 3_000_000
TRIES = 3
"""A machine that is busy with something else spoils a run."""

pytestmark = pytest.mark.usefixtures("permitted", "nothing_is_left")

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
    )
    assert run.returncode == 0, run.stderr
    return said(run)


@pytest.mark.parametrize("name", LINKS)
def test_a_transfer_is_as_fast_in_an_emulation_as_in_a_simulation(tmp_path: Path, name: str) -> None:
    app = f'{{ kind = "files", size = "{OCTETS} B", transfers = 1 }}'
    text = scenario(LINKS[name], app)
    expected = float(simulated(tmp_path, text).flows["page_delay_median_s"][0])
    ratios = []
    for _ in range(TRIES):
        output = emulated(tmp_path, text, f"{PEER} serve {OCTETS} 1", f"{PEER} fetch space 0 2")
        took = next(json.loads(line)[1] for line in output.splitlines() if line.startswith("["))
        ratios.append(took / expected)
        if abs(ratios[-1] - 1.0) <= 0.05:
            break
    assert abs(ratios[-1] - 1.0) <= 0.05, ratios


def delays_relative_to_simulated(directory: Path, name: str) -> list[float]:
    """The median of the delays and their 95 % quantile, emulated, in those of the simulation."""
    directory.mkdir()
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


def test_delays_have_the_same_quantiles_in_an_emulation_as_in_a_simulation(tmp_path: Path) -> None:
    # A few packets at a time: three emulations need little of a processor, so they run at once.
    with ThreadPoolExecutor() as pool:
        found = dict(
            zip(
                DELAYS,
                pool.map(lambda name: delays_relative_to_simulated(tmp_path / name, name), DELAYS),
                strict=True,
            )
        )
    assert all(abs(ratio - 1.0) <= 0.1 for ratios in found.values() for ratio in ratios), found
