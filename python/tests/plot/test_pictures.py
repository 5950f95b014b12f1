"""Pictures, by their data: what stands where, what thinning keeps, and what can be told apart without colour."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netspurt as ns
from netspurt.cli import main
from netspurt.plot.chart import Axis, Chart, Trace
from netspurt.plot.palette import MANY, REASONS
from netspurt.plot.runs.throughput import acknowledged
from netspurt.plot.thinning import thin

pytest.importorskip("netspurt._core", reason="the native module is not built")

SCENARIO = """
duration = "60 s"
[link.line]
between = ["a", "b"]
rate = "2 Mbit/s"
delay = "40 ms"
queue = { kind = "drop-tail", limit = "12 packets" }
loss = { kind = "packet-error", rate = 0.01 }
[tcp]
profile = "linux"
[[flow]]
app = { kind = "bulk", bytes = "400 kB" }
from = "a"
to = "b"
count = 2
"""

CHARTS = (
    *("time_sequence", "windows", "cwnds", "round_trips", "queues", "throughput", "round_trip_distribution"),
)


@pytest.fixture(scope="module")
def result() -> ns.Result:
    return ns.parse(SCENARIO, "line.toml").run(1)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("swept") / "sweep"
    grid = {"link.line.delay": ["5 ms", "20 ms", "1 s"], "link.line.loss.rate": [0.0, 0.01]}
    ns.sweep(ns.parse(SCENARIO, "line.toml"), grid=grid, seeds=2, out=out, jobs=1)
    return out


def _points(seed: int, size: int, buckets: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Columns with ties, gaps and long silences, quickly: numpy draws them, hypothesis their seed and size."""
    draw = np.random.default_rng(seed)
    x = np.sort(np.round(draw.exponential(10.0, size) ** draw.uniform(0.5, 3), int(draw.integers(0, 4))))
    y = np.round(draw.normal(0, 1e3, size), int(draw.integers(0, 3)))
    y[draw.random(size) < draw.choice([0.0, 0.1, 0.9])] = np.nan
    return x, y, buckets


places = st.builds(_points, st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 50))


@given(places)
def test_thinning_keeps_the_extremes_and_the_ends_of_every_bucket(
    case: tuple[np.ndarray, np.ndarray, int],
) -> None:
    x, y, buckets = case
    kept = thin(x, y, buckets)
    assert np.all(np.diff(kept) > 0)
    assert {0, x.size - 1} <= set(kept)
    width = x[-1] - x[0]
    number = np.zeros(x.size, dtype=int)
    if width > 0:
        number = np.minimum(((x - x[0]) / width * buckets).astype(int), buckets - 1)
    for bucket in np.unique(number):
        own, stay = y[number == bucket], y[kept[number[kept] == bucket]]
        if np.isnan(own).all():
            continue
        assert np.nanmin(stay) == np.nanmin(own)
        assert np.nanmax(stay) == np.nanmax(own)


