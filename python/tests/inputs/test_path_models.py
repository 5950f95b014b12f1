"""Each path model beside the figures of its sources: delays measured in a run, rates from what the link becomes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

_core = pytest.importorskip("netspurt._core", reason="the native module is not built")

import netspurt as ns  # noqa: E402

MODELS = {model["name"]: model for model in ns.paths()}

PROBES = """
duration = "{seconds} s"
[link.line]
between = ["user", "net"]
path = "{name}"
[[flow]]
from = "user"
to = "net"
app = {{ kind = "request-response", request = "32 B", response = "32 B", exchanges = "forever", gap = "{gap}" }}
"""

BULK = """
duration = "{seconds} s"
[link.line]
between = ["user", "net"]
path = {path}
[[flow]]
from = "{source}"
to = "{sink}"
app = {{ kind = "bulk" }}
"""

QUEUE = '\nqueue = { kind = "drop-tail", limit = "100 kB" }'
"""Beside a model, so that what has been sent has nearly all arrived."""

UNITS = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}


def round_trips_ms(name: str) -> Any:
    """RTTs of small packets on the idle path, in ms: of one connection with one exchange at a time."""
    short = name == "data-centre"
    text = PROBES.format(name=name, seconds=30 if short else 1920, gap="1 ms" if short else "97.137 ms")
    result = ns.parse(text).run(seed=1, record=["rtt"])
    rtt = result.series("rtt")
    return rtt.filter(rtt["end"] == "client")["value"].to_numpy() * 1e3


def mbps(rate: str) -> float:
    number, unit = rate.split()
    return float(number) * UNITS[unit]


def seconds(span: str) -> float:
    number, unit = span.split()
    return float(number) * {"ms": 1e-3, "s": 1.0, "min": 60.0}[unit]


def rates_mbps(name: str, way: int) -> Any:
    """The rate of a direction at each second of ten minutes."""
    model = MODELS[name]

    def of(rate: Any) -> float:
        return mbps(rate[way] if isinstance(rate, list) else rate)

    steps = [(0.0, of(model["link"]["rate"]))]
    for change in model["change"]:
        if "link.line.rate" in change["set"]:
            every = seconds(change["every"])
            times = np.arange(seconds(change["at"]), 600.0, every)
            steps += [(float(time), of(change["set"]["link.line.rate"])) for time in times]
    steps.sort()
    at = np.array([time for time, _ in steps])
    return np.array([value for _, value in steps])[np.searchsorted(at, np.arange(600.0), side="right") - 1]


def _measured(name: str, quantity: str) -> Any:
    if quantity == "rtt":
        return round_trips_ms(name)
    return rates_mbps(name, 1 if quantity == "down" else 0)


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model["figures"]])
def test_a_model_has_the_delays_and_rates_that_its_sources_give(name: str) -> None:
    values: dict[str, Any] = {}
    for figure in MODELS[name]["figures"]:
        quantity = figure["quantity"]
        if quantity not in values:
            values[quantity] = _measured(name, quantity)
        found = values[quantity]
        share = figure["quantile"]
        value = float(np.mean(found) if share is None else np.quantile(found, share))
        assert value == pytest.approx(figure["published"], rel=figure["within"]), (quantity, share, value)


def test_most_models_have_figures_and_the_others_state_that_they_have_none() -> None:
    without = {name for name, model in MODELS.items() if not model["figures"]}
    assert without == {"5g", "cloud-vm"}
    assert "No published quantile was fitted" in MODELS["5g"]["sources"][-1]["gives"]


def test_5g_has_the_slots_and_attempts_of_its_description() -> None:
    found = round_trips_ms("5g")
    # A packet that came in a turn upstream is answered in the next slot: at least 9 + 0.5 + 9 ms. The next
    # probe leaves at a fixed time after that, so it always waits as long for its turn.
    usual = float(np.median(found))
    assert float(np.min(found)) >= 18.5
    assert 18.5 <= usual <= 18.5 + 2.5
    attempts = (found - usual) / 2.5
    assert float(np.mean(np.abs(attempts) < 0.1)) == pytest.approx(0.9 * 0.9, abs=0.02)
    assert float(np.mean((attempts > 0.9) & (attempts < 1.1))) == pytest.approx(2 * 0.9 * 0.09, abs=0.02)
    assert float(np.quantile(attempts, 0.999)) <= 4


def test_leo_holds_packets_back_at_each_reconfiguration() -> None:
    text = PROBES.format(name="leo", seconds=61, gap="5 ms")
    rtt = ns.parse(text).run(seed=1, record=["rtt"]).series("rtt")
    rtt = rtt.filter(rtt["end"] == "client")
    time, value = rtt["time_s"].to_numpy(), rtt["value"].to_numpy()
    late = value > 0.09
    assert late.sum() >= 4
    phase = time[late & (time > 1)] % 15
    # A packet that waits is sent at the latest 140 ms after the change, and its answer is a round trip away.
    assert float(np.mean(phase < 0.5)) > 0.9


def test_a_cloud_machine_sends_at_full_rate_until_its_budget_is_used_up() -> None:
    path = '{ model = "cloud-vm", rate = "100 Mbit/s", baseline = "10 Mbit/s", budget = "22.5 MB" }'
    result = ns.parse(BULK.format(seconds=8, path=path + QUEUE, source="user", sink="net")).run(seed=1)
    sent = int(result.links.filter(result.links["direction"] == "user->net")["bytes"][0])
    # 22.5 MB beyond the baseline last 2 s at 90 Mbit/s above it: 25 MB, and then 6 s at 10 Mbit/s.
    assert sent == pytest.approx(25e6 + 7.5e6, rel=0.05)


def test_a_cloud_machine_receives_at_full_rate() -> None:
    path = '{ model = "cloud-vm", rate = "100 Mbit/s", baseline = "10 Mbit/s", budget = "22.5 MB" }'
    result = ns.parse(BULK.format(seconds=8, path=path, source="net", sink="user")).run(seed=1)
    assert float(result.flows["goodput_bps"][0]) > 90e6


@pytest.mark.parametrize(("name", "least"), [("adsl", 0.9), ("vdsl", 0.9), ("docsis", 0.7), ("lte", 0.85)])
def test_tcp_gets_most_of_the_rate_to_the_user(name: str, least: float) -> None:
    result = ns.parse(BULK.format(seconds=20, path=f'"{name}"', source="net", sink="user")).run(seed=1)
    rate = MODELS[name]["link"]["rate"]
    assert float(result.flows["goodput_bps"][0]) > least * 1e6 * mbps(
        rate[1] if isinstance(rate, list) else rate
    )


def test_wifi_is_one_medium_for_both_directions() -> None:
    assert MODELS["wifi"]["link"]["duplex"] == "half"
    assert not re.search("rate = \\[", MODELS["wifi"]["toml"])
