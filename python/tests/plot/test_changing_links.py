"""Capacity and delay of links that change stand in the plots of a run; two runs are drawn by the RTTs of a flow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("netspurt._core", reason="the native module is not built")

import netspurt as ns
from netspurt.cli import main
from netspurt.errors import RequestError
from netspurt.inputs.link_states import changing
from netspurt.plot.chart import Chart, Trace

TEXT = """
duration = "10 s"
[link."a.b"]
between = ["home", "net"]
rate = ["2 Mbit/s", "8 Mbit/s"]
delay = "10 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
[link.still]
between = ["net", "far"]
rate = "50 Mbit/s"
[[change]]
at = "2 s"
every = "4 s"
until = "7 s"
set = { 'link."a.b".rate.1' = "4 Mbit/s", 'link."a.b".up.0' = false }
[[change]]
at = "3 s"
set = { 'link."a.b".delay' = ["30 ms", "40 ms"], 'link."a.b".up' = true }
[[flow]]
from = "far"
to = "home"
app = { kind = "bulk" }
"""


def _traces(chart: Chart) -> dict[str, Trace]:
    return {trace.name: trace for trace in chart.traces}


def test_the_steps_of_a_link_are_those_of_its_changes() -> None:
    there, back = changing(ns.parse(TEXT).merged())
    assert (there.link, there.direction, back.direction) == ("a.b", "home->net", "net->home")
    assert there.rate_bps == ((0, 2e6), (2, 0), (3, 2e6), (6, 0))
    assert back.rate_bps == ((0, 8e6), (2, 4e6), (3, 4e6), (6, 4e6))
    assert (there.delay_s, back.delay_s) == (((0, 0.01), (3, 0.03)), ((0, 0.01), (3, 0.04)))
    counted = TEXT.replace('until = "7 s"', "count = 1")
    assert changing(ns.parse(counted).merged())[0].rate_bps == ((0, 2e6), (2, 0), (3, 2e6))


def test_the_throughput_has_the_capacity_behind_it_that_carries_it() -> None:
    traces = _traces(ns.plot.throughput_chart(ns.parse(TEXT).run(seed=1)))
    first = next(iter(traces))
    assert first == "capacity a.b, net->home"
    capacity = traces[first]
    assert list(capacity.y[:2]) == [8, 4]
    flow = next(trace for name, trace in traces.items() if not name.startswith("capacity"))
    # ACKs that waited while the other direction was down come together, so bins may be above the capacity.
    assert 4 < float(np.quantile(flow.y, 0.9)) < 8.8


def test_the_round_trips_have_the_delay_behind_them() -> None:
    chart = ns.plot.round_trips_chart(ns.parse(TEXT).run(seed=1))
    delay = _traces(chart)["delay a.b, there and back"]
    assert list(delay.y[:2]) == pytest.approx([20, 70])


def test_links_that_do_not_change_draw_nothing_more() -> None:
    text = TEXT[: TEXT.index("[[change]]")] + TEXT[TEXT.index("[[flow]]") :]
    result = ns.parse(text).run(seed=1)
    for chart in (ns.plot.throughput_chart(result), ns.plot.round_trips_chart(result)):
        assert not [name for name in _traces(chart) if name.startswith(("capacity", "delay"))]


def test_two_runs_are_drawn_by_the_round_trips_of_a_flow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text(TEXT)
    Path("b.toml").write_text(TEXT.replace("50 packets", "5 packets"))
    comparison = ns.compare("a.toml", "b.toml")
    longer, shorter = (trace.x for trace in comparison.chart("bulk").traces)
    assert float(np.median(longer)) > float(np.median(shorter))
    with pytest.raises(RequestError, match="has no RTTs of a flow 'call' to draw; its flows are: bulk"):
        comparison.chart("call")
    words = ["compare", "a.toml", "b.toml", "--round-trips", "bulk"]
    assert main([*words, "--plot", "d.svg"]) == 0
    assert Path("d.svg").exists()
    assert main(words) == 2
    assert "--round-trips changes the picture of --plot" in capsys.readouterr().err


def test_the_capacity_of_a_recording_stands_behind_the_throughput() -> None:
    text = """
    duration = "5 s"
    [link.line]
    between = ["a", "b"]
    delay = "5 ms"
    queue = { kind = "drop-tail", limit = "50 packets" }
    trace = [
        { kind = "rates", times = ["0 s", "1 s"], rates = ["8 Mbit/s", "4 Mbit/s"], repeat = "2 s" },
        { kind = "mahimahi", milliseconds = [1, 2, 3] },
    ]
    [[flow]]
    app = { kind = "bulk" }
    from = "a"
    to = "b"
    """
    traces = {trace.name: trace for trace in ns.plot.throughput_chart(ns.parse(text).run(seed=1)).traces}
    capacity = traces["capacity line, a->b"]
    assert list(zip(capacity.x, capacity.y, strict=True))[:4] == [(0, 8), (1, 4), (2, 8), (3, 4)]
    assert max(traces["bulk"].y) <= 8
    assert not any("b->a" in name for name in traces), "instants have no rate"