@given(places)
def test_thinning_keeps_few_points_and_every_gap(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    x, y, buckets = case
    kept = thin(x, y, buckets)
    gaps = np.isnan(y) & ~np.concatenate(([False], np.isnan(y)[:-1]))
    assert set(np.flatnonzero(gaps)) <= set(kept)
    assert kept.size <= 4 * buckets + gaps.sum()


def test_a_million_points_are_thinned_to_what_a_page_can_show() -> None:
    x = np.arange(1_000_000) / 1e3
    y = np.sin(x)
    y[654_321] = 99.0
    shown = Trace("wave", x, y).thinned(2000)
    assert shown.x.size <= 8000
    assert shown.y.max() == 99.0
    assert shown.y.min() == y.min()


def test_strokes_keep_both_of_their_ends() -> None:
    x = np.arange(100_000.0)
    low = np.zeros(x.size)
    low[777] = -5.0
    shown = Trace("segments", x, np.ones(x.size), "strokes", low=low).thinned(100)
    assert shown.low is not None
    assert shown.low.min() == -5.0
    assert shown.low.size == shown.y.size == shown.x.size


def test_a_staircase_continues_from_its_last_step() -> None:
    stairs = Trace("queue", np.array([0.0, 1.0, 5.0]), np.array([1.0, 2.0, 3.0]), "steps")
    cut = stairs.between(2.0, 4.0)
    assert cut.x.tolist() == [2.0, 4.0]
    assert cut.y.tolist() == [2.0, 2.0]
    counted = Trace("drops", np.arange(10.0), np.zeros(10), "points", counted=10).between(2.0, 4.0)
    assert counted.label == "drops (3)"


@pytest.mark.parametrize("name", CHARTS)
def test_parts_of_a_picture_differ_without_colour(name: str, result: ns.Result) -> None:
    chart: Chart = getattr(ns.plot, f"{name}_chart")(result)
    assert chart.points > 0
    looks = [(trace.shape, str(trace.dash), trace.marker, trace.width) for trace in chart.traces]
    assert len(set(looks)) == len(looks), looks
    for trace in chart.traces:
        assert trace.x.size == trace.y.size > 0
        assert np.all(np.diff(trace.x) >= 0), trace.name
    for axes in getattr(ns.plot, name)(result).axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()


def test_no_two_of_many_lines_look_alike_in_grey() -> None:
    assert len({str(dash) for _, dash, _ in MANY}) == len(MANY)
    marks = [marker for _, marker, _ in REASONS.values()]
    assert len(set(marks)) == len(marks)


def test_the_time_sequence_graph_shows_every_segment(result: ns.Result) -> None:
    chart = ns.plot.time_sequence_chart(result)
    segments = result.scenario.run(1, record=["segments"]).segments
    own = segments.filter(pl.col("index") == int(chart.title.split()[-1]), pl.col("from_client"))
    data = own.filter(pl.col("length") > 0)
    drawn = {trace.name: trace for trace in chart.traces}
    resent = data.filter(pl.col("reason").is_in(list(REASONS)))
    assert drawn["new data"].x.size == data.height - resent.height
    assert (
        sum(trace.counted or 0 for trace in chart.traces if trace.name.startswith("retransmitted"))
        == resent.height
    )
    strokes = drawn["new data"]
    assert strokes.low is not None
    assert (strokes.y - strokes.low).max() * 1024 == pytest.approx(data["length"].max())
    assert "SACK" in drawn
    assert np.all(np.diff(drawn["acknowledged"].y) >= 0)


def test_a_capture_gives_the_same_time_sequence_graph_as_its_run(result: ns.Result, tmp_path: Path) -> None:
    # With room in the queue nothing is lost before it comes to where the capture is taken.
    alone = result.scenario.set(
        {
            "flow.0.count": 1,
            "link.line.loss.rate": 0.03,
            "link.line.queue": {"kind": "drop-tail", "limit": "500 packets"},
        }
    )
    run = alone.run(1, pcap=tmp_path / "line.pcapng")
    seen = ns.plot.time_sequence_chart(tmp_path / "line.pcapng")
    sent = ns.plot.time_sequence_chart(run)
    theirs, ours = ({trace.name: trace for trace in chart.traces} for chart in (seen, sent))
    for name in ("new data", "acknowledged"):
        assert theirs[name].x.size == pytest.approx(ours[name].x.size, rel=0.05)
        assert theirs[name].y.max() == pytest.approx(ours[name].y.max(), rel=1e-3)
    assert "SACK" in theirs
    assert any(name.startswith("retransmitted") for name in theirs)


def test_the_limits_of_a_scenario_are_drawn_without_gaps(tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(SCENARIO)
    run = ns.load(path).run(1, record=["limits"])
    chart = ns.plot.limits_chart(run, 0)
    assert "bottleneck" in chart.alt()
    ends = [trace.x.reshape(-1, 3)[:, :2] for trace in chart.traces]
    drawn = sum(float((rows[:, 1] - rows[:, 0]).sum()) for rows in ends)
    series = run.series("limit").filter(pl.col("index") == 0, pl.col("end") == "client")
    assert drawn == pytest.approx(float((series["until_s"] - series["time_s"]).sum()))
    assert set(series["value"]) == {trace.name for trace in chart.traces}
    assert main(["plot", str(path), "--picture", "limits", "--out", str(tmp_path / "limits.svg")]) == 0


def test_limits_that_were_not_recorded_are_refused(result: ns.Result) -> None:
    assert result.limits.is_empty()
    with pytest.raises(ValueError, match="did not record its limits"):
        result.series("limit")


def test_a_flow_without_limits_is_named_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "line.toml"
    path.write_text(SCENARIO)
    assert main(["plot", str(path), "--picture", "limits", "--flow", "web"]) == 2
    assert "there is no flow 'web'; the flows are: bulk" in capsys.readouterr().err


@pytest.mark.parametrize("number", [0, 1])
def test_a_connection_of_a_capture_is_drawn_by_its_number(
    number: int, result: ns.Result, tmp_path: Path
) -> None:
    path, out = tmp_path / "line.pcapng", tmp_path / "out.csv"
    result.write_pcap(path)
    words = ["plot", str(path), "--connection", str(number), "--out", str(out)]
    expected = ns.why(path).intervals.filter((pl.col("connection") == number) & (pl.col("from") == "client"))
    start = ns.why(path).connections.filter(pl.col("connection") == number)["start_s"].item()
    assert main([*words, "--picture", "limits"]) == 0
    assert pl.read_csv(out)["time_s"].max() == pytest.approx(start + expected["until_s"].max())
    segments = ns.read_capture(path, record=["segments"]).segments
    sent = segments.filter(
        (pl.col("connection") == number) & (pl.col("from_client")) & (pl.col("length") > 0)
    )
    assert main([*words, "--picture", "time-sequence"]) == 0
    drawn = pl.read_csv(out).filter(pl.col("trace") == "new data")
    assert drawn["time_s"].min() == pytest.approx(sent["time_s"].min())
    assert drawn.height <= sent.height
    assert drawn["time_s"].max() <= sent["time_s"].max() + 1e-9


def test_a_connection_that_cannot_be_drawn_is_named(
    result: ns.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture, scenario = tmp_path / "line.pcapng", tmp_path / "line.toml"
    result.write_pcap(capture)
    scenario.write_text(SCENARIO)
    for words, said in (
        ([str(capture), "--connection", "2"], "there is no connection 2: the last one has the number 1"),
        ([str(capture), "--connection", "2", "--picture", "limits"], "the last one has the number 1"),
        ([str(scenario), "--connection", "9", "--picture", "limits"], "the last one has the number 1"),
        ([str(scenario), "--connection", "1"], "of a run, name a --flow"),
        ([str(capture), "--connection", "1", "--flow", "bulk"], "give one of them"),
        ([str(capture), "--connection", "1", "--picture", "throughput"], "has no effect on the picture"),
        ([str(capture), "--flow", "bulk", "--picture", "limits"], "choose with --connection N"),
    ):
        assert main(["plot", *words]) == 2
        assert said in capsys.readouterr().err


def test_throughput_adds_up_to_what_arrived_and_does_not_exceed_the_link(result: ns.Result) -> None:
    chart = ns.plot.throughput_chart(result, bin_s=0.5)
    together = next(trace for trace in chart.traces if trace.name == "total")
    # The last point only closes the last step.
    moved = together.y[:-1].sum() * 0.5 * 1e6 / 8
    segments = result.scenario.run(1, record=["segments", "arrivals"]).segments
    came = segments.filter(pl.col("arrives_s").is_finite())["length"].sum()
    assert moved == pytest.approx(came, rel=0.001)
    assert came >= 2 * 400_000
    (rate,) = set(re.findall(r'rate = "(\d+) Mbit/s"', SCENARIO))
    assert together.y.max() <= float(rate)


def test_throughput_of_a_capture_adds_up_to_what_was_acknowledged(result: ns.Result, tmp_path: Path) -> None:
    result.write_pcap(tmp_path / "run.pcapng")
    capture = ns.read_capture(tmp_path / "run.pcapng", record=["segments"])
    chart = ns.plot.throughput_chart(capture, bin_s=0.5)
    together = next(trace for trace in chart.traces if trace.name == "total")
    assert together.y[:-1].sum() * 0.5 * 1e6 / 8 == pytest.approx(2 * 400_000, rel=0.001)


def test_entries_of_a_legend_that_are_too_long_stand_below_each_other() -> None:
    long = [f"A: examples/{'satellite' * 6}.toml", "B: " + "tcp.receive_window = 64 KiB, " * 5]
    for names, columns in ((["cwnd", "ssthresh"], 2), (long, 1)):
        traces = [Trace(name, np.arange(3.0), np.arange(3.0), "line", colour="#000000") for name in names]
        chart = Chart("x", "x", Axis("time (s)", "time_s"), Axis("value", "value"), traces, "")
        figure = chart.draw()
        (legend,) = figure.legends
        assert legend._ncols == columns
        figure.draw_without_rendering()
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.get_figwidth() * figure.dpi + 1


def test_the_queue_never_exceeds_its_limit_and_every_drop_is_marked(result: ns.Result) -> None:
    chart = ns.plot.queues_chart(result)
    drops = result.scenario.run(1, record=["drops"]).drops
    assert max(trace.y.max() for trace in chart.traces if trace.shape == "steps") <= 12
    assert sum(trace.counted or 0 for trace in chart.traces) == drops.height


def test_the_axis_of_windows_ignores_an_unused_cwnd() -> None:
    text = SCENARIO.replace('profile = "linux"', 'profile = "newreno"\nreceive_window = "4 KiB"').replace(
        "0.01", "0.0"
    )
    chart = ns.plot.windows_chart(ns.parse(text).run(1))
    assert chart.y.top is None or chart.y.top == pytest.approx(1.3 * 4, rel=0.3)


def test_a_sweep_is_drawn_with_its_values_in_order(swept: Path) -> None:
    chart = ns.plot.curves_chart(swept, where={"link.line.loss.rate": "0.010"})
    assert chart.x.label == "link.line.delay (s)"
    (line,) = [trace for trace in chart.traces if trace.shape == "line"]
    assert line.x.tolist() == pytest.approx([0.005, 0.02, 1.0])
    means = ns.read_sweep(swept).summary("goodput_bps").filter(pl.col("link.line.loss.rate") == 0.01)
    assert sorted(line.y) == pytest.approx(sorted(means["mean"] / 1e6))
    of = ns.plot.heat_map_data(swept)
    assert of.columns == ["5 ms", "20 ms", "1 s"]
    assert of.rows == ["0", "0.01"]
    (values,) = of.panels.values()
    assert np.isfinite(values).all()
    assert len(ns.plot.heat_map(swept).axes) == 2
    assert {trace.counted for trace in ns.plot.spread_chart(swept).traces} == {12}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{file}", "--picture", "heat-map"], "cannot be drawn of a run"),
        (["{sweep}", "--picture", "windows"], "cannot be drawn of a sweep"),
        (["{file}", "--flow", "nobody"], "no segment of a flow 'nobody'"),
        (["{file}", "--picture", "queues", "--link", "nowhere"], "no queue at a link 'nowhere'"),
        (["{file}", "--out", "x.doc"], "end the name in .svg, .pdf, .png"),
        (["{sweep}", "--where", "link.line.dely=5"], "did you mean 'link.line.delay'"),
        (["{sweep}", "--where", "link.line.delay=7 ms"], "is never 7 ms"),
        (["{sweep}", "--quantity", "goodputs"], "no column 'goodputs'"),
        (["{sweep}", "--set", "a=1"], "--set changes a scenario"),
        (["{sweep}", "--seed", "2"], "--seed is that of a run"),
        (["{sweep}", "--y", "link.line.delay"], "--y has no effect on the picture curves of a sweep"),
        (["{sweep}", "--begin", "1s"], "--begin has no effect on the picture curves of a sweep"),
        (["{sweep}", "--flow", "nobody"], "flow is never nobody"),
        (["nothing.toml"], "there is no nothing.toml"),
    ],
)
def test_an_input_that_cannot_be_drawn_is_refused_in_a_sentence(
    words: list[str],
    sentence: str,
    swept: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.toml").write_text(SCENARIO)
    assert main(["plot", *(word.format(file="line.toml", sweep=swept) for word in words)]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".svg", ".doc")]


def test_the_command_draws_every_source_in_every_format(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.toml").write_text(SCENARIO)
    assert (
        main(["run", "line.toml", "--trace", "line.parquet", "--pcap", "line.pcapng", "--out", "kept"]) == 0
    )
    for number, (source, picture, ending) in enumerate(
        (
            ("line.toml", "time-sequence", "svg"),
            ("line.parquet", "queues", "pdf"),
            ("line.pcapng", "windows", "png"),
            ("kept", "round-trips", "csv"),
            (str(swept), "curves", "svg"),
            (str(swept), "heat-map", "parquet"),
        )
    ):
        capsys.readouterr()
        out = f"{number}.{ending}"
        assert main(["plot", source, "--picture", picture, "--out", out, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["picture"], told["file"]) == (picture, out)
        assert (tmp_path / out).stat().st_size > 1000
    pdf = (tmp_path / "1.pdf").read_bytes()
    assert b"/FontFile2" in pdf or b"/CIDFontType2" in pdf, "fonts are embedded as TrueType"
    svg = (tmp_path / "0.svg").read_text()
    assert "<text" not in svg, "glyphs are outlines"
    assert re.search(r"font-family", svg) is None


def test_a_chart_as_a_table_has_units_in_its_columns() -> None:
    trace = Trace("one", np.array([0.0, 1.0]), np.array([2.0, np.nan]))
    chart = Chart("x", "Title", Axis("time (s)", "time_s"), Axis("rate (Mbit/s)", "rate_mbps"), [trace])
    assert chart.table().to_dicts() == [{"trace": "one", "time_s": 0.0, "rate_mbps": 2.0}]
    assert chart.alt() == "Title. X axis: time (s); y axis: rate (Mbit/s). one from 2 to 2."


def test_throughput_of_a_capture_counts_data_when_it_is_reported() -> None:
    """Bytes 0 to 100 are lost; those up to 400 are reported by SACK before the ACK covers all."""
    rows = [
        (0.0, 0, -1, -1),
        (1.0, 0, 100, 200),
        (2.0, 0, 300, 400),
        (3.0, 0, 200, 300),
        (4.0, 350, 350, 400),
    ]
    segments = pl.DataFrame(
        [
            {
                "time_s": at,
                "stream": "one",
                "from_client": False,
                "length": 0,
                "ack": ack,
                "sack_from": low,
                "sack_until": high,
            }
            for at, ack, low, high in [*rows, (5.0, 500, -1, -1)]
        ]
    )
    ((times, gains),) = acknowledged(segments).values()
    assert times.tolist() == [1, 2, 4, 5]
    assert gains.tolist() == [100, 100, 200, 100]


def test_the_axis_of_windows_of_a_capture_ignores_an_unused_receive_window(tmp_path: Path) -> None:
    text = SCENARIO.replace('profile = "linux"', 'profile = "linux"\nreceive_window = "6 MiB"')
    ns.parse(text).run(1).write_pcap(tmp_path / "run.pcapng")
    chart = ns.plot.windows_chart(ns.read_capture(tmp_path / "run.pcapng", record=["segments", "flight"]))
    most = {trace.name: float(np.nanmax(trace.y)) for trace in chart.traces}
    assert chart.y.top == pytest.approx(1.3 * most["in flight"])
    assert most["receive window"] > chart.y.top


def test_throughput_without_sack_counts_a_segment_at_each_duplicate_ack() -> None:
    """Bytes 0 to 100 and 300 to 400 are lost; each duplicate ACK stands for a segment that arrived after them."""
    acks = [
        (0.0, 0),
        (1.0, 0),
        (1.1, 0),
        (1.2, 0),
        (1.3, 0),
        (2.0, 300),
        (2.1, 300),
        (3.0, 700),
        (4.0, 800),
        (4.1, 900),
    ]
    data = [(0.0, 0, 100, True), *((at, ack, 0, False) for at, ack in acks)]
    segments = pl.DataFrame(
        [
            {
                "time_s": at,
                "stream": "one",
                "from_client": client,
                "length": length,
                "ack": ack,
                "sack_from": -1,
                "sack_until": -1,
            }
            for at, ack, length, client in data
        ]
    )
    ((times, gains),) = acknowledged(segments).values()
    assert times.tolist() == [1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 3.0, 4.0, 4.1]
    assert gains.tolist() == [100.0] * 9
