"""Reading delay records, lines through them, and timers replayed over them: the native module does the work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netspurt.analysis import regression, rto_replay
from netspurt.cli import main
from netspurt.errors import RequestError
from netspurt.inputs import delays

pytest.importorskip("netspurt._core")

GOOD = "time_s,delay_ms,length_octets,host\n0,100,40,a\n1,,40,a\n2,120,80,a\n0,50,40,b\n1,400,60,b\n"

PATH = """
line = [{ octets = [40, 125], delay = ["336 ms", "967 ms"] }, { octets = [125, 256], delay = ["1188 ms", "1403 ms"] }]
split = 126
glitch = { every = 160 }
calibrate = { mean = "865 ms", cov = 1.13, lost = 20 }
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.csv"
    file.write_text(GOOD, encoding="utf-8")
    return file


@pytest.fixture
def synthetic(tmp_path: Path) -> Path:
    file = tmp_path / "berk.toml"
    file.write_text(PATH, encoding="utf-8")
    return file


def test_each_host_of_a_file_is_a_path_of_its_own(good: Path) -> None:
    a, b = delays.read(str(good))
    assert (a.host, b.host) == ("a", "b")
    assert a.lost.tolist() == [False, True, False]
    np.testing.assert_allclose(a.delay_s[[0, 2]], [0.1, 0.12])
    np.testing.assert_allclose(b.octets, [40, 60])


def test_round_trips_are_halved_and_rows_are_put_in_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "rtt.csv"
    file.write_text("rtt_ms,time_s\n300,7\n200,3\n", encoding="utf-8")
    (path,) = delays.read(str(file))
    assert path.time_s.tolist() == [3.0, 7.0]
    np.testing.assert_allclose(path.delay_s, [0.1, 0.15])
    assert np.isnan(path.octets).all()


