"""The study of RFC 889: what its tables say by themselves, and what the study makes of them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("netspurt._core")

from netspurt.studies import find
from netspurt.studies.experiment import Plan, Samples
from netspurt.studies.rfc889.bars import Cut, cut
from netspurt.studies.rfc889.published import hosts, lines_of, runs
from netspurt.studies.rfc889.setting import MILLS, native, replay
from netspurt.studies.runner import prepare, run


def test_every_rate_total_and_efficiency_of_the_tables_follows_from_the_other_columns() -> None:
    lines = [line for host in hosts() for line in host.lines]
    assert len(lines) == 49
    assert all(line.rate_range[0] <= line.rate_bps <= line.rate_range[1] for line in lines)
    assert len(runs()) == 52
    for each in runs():
        total = each.good_s + each.wasted_s
        assert abs(total - each.total.value) < 1.0, each.name
        assert cut(each.good_s / total, 2) == each.efficiency.value, each.name


def test_rows_have_names_of_their_own() -> None:
    names = [each.name for each in runs()]
    assert len(set(names)) == 52
    assert {"ISID", "ISID *", "UCL", "UCL from NTA", "RICE-1"} <= set(names)


def test_a_run_of_mixed_lengths_has_its_hosts_lines() -> None:
    by_name = {each.name: each for each in runs()}
    assert lines_of(by_name["ISID"])[0].rate_bps == 6989
    assert lines_of(by_name["ISID *"])[0].rate_bps == 3643
    assert lines_of(by_name["ISID-1"]) == ()


def test_efficiencies_are_cut_and_not_rounded() -> None:
    assert (cut(0.999, 2), cut(0.29, 2), cut(1.0, 2)) == (0.99, 0.29, 1.0)
    assert Cut(2).reached(0.99, 0.9999, None)
    assert not Cut(2).reached(0.99, 0.9899, None)
    assert Cut(2, 0.03).reached(0.96, 0.9999, None)
    assert not Cut(2, 0.03).reached(0.96, 1.0, None)


def test_a_replay_by_hand() -> None:
    # E: 1, 1, 7/4, lost at 2 · 7/4, then 15/16 · 7/4 + 1/16.
    found = replay(native({"delay_s": np.array([1.0, 1.0, 4.0, np.nan, 1.0])}), MILLS)
    assert (found["rtx"], found["rtx_s"], found["lost"], found["lost_s"]) == (1, 4.0, 1, 3.5)
    assert found["total_s"] == pytest.approx(7 + 4 + 3.5)


def test_the_study_reaches_every_bar_that_does_not_depend_on_seeds_with_one_seed_each() -> None:
    result = run(prepare(find("rfc889"), Plan(quick=True, seeds=3, live=False)), 2, lambda _label: None)
    tables = {table.name: table for table in result.findings.tables}
    assert {"delay_vs_length", "rto_results"} <= set(tables)
    rates = [cell for cell in tables["delay_vs_length"].cells if cell.quantity == "rate"]
    assert len(rates) == 49
    assert all(cell.verdict in ("exact", "within bar") for cell in rates)
    rice = [cell for cell in tables["delay_vs_length"].cells if cell.verdict == "not comparable"]
    assert {cell.row["host"] for cell in rice} == {"RICE"}
    judged = tables["rto_results"].cells
    assert all(
        cell.verdict in ("exact", "within bar") for cell in judged if cell.quantity.endswith("_from_row")
    )
    efficiencies = [cell for cell in judged if cell.quantity == "efficiency"]
    assert len(efficiencies) == 52
    assert all(cell.null_model is not None for cell in efficiencies)
    assert sum(cell.verdict != "outside" for cell in efficiencies) >= 45
    assert {check.holds for check in result.findings.checks} <= {True, False}
    assert all(picture.draw() is not None for picture in result.findings.pictures)


def test_a_cell_that_was_not_run_is_reported_as_not_run() -> None:
    study = find("rfc889")
    samples = Samples(each for part in study.parts for each in part.experiments(Plan(quick=True)))
    for part in study.parts:
        findings = part.evaluate(samples)
        assert not any(check.holds is False for check in findings.checks)
        cells = [cell for table in findings.tables for cell in table.cells]
        assert {cell.verdict for cell in cells if cell.runs == 0} <= {"not run"}
