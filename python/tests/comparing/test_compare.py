"""Two of a kind side by side: what pairs say, and where two histories part."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import sweeps
from scipy import stats

import netspurt as ns
from netspurt.analysis import formats
from netspurt.analysis.paired import paired, sentence
from netspurt.cli import main
from netspurt.comparing import history
from netspurt.errors import RequestError
from netspurt.plot.sweeps.changes import Change, ruler_of
from netspurt.plot.swept import in_units

pytest.importorskip("netspurt._core", reason="the native module is not built")


@pytest.fixture
def scenario(tmp_path: Path) -> ns.Scenario:
    sweeps.written(tmp_path)
    return ns.load(tmp_path / "scenario.toml")


def test_pairs_are_judged_as_by_the_t_test() -> None:
    # Student 1908, hours of sleep under two drugs, as in every textbook: t = 4.0621, p = 0.00283, mean 1.58.
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    pairs = paired(first, second)
    assert pairs.difference == pytest.approx(1.58)
    assert (pairs.low, pairs.high) == (pytest.approx(0.7001142), pytest.approx(2.4598858))
    assert pairs.p == pytest.approx(0.002832890)
    assert pairs.effect == pytest.approx(4.0621 / math.sqrt(10), abs=1e-4)
    assert pairs.larger == pytest.approx(0.95)
    assert pairs.verdict == "distinguishable"
    assert pairs.size == "large"
    assert ", distinguishable from chance" in sentence(pairs, "sleep")


def test_pairs_that_all_differ_alike_have_no_interval() -> None:
    pairs = paired([1e6, 2e6], [1.5e6, 2.5e6])
    assert pairs.is_constant
    words = sentence(pairs, "bulk goodput", form=formats.rate)
    assert words == "bulk goodput: B is larger than A by 33.3 %, by 500 kbit/s in each of 2 pairs of runs."
    assert not paired([1.0], [2.0]).is_constant
    assert not paired([1.0, 1.0], [1.0, 1.0]).is_constant


def test_common_random_numbers_show_what_two_clouds_hide() -> None:
    luck = np.random.default_rng(5).normal(100, 30, 40)
    noise = np.random.default_rng(6).normal(0, 1, 40)
    first, second = luck, luck + 2 + noise
    assert stats.ttest_ind(first, second).pvalue > 0.5
    assert paired(first, second).verdict == "distinguishable"


def test_differences_by_chance_are_rarely_called_distinguishable() -> None:
    chance = np.random.default_rng(11)
    wrong = sum(paired(*chance.normal(0, 1, (2, 12))).verdict == "distinguishable" for _ in range(200))
    # 95 %: ten of two hundred, give or take three standard deviations.
    assert wrong <= 20


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], "same"),
        ([1.0], [2.0], "too few"),
        ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], "distinguishable"),
        ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0], "not distinguishable"),
    ],
)
def test_verdicts_depend_on_the_interval_of_the_pairs(a: list[float], b: list[float], verdict: str) -> None:
    pairs = paired(a, b)
    assert pairs.verdict == verdict
    assert sentence(pairs, "x").endswith(".")


def test_invalid_pairs_are_refused() -> None:
    for a, b in (([], []), ([1.0], [1.0, 2.0]), ([math.nan], [1.0])):
        with pytest.raises(ValueError, match="paired comparison"):
            paired(a, b)


def test_runs_are_paired_by_seed(scenario: ns.Scenario) -> None:
    other = scenario.set({"link.line.delay": "40 ms"})
    result = ns.compare(scenario, other, seeds=6, quantities=["goodput_bps"])
    (row,) = result.rows
    first, second = (
        [each.run(seed).flows["goodput_bps"][0] for seed in range(1, 7)] for each in (scenario, other)
    )
    assert row["a"] == pytest.approx(sum(first) / 6)
    assert row["difference"] == pytest.approx(sum(second) / 6 - sum(first) / 6)
    assert row["p"] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert row["verdict"] == "distinguishable"
    assert result.table.height == 1


def _interrupt_after(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C arrives during the run that follows so many."""
    run, left = ns.Scenario.run, iter(range(runs))

    def until_ctrl_c(self: ns.Scenario, seed: int = 1, record: Sequence[str] = ()) -> ns.Result:
        if not record and next(left, None) is None:
            raise KeyboardInterrupt
        return run(self, seed, record)

    monkeypatch.setattr(ns.Scenario, "run", until_ctrl_c)


def test_ctrl_c_leaves_the_comparison_of_the_complete_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupt_after(5, monkeypatch)
    words = ["compare", _file(tmp_path), _file(tmp_path), "--set-b", "link.line.delay=40 ms", "--seeds", "9"]
    assert main([*words, "--jobs", "1", "--json"]) == 130
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert {row["runs"] for row in document["rows"]} == {2}
    assert "2 complete pairs" in document["sentences"][-1]
    assert "the results are those of 2 of 9 pairs of runs" in err