def test_parquet_holds_the_same(tmp_path: Path, good: Path) -> None:
    import polars as pl

    file = tmp_path / "good.parquet"
    pl.read_csv(good).with_columns(more=pl.lit("x")).write_parquet(file)
    for one, other in zip(delays.read(str(good)), delays.read(str(file)), strict=True):
        np.testing.assert_array_equal(one.delay_s, other.delay_s)
        assert one.host == other.host


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time_s,delay_ms\n0,100\n1,-5\n", "row 2: delay_ms is -5, not a number of 0 or more"),
        (
            "time_s,delay_ms\n0,nan\n",
            "row 1: delay_ms is nan, not a number of 0 or more; a lost packet has an empty field",
        ),
        ("time_s,delay_ms\n0,inf\n", "row 1: delay_ms is inf"),
        ("time_s,delay_ms\n0,5\n1,soon\n", "row 2: delay_ms is 'soon', which is not a number"),
        ("time_s,delay_ms\n0,5\n,6\n", "row 2: time_s is empty"),
        ("time_s,delay_ms\n0,5\n1\n2,5\n", "row 2: it has 1 field, and the header line 2"),
        ("time_s,delay_ms\n0,5\n1,6,7\n", "row 2: it has 3 fields, and the header line 2"),
        ("time_s,dely_ms\n0,5\n", "has no column delay_ms or rtt_ms, is it 'dely_ms'?"),
        ("when,delay_ms\n0,5\n", "has no column time_s"),
        ("time_s,delay_ms\n", "has a header line but no rows"),
        ("", "is empty"),
    ],
)
def test_an_error_in_a_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text, encoding="utf-8")
    for command in ("rto", "delays"):
        assert main([command, str(file)]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert "bad.csv" in said
        assert said.count("\n") == 1


def test_a_file_without_delays_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "noise.csv"
    binary.write_bytes(bytes(range(256)) * 4)
    fake = tmp_path / "fake.parquet"
    fake.write_bytes(b"not parquet at all")
    for file, words in (
        (binary, "not text"),
        (fake, "Parquet"),
        (tmp_path, "directory"),
        (tmp_path / "no", "no file"),
    ):
        assert main(["rto", str(file)]) == 2
        assert words in capsys.readouterr().err


def test_a_batch_continues_with_the_other_files_and_exits_with_1(
    tmp_path: Path, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("time_s,delay_ms\n0,-1\n", encoding="utf-8")
    assert main(["rto", str(bad), str(good), "--estimator", "linux", "--json"]) == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert [row["host"] for row in document["results"] if row["estimator"] == "linux"] == ["a", "b"]
    assert len(document["errors"]) == 1
    assert "row 1" in document["errors"][0]
    assert "row 1" in captured.err


def test_the_table_has_the_columns_that_scripts_rely_on(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rto", str(good), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    row = next(row for row in rows if row["host"] == "a" and row["estimator"] == "rfc889")
    # Delays 100, lost, 120: E = 0.1, and the loss costs 0.2; the mean takes the loss for zero.
    assert row["lost"] == 1
    assert row["rtx"] == 0
    assert row["rtx_s"] == 0.0
    assert row["mean_ms"] == pytest.approx(220 / 3)
    assert row["received_mean_ms"] == pytest.approx(110)
    assert row["lost_s"] == pytest.approx(0.2)
    assert row["total_s"] == pytest.approx(0.42)
    assert row["efficiency"] == pytest.approx(0.22 / 0.42)
    # Timeouts of 200 ms, delays of 100 and 120.
    assert row["late_p5_ms"] == pytest.approx(80)
    assert row["late_max_ms"] == pytest.approx(100)
    bounds = {row["estimator"]: row for row in rows if row["bound"] and row["host"] == "a"}
    assert bounds["oracle"]["lost_s"] == pytest.approx(0.11)


def test_no_estimator_beats_the_bounds(synthetic: Path) -> None:
    (path,) = delays.read(str(synthetic), seed=3)
    names = [*rto_replay.ESTIMATORS, "tahoe", "fixed:rto=2s", "fixed:rto=5s"]
    rows = rto_replay.table(path, [(name, rto_replay.estimator(name)) for name in names], "document")
    by_name = {row["estimator"]: row for row in rows}
    for name in ("fixed:rto=2s", "fixed:rto=5s"):
        assert by_name[name]["efficiency"] <= by_name["best constant"]["efficiency"]
    assert all(row["efficiency"] <= by_name["oracle"]["efficiency"] for row in rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lunix", "linux"),
        ("linux:min=50", "50 ms"),
        ("rfc889:f1=2", "f1"),
        ("rfc889:f1", "key=value"),
        ("fixed", "parameters"),
    ],
)
def test_an_estimator_that_cannot_be_is_refused(
    good: Path, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert main(["rto", str(good), "--estimator", words]) == 2
    assert said in capsys.readouterr().err


def test_a_grid_finds_its_optimum_and_reports_whether_it_is_significant(
    synthetic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "grid.svg"
    arguments = [
        "--grid",
        "rfc889:f1=0.75..0.95/3,g=1.2|2|4",
        "--jobs",
        "2",
        "--plot",
        str(picture),
        "--json",
    ]
    assert main(["rto", str(synthetic), *arguments]) == 0
    (grid,) = json.loads(capsys.readouterr().out)["grids"]
    assert grid["axes"] == {"f1": ["0.75", "0.85", "0.95"], "g": ["1.2", "2", "4"]}
    efficiency = np.array(grid["efficiency"])
    assert efficiency.shape == (3, 3)
    best = tuple(grid["axes"][key].index(grid["best"][key]) for key in ("f1", "g"))
    assert efficiency[best] == efficiency.max()
    assert np.array(grid["alike"])[best]
    assert "bootstrap over 32 blocks" in grid["statement"]
    assert sorted(path.name for path in tmp_path.glob("grid-*.svg")) == ["grid-1.svg", "grid-2.svg"]


def test_members_of_equal_cost_are_indistinguishable_and_others_are_not() -> None:
    cost = np.random.default_rng(5).exponential(size=(1, 32))
    noise = np.random.default_rng(6).normal(scale=0.3, size=(1, 32))
    told = rto_replay.alike(np.vstack([cost, cost + noise - noise.mean() + 0.001, cost + 0.5]), best=0)
    assert told.tolist() == [True, True, False]


def test_a_synthetic_path_has_the_requested_statistics(
    synthetic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rto", str(synthetic), "--estimator", "rfc889", "--seed", "9", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["results"][0]
    assert (row["cycles"], row["lost"]) == (512, 20)
    assert row["mean_ms"] == pytest.approx(865)
    assert row["cov"] == pytest.approx(1.13, rel=1e-5)


def test_a_mistake_in_a_synthetic_path_is_named_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('line = [{ delay = ["1 s", "2 s"] }]\nnosie = 1\n', encoding="utf-8")
    assert main(["rto", str(file)]) == 2
    assert "bad.toml:2:1" in capsys.readouterr().err


def test_a_trace_of_a_simulated_run_is_a_path_for_each_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = Path(__file__).parents[3] / "examples" / "satellite.toml"
    trace = tmp_path / "run.parquet"
    assert main(["run", str(scenario), "--trace", str(trace), "--json"]) == 0
    flow = json.loads(capsys.readouterr().out)["flows"][0]
    paths = delays.read(str(trace))
    sender = next(path for path in paths if "earth" in path.host)
    known = sender.delay_s[~sender.lost]
    assert 2 * known.mean() == pytest.approx(flow["rtt_mean_s"], rel=1e-6)
    assert 0 < sender.lost.sum() <= flow["retransmitted"]
    assert main(["rto", str(trace), "--estimator", "linux"]) == 0


def test_a_line_is_found_in_the_noise() -> None:
    rng = np.random.default_rng(1)
    octets = np.maximum(rng.integers(0, 257, 512), 40).astype(float)
    delay_s = 0.09 + 0.00084 * octets + rng.normal(scale=0.01, size=octets.size)
    fit = regression.line(octets, delay_s)
    assert fit is not None
    low, high = fit.slope_interval
    assert low < 0.00084 < high
    assert fit.rate_interval_bps[0] < 8 / 0.00084 < fit.rate_interval_bps[1]
    assert fit.interval_at(148)[0] < 0.09 + 0.00084 * 148 < fit.interval_at(148)[1]


def test_least_squares_agree_with_scipy() -> None:
    from scipy.stats import linregress

    rng = np.random.default_rng(2)
    octets, delay_s = rng.uniform(40, 256, 100), rng.uniform(0.1, 1, 100)
    mine, theirs = regression.line(octets, delay_s), linregress(octets, delay_s)
    assert mine is not None
    assert (mine.slope, mine.intercept) == pytest.approx((theirs.slope, theirs.intercept))
    reach = (mine.slope_interval[1] - mine.slope_interval[0]) / 2
    assert reach == pytest.approx(1.984467 * theirs.stderr, rel=1e-5)


def test_a_few_glitches_do_not_move_theil_and_sens_line() -> None:
    octets = np.linspace(40, 256, 300)
    delay_s = 0.1 + 0.001 * octets
    delay_s[::25] += 20.0 * (octets[::25] > 150)
    plain, robust = regression.line(octets, delay_s), regression.line(octets, delay_s, "theil-sen")
    assert plain is not None
    assert robust is not None
    assert robust.slope == pytest.approx(0.001, rel=1e-3)
    assert abs(plain.slope - 0.001) > 0.001


def test_a_step_is_found_and_none_where_there_is_none() -> None:
    rng = np.random.default_rng(3)
    octets = np.maximum(rng.integers(0, 257, 512), 40).astype(float)
    noise = rng.gamma(25, 1 / 25, octets.size)
    stepped = np.where(octets < 126, 0.336 + 0.0074 * (octets - 40), 1.188 + 0.0016 * (octets - 125)) * noise
    found = regression.find_split(octets, stepped)
    assert found is not None
    assert 120 <= found <= 130
    assert regression.find_split(octets, (0.1 + 0.001 * octets) * noise) is None


def test_split_robust_and_pictures_from_the_command_line(
    synthetic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "delays.png"
    assert (
        main(["delays", str(synthetic), "--split", "126", "--robust", "--plot", str(picture), "--json"]) == 0
    )
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["split"] == 126
    assert [line["method"] for line in result["lines"]] == ["least squares"] * 2 + ["theil-sen"] * 2
    assert sum(each["packets"] for each in result["loss_by_length"]) == 512
    assert sum(each["lost"] for each in result["loss_by_length"]) == 20
    assert picture.exists()
    assert (tmp_path / "delays-histogram.png").exists()
    assert main(["delays", str(synthetic), "--split", "often"]) == 2


def test_without_lengths_there_is_no_line_and_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "plain.csv"
    file.write_text("time_s,delay_ms\n0,1\n1,2\n", encoding="utf-8")
    assert main(["delays", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["lines"] == []
    assert main(["delays", str(file)]) == 0
    assert "no line" in capsys.readouterr().out


def test_a_picture_in_an_unknown_format_is_refused(good: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"the name must end in \.svg"):
        from netspurt import plot
        from netspurt.plot import delays as plot_delays

        plot.save(plot_delays.histogram(np.array([0.1, 0.2]), "x"), tmp_path / "x.docx")


def test_the_interval_of_a_loss_rate_is_wilsons() -> None:
    """One of ten, by the closed form (Wilson 1927)."""
    octets = np.full(10, 100.0)
    (found,) = regression.loss_by_length(octets, np.arange(10) == 0)
    z = 1.959963984540054
    middle, reach = 1 + z * z / 2, z * np.sqrt(0.9 + z * z / 4)
    assert found.interval == pytest.approx(((middle - reach) / (10 + z * z), (middle + reach) / (10 + z * z)))
