"""The study of published results of today: its formulas, its tables, and a few of its runs with the true simulator."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest

pytest.importorskip("netspurt._core")

from netspurt.studies import find
from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table
from netspurt.studies.runner import not_run, prepare
from netspurt.studies.today import (
    formulas,
    initial_window,
    l4s,
    l4s_measured,
    queues,
    random_loss,
    reductions,
    response,
)
from netspurt.studies.today.bbr import BDP_PACKETS, RTT_S, BbrShare
from netspurt.studies.today.policer import Policer
from netspurt.studies.today.setting import _named, cell, left_out, published
from netspurt.studies.verdict import Fraction, prints_alike

STUDY = find("today")
QUICK = Plan(quick=True)


def experiments(part: object, plan: Plan = QUICK) -> list[Experiment]:
    return list(part.experiments(plan))  # type: ignore[attr-defined]  # every part has them


def perform(each: Experiment, seed: int = 1) -> object:
    native = prepare_one(each)
    return each.perform(native, seed)


def prepare_one(each: Experiment) -> object:
    from netspurt.settings import overrides

    return each.load(STUDY.path(each.scenario)).set(overrides(each.settings))


def unmeasured(plan: Plan = QUICK) -> Findings:
    """The findings of all parts without any run: every cell is there."""
    from netspurt.studies.model import gather

    return gather(part.evaluate(Samples(part.experiments(plan))) for part in STUDY.parts)


def cells(tables: Iterable[Table]) -> list[Cell]:
    return [each for table in tables for each in table.cells]


def test_published_files_have_all_their_numbers() -> None:
    lines = published("rfc9438_tables1_2.csv")
    assert {(line["rtt_s"], line["loss_rate"]) for line in lines} == {
        (rtt, f"1e-{power}") for rtt, power in product(("0.1", "0.01"), range(2, 9))
    }
    assert len(published("rfc6928_round_trips.csv")) == 13


def test_the_numbers_of_reno_in_rfc_9438_are_its_formula() -> None:
    for line in published("rfc9438_tables1_2.csv"):
        assert float(line["reno"]) == pytest.approx(response.reno_window(float(line["loss_rate"])), rel=0.02)


def test_the_numbers_of_cubic_in_rfc_9438_are_figure_8_or_reno() -> None:
    for line in published("rfc9438_tables1_2.csv"):
        loss, rtt = float(line["loss_rate"]), float(line["rtt_s"])
        cubic = 1.054 * rtt**0.75 / loss**0.75
        assert float(line["cubic_c0.4"]) == pytest.approx(max(cubic, response.reno_window(loss)), rel=0.02)


def test_the_round_trips_of_rfc_6928_follow_from_its_model_by_hand() -> None:
    for line in published("rfc6928_round_trips.csv"):
        for window in initial_window.WINDOWS:
            rounds = initial_window.slow_start_rounds(int(line["segments"]), window)
            assert rounds == int(line[f"iw{window}"])
    assert initial_window.slow_start_rounds(32, 10) == 3


def test_the_closed_forms_on_known_points() -> None:
    # Without timeouts the model of Padhye et al. is the square-root law with sqrt(3/2).
    assert formulas.padhye_window(1e-4, 1, 0.1, 0.0) == pytest.approx((1.5e4) ** 0.5)
    assert formulas.padhye_window(0.01, 2, 0.1, 1.0) < formulas.padhye_window(0.01, 1, 0.1, 1.0)
    assert formulas.mathis_window(1e-4, 1) == pytest.approx(131.0)
    # Deep queues: half of the link, less the time of probes; a queue of one BDP leaves nothing to others.
    assert formulas.bbr_share(1, 1, BDP_PACKETS, RTT_S) == pytest.approx(1 - 0.028)
    assert formulas.bbr_share(64, 1, BDP_PACKETS, RTT_S) == pytest.approx(0.367, abs=0.001)
    # Both at an RTT of 25 ms and more: 40 ms over 25 ms, and windows of sqrt(6)/2 and Reno's 1.22.
    assert formulas.prague_ratio(25) == pytest.approx(1.2247 * 40 / 25 / 1.22, rel=1e-4)
    assert formulas.prague_ratio(5) == pytest.approx(1.2247 * 20 / 25 / 1.22, rel=1e-4)
    # 10 Gbit/s, 100 µs, K = 40: two flows swing by sqrt(4 · 123.3) / 2.
    assert formulas.dctcp_queue(2, 250 / 3, 40) == pytest.approx((30.9, 42.0), abs=0.05)


def test_the_weighted_median_counts_time_and_not_samples() -> None:
    assert queues.weighted_median(np.array([5.0, 1.0, 9.0]), np.array([1.0, 10.0, 1.0])) == 1.0


@pytest.mark.parametrize("quick", [True, False])
def test_the_study_has_at_least_60_cells_with_a_bar(quick: bool) -> None:
    judged = [each for each in cells(unmeasured(Plan(quick=quick)).tables) if each.bar is not None]
    assert len(judged) >= 60
    assert all(each.bar_reason and each.origin for each in judged), "each bar has its reason"


def test_cells_without_a_bar_give_a_reason() -> None:
    tables = [table for table in unmeasured().tables if table.kind == "document"]
    silent = [each.row for each in cells(tables) if each.bar is None and not each.reason]
    assert silent == []


def test_every_table_names_its_source() -> None:
    tables = unmeasured(Plan()).tables
    assert all("Source" in table.note for table in tables if table.kind == "document")


def test_a_number_without_a_run_is_not_comparable_and_does_not_count_as_not_run() -> None:
    told = left_out({"row": 1}, "share", "%", 7.0, origin="measurement", reason="no such path")
    assert (told.verdict, told.measured, told.falls_short) == ("not comparable", None, False)
    assert told.as_json()["origin"] == "measurement"
    missing = cell({"row": 1}, "share", "%", 7.0, None, origin="formula", bar=Fraction(0.1))
    assert missing.verdict == "not run"


def test_a_cause_is_given_only_for_values_outside() -> None:
    def reason(measured: float) -> str:
        return cell({}, "share", "%", 10.0, [measured], origin="rule", bar=Fraction(0.1), cause="why").reason

    assert (reason(12.0), reason(10.5)) == ("why", "")


def test_only_a_miss_without_a_cause_makes_the_study_fall_short() -> None:
    def short(cause: str) -> bool:
        missed = cell({}, "share", "%", 10.0, [12.0], origin="rule", bar=Fraction(0.1), cause=cause)
        assert missed.verdict == "outside"
        return missed.falls_short

    assert (short("known"), short("")) == (False, True)


def test_lines_with_the_same_published_numbers_share_their_marks() -> None:
    from netspurt.plot import published_chart
    from netspurt.plot.chart import Axis
    from netspurt.plot.studies.published import Point

    points = [Point(1, 5, 6.0, (5.0, 7.0)), Point(2, 5, None), Point(3, 6, 6.5, (6.0, 7.0))]
    other = [Point(1, 4, 6.0), Point(3, None, 6.5)]
    chart = published_chart("n", "t", Axis("x", "x"), Axis("y", "y"), {"a": points, "b": points, "c": other})
    names = [trace.name for trace in chart.traces]
    band = "95 % interval"
    assert names == [f"a, {band}", "a", "a, published", f"b, {band}", "b", "c", "c, published"]
    assert chart.table().height == 2 + 2 + 3 + 2 + 2 + 2 + 1, "whole numbers and fractions make one column"


def test_a_line_names_what_its_numbers_count() -> None:
    row = {"flows_of_each": 10, "rate_mbps": 40, "tcp": "cubic"}
    assert [_named(*each) for each in row.items()] == ["flows of each 10", "rate 40 Mbit/s", "cubic"]


def test_every_picture_can_be_drawn_without_any_run() -> None:
    assert all(picture.data for picture in unmeasured().pictures)


def test_the_average_window_is_that_of_the_formula_at_a_small_loss_rate() -> None:
    column = next(
        each for each in response.columns() if (each.sender, each.loss, each.rtt_s) == ("reno", 1e-4, 0.1)
    )
    each = next(each for each in experiments(response.Response()) if each.key == column.key)
    assert perform(each) == pytest.approx(column.window, rel=0.03)


def test_every_round_trip_of_rfc_6928_is_exact() -> None:
    part = initial_window.InitialWindow()
    samples = Samples(experiments(part))
    for each in experiments(part):
        samples.put(each.key, 1, perform(each))
    findings = part.evaluate(samples)
    judged = [each for each in cells(findings.tables) if each.bar is not None]
    assert len(judged) == 27
    assert {each.verdict for each in judged} == {"exact"}
    assert all(check.holds for check in findings.checks)
    slip = next(each for each in cells(findings.tables) if each.reason.startswith("the text below"))
    assert slip.measured is not None
    assert prints_alike(3.0, slip.measured, 0)


def test_random_loss_meets_the_square_root_law() -> None:
    sender = random_loss.Sender("newreno", 1, 1e-3)
    each = next(each for each in experiments(random_loss.RandomLoss()) if each.key == sender.key)
    assert perform(each) == pytest.approx(formulas.mathis_window(1e-3, 1), rel=0.15)


def test_the_factors_of_reductions_are_the_published_ones() -> None:
    for each, reaction in zip(experiments(reductions.Reductions()), reductions.REACTIONS, strict=True):
        assert perform(each) == pytest.approx(reaction.factor, rel=0.02), reaction


def test_nothing_passes_a_policer_that_has_no_tokens() -> None:
    for each in experiments(Policer()):
        burst = 1e3 * float(str(each.key[2])[:-2])
        assert perform(each) <= 5e6 / 8 * 30 + burst  # type: ignore[operator]  # a number of bytes


def test_a_share_is_computed_from_the_difference_of_two_runs() -> None:
    part = BbrShare()
    samples = Samples(experiments(part))
    for each in experiments(part):
        for seed in (1, 2):
            # BBR gets 100 of 200 bytes before the measured time, and 300 of 1000 in it.
            samples.put(each.key, seed, (100, 200) if each.key[-1] == "400s" else (400, 1200))
    shares = [each.measured for each in cells(part.evaluate(samples).tables)]
    assert shares == pytest.approx([30.0] * len(shares))


@pytest.mark.parametrize(("scatter", "holds"), [(0, False), (30, True)])
def test_bbr_depends_on_the_number_of_flows_only_if_the_intervals_show_it(scatter: int, holds: bool) -> None:
    part = BbrShare()
    samples = Samples(experiments(part))
    for each in experiments(part):
        share = 30 if 1 in each.key else 50
        for seed in (1, 2):
            got = share + (scatter if seed == 1 else -scatter)
            samples.put(each.key, seed, (0, 0) if each.key[-1] == "400s" else (got, 100))
    assert [check.holds for check in part.evaluate(samples).checks] == [holds]


def test_the_rate_ratio_of_l4s_leaves_out_the_start() -> None:
    part = l4s.Coexistence()
    samples = Samples(experiments(part))
    for each in experiments(part):
        end = each.key[-1] == f"{l4s.END_S}s"
        for seed in (1, 2):
            # 100 of 200 packets of Prague are marked in the measured time, and 50 of 800 of CUBIC.
            seen = l4s.Seen((700, 300), (300, 900), (150, 60), 0.5, 2.0, 15.0)
            samples.put(each.key, seed, seen if end else l4s.Seen((500, 100), (100, 100), (50, 10)))
    balance, coupling, delays = part.evaluate(samples).tables
    assert {each.measured for each in balance.cells} == {1.0}
    assert {each.measured for each in coupling.cells} == {1.0}
    assert {each.verdict for each in delays.cells} <= {"exact", "within bar"}


def test_the_window_of_prague_follows_from_marks_at_equal_distances() -> None:
    # A fluid flow with a mark after each 1/p segments; the first one a round trip after the last reduction reduces.
    p, window, since, sent, total, time_s = 0.01, 200.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(2_000_000):
        window += (1 - p) / window
        since += 1 / window
        sent += p
        if sent >= 1:
            sent -= 1
            if since >= 1:
                window, since = window * (1 - p / 2), 0.0
        total, time_s = total + 1, time_s + 1 / window
    assert total / time_s * p == pytest.approx(formulas.PRAGUE_MARKS, rel=0.02)


def test_measured_ratios_of_l4s_are_judged_only_where_the_virtual_rtt_makes_no_difference() -> None:
    part = l4s_measured.MeasuredShare()
    samples = Samples(experiments(part))
    for each in experiments(part):
        end = each.key[-1] == f"{l4s_measured.END_S}s"
        for seed in (1, 2):
            seen = l4s.Seen((800, 400), (800, 400), (0, 0))
            samples.put(each.key, seed, seen if end else l4s.Seen((100, 0), (100, 0), (0, 0)))
    (table,) = part.evaluate(samples).tables
    assert [each.measured for each in table.cells] == pytest.approx([1.75] * 3)
    assert [each.published for each in table.cells] == pytest.approx([2.67, 2.11, 1.68], abs=0.01)
    assert [each.verdict for each in table.cells] == ["not comparable", "not comparable", "within bar"]


def test_prague_flows_without_ecn_are_left_out_of_the_ratio_and_named() -> None:
    share = l4s.Share(10, 12, 5)
    # Nine flows got 900 packets, ten CUBIC flows 1000.
    seen = l4s.Seen((900, 1000), (900, 1000), (90, 10), fallen_back=1)
    assert share.ratio(seen) == pytest.approx(1.0)
    assert share.ratio(seen._replace(delivered=(0, 1000), fallen_back=10)) == 0.0
    part = l4s.Coexistence()
    samples = Samples(experiments(part))
    for each in experiments(part):
        for seed in (1, 2):
            samples.put(each.key, seed, seen)
    balance, *_ = part.evaluate(samples).tables
    assert "Prague flows, whose handshakes lost two SYNs, have no ECN" in balance.note


def test_an_interrupted_study_has_no_verdicts_and_lists_what_is_missing() -> None:
    verdicts = {each.verdict for each in cells(unmeasured().tables)}
    assert verdicts <= {"not run", "not comparable"}
    assert all(check.holds is None for check in unmeasured().checks)


def test_a_short_run_of_the_whole_study_evaluates() -> None:
    work = prepare(STUDY, Plan(quick=True, seeds=1))
    result = not_run(work)
    assert result.interrupted
    assert result.as_json()["study"] == "today"