def test_ctrl_c_before_the_first_pair_is_complete_leaves_nothing(
    scenario: ns.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupt_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        ns.compare(scenario, scenario, seeds=3)


def test_the_first_difference_is_the_first(scenario: ns.Scenario) -> None:
    other = scenario.set({"tcp.initial_window": "4 segments"})
    result = ns.compare(scenario, other)
    runs = [each.run(1, record=list(history.RECORD)) for each in (scenario, other)]
    tables = [run.segments.sort("time_s", maintain_order=True).rows() for run in runs]
    shared = next(n for n, (one, two) in enumerate(zip(*tables, strict=False)) if one != two)
    assert result.divergence is not None
    assert result.compared_seed == 1
    assert result.divergence.a is not None
    names = runs[0].segments.columns
    own = dict(zip(names, tables[0][shared], strict=True))
    assert result.divergence.time_s == min(tables[0][shared][0], tables[1][shared][0])
    assert {key: result.divergence.a[key] for key in ("time_s", "seq", "reason")} == {
        key: own[key] for key in ("time_s", "seq", "reason")
    }
    assert result.divergence.shared >= shared
    assert (result.parting, result.looked) == (result.divergence, result.compared_seed), (
        "the deprecated names"
    )


def test_a_loss_in_one_run_only_is_the_first_difference(scenario: ns.Scenario) -> None:
    clean = scenario.set({"link.line.loss": {"kind": "none"}})
    result = ns.compare(clean, scenario)
    assert result.divergence is not None
    assert result.divergence.b is not None
    assert result.divergence.b["event"] == "drop"
    assert "loses a packet" in history.sentence(result.divergence)


def test_a_run_that_only_goes_on_longer_differs_where_the_other_ends(scenario: ns.Scenario) -> None:
    runs = scenario.run(1, record=list(history.RECORD))
    whole = history.history(runs)
    divergence = history.first_divergence(whole.head(50), whole)
    assert divergence is not None
    assert (divergence.shared, divergence.a) == (50, None)
    assert "no further event" in history.sentence(divergence)
    assert history.first_divergence(whole, whole) is None


def test_the_same_scenario_has_the_same_history(scenario: ns.Scenario) -> None:
    result = ns.compare(scenario, scenario, seeds=3)
    assert result.divergence is None
    assert {row["verdict"] for row in result.rows} == {"same"}
    assert "identical histories" in result.sentences[-1]


def _file(tmp_path: Path) -> str:
    sweeps.written(tmp_path)
    return str(tmp_path / "scenario.toml")


def test_folders_of_runs_compare_like_their_scenarios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _file(tmp_path)
    slower = ["--set", "link.line.delay=40 ms"]
    assert main(["run", file, "--seeds", "3", "--out", str(tmp_path / "a")]) == 0
    assert main(["run", file, "--seeds", "3", "--out", str(tmp_path / "b"), *slower]) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    arguments = ["compare", file, file, "--set-b", "link.line.delay=40 ms", "--seeds", "3", "--json"]
    assert main(arguments) == 0
    made = json.loads(capsys.readouterr().out)
    assert stored["rows"] == made["rows"]
    assert stored["first_difference"] == made["first_difference"]
    assert made["first_difference"]["time_s"] > 0


def test_sweeps_are_compared_point_by_point(scenario: ns.Scenario, tmp_path: Path) -> None:
    grid = {"link.line.delay": ["1 ms", "20 ms"]}
    ns.sweep(scenario, grid=grid, seeds=4, out=tmp_path / "a")
    more = {"link.line.rate": "20 Mbit/s"}
    ns.sweep(scenario, grid=grid, seeds=6, settings=more, out=tmp_path / "b")
    result = ns.compare(tmp_path / "a", tmp_path / "b")
    assert [row["link.line.delay"] for row in result.rows] == ["1 ms", "20 ms"]
    assert [row["runs"] for row in result.rows] == [4, 4]
    assert all(row["difference"] > 0 for row in result.rows)


def test_captures_lie_side_by_side(tmp_path: Path, scenario: ns.Scenario) -> None:
    paths = []
    for name, delay in (("a", "10 ms"), ("b", "30 ms")):
        paths.append(tmp_path / f"{name}.pcapng")
        # On the wire: the queue of the sender's own link does not count there.
        scenario.set({"link.line.delay": delay}).run(1, pcap=paths[-1], capture=["line@a"])
    result = ns.compare(*paths)
    rows = {row["quantity"]: row for row in result.rows}
    assert rows["rtt_median_s"]["a"] == pytest.approx(0.02, rel=0.5)
    assert rows["rtt_median_s"]["b"] > rows["rtt_median_s"]["a"] + 0.03
    assert rows["rtt_median_s"]["a_low"] <= rows["rtt_median_s"]["a"] <= rows["rtt_median_s"]["a_high"]
    lines = result.plot().axes[0].lines
    assert [len(line.get_xdata()) for line in lines] == [
        1 + each.samples.filter(each.samples["method"] == "karn").height
        for each in (ns.read_capture(path, ["samples"]) for path in paths)
    ]


def test_traces_diverge_at_the_same_event_as_their_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _file(tmp_path)
    traces = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    main(["run", file, "--trace", traces[0]])
    main(["run", file, "--trace", traces[1], "--set", "tcp.initial_window=4 segments"])
    capsys.readouterr()
    assert main(["compare", *traces, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["first_difference"]["a"]["event"] == "segment"
    assert document["first_difference"]["time_s"] < 1


def test_the_picture_of_two_runs_shows_both_transfers(tmp_path: Path, scenario: ns.Scenario) -> None:
    figure = ns.compare(scenario, scenario.set({"link.line.delay": "40 ms"})).plot()
    (axes,) = figure.axes
    assert [line.get_ydata()[-1] for line in axes.lines] == pytest.approx([0.2, 0.2], abs=0.001)
    ends = [line.get_xdata()[-1] for line in axes.lines]
    assert ends[0] < ends[1]


def test_the_picture_of_differences_has_a_line_for_each_quantity(scenario: ns.Scenario) -> None:
    result = ns.compare(scenario, scenario.set({"link.line.delay": "40 ms"}), seeds=5)
    (axes,) = result.plot_differences().axes
    drawn = [row for row in result.rows if row["relative"] is not None and row["verdict"] != "same"]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        f"{row['name']}: {in_units(row['quantity'])[0].split(' (')[0]}".replace("->", "→") for row in drawn
    ]
    points = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert points == pytest.approx([100 * row["relative"] for row in drawn])


def test_results_of_two_versions_are_distinguished(tmp_path: Path, scenario: ns.Scenario) -> None:
    file = str(tmp_path / "scenario.toml")
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        assert main(["run", file, "--out", str(folder)]) == 0
    assert not any("made A" in sentence for sentence in ns.compare(*folders).sentences)
    versions = folders[1] / "versions.json"
    versions.write_text(json.dumps(json.loads(versions.read_text()) | {"netspurt": "0.0.9"}))
    (warning,) = (sentence for sentence in ns.compare(*folders).sentences if "made A" in sentence)
    assert "0.0.9 made B" in warning


def _change(middle: float, half: float = 1.0) -> Change:
    return Change("x", middle, (middle - half, middle + half), plain=True)


@pytest.mark.parametrize("far", [20.0, 400.0, 45_000.0, -99.0])
def test_a_ruler_keeps_order_holds_all_and_marks_zero(far: float) -> None:
    changes = [_change(value) for value in (-3.0, 2.0, 0.5, far)]
    ruler = ruler_of(changes)
    ends = sorted(end for change in changes for end in change.reach)
    places = [ruler.at(end) for end in ends]
    assert places == sorted(places)
    assert 0 < places[0] < places[-1] < 1
    assert 0.0 in ruler.marks
    assert 3 <= len(ruler.marks) <= 12
    assert all(0 < ruler.at(mark) < 1 for mark in ruler.marks)


def test_one_huge_change_does_not_make_the_others_invisible() -> None:
    ruler = ruler_of([_change(-3.0), _change(2.0), _change(5.0), _change(45_000.0)])
    assert ruler.bend is not None
    assert ruler.at(5.0) - ruler.at(0.0) > 0.1
    assert ruler_of([_change(-3.0), _change(2.0), _change(20.0)]).bend is None


def test_changes_are_listed_in_full() -> None:
    told = [formats.percent(share) for share in (0.0523, -0.5, 5.17, 452.3, 0.0, -1e-9)]
    assert told == ["+5.23 %", "-50 %", "+517 %", "+45\u202f200 %", "0 %", "-1e-07 %"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such.toml", "no-such.toml"], "there is no no-such.toml"),
        (["{scenario}", "{folder}"], "neither the folder of a sweep nor of a run"),
        (["{scenario}", "{scenario}", "--quantity", "godput_bps"], "did you mean 'goodput_bps'"),
        (["{scenario}", "{text}"], "cannot be compared"),
        (["{scenario}", "{capture}"], "compare two of the same kind"),
        (["{capture}", "{capture}", "--set-a", "x=1"], "--set-a changes a scenario"),
        (["{scenario}", "{scenario}", "--plot", "x.doc"], "must end in .svg"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    file = _file(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("x")
    ns.load(file).run(1, pcap=tmp_path / "x.pcapng")
    places = {"scenario": file, "folder": "empty", "text": "x.txt", "capture": "x.pcapng"}
    assert main(["compare", *[each.format(**places) for each in arguments]]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_result_of_another_version_is_refused(scenario: ns.Scenario, tmp_path: Path) -> None:
    for name in "ab":
        main(["run", _file(tmp_path), "--out", str(tmp_path / name)])
    stored = tmp_path / "b" / "result.json"
    document = json.loads(stored.read_text())
    stored.write_text(json.dumps(document | {"digest": "0123456789abcdef"}))
    with pytest.raises(RequestError, match="another version of netspurt"):
        ns.compare(tmp_path / "a", tmp_path / "b")
