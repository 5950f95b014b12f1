"""The study of Doupnik's draft: its table, its rules told a second time, its costs, and runs of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("netspurt._core")

from netspurt.cli import main
from netspurt.settings import overrides
from netspurt.studies import find
from netspurt.studies.doupnik import fit, pairs, table1, today, wire
from netspurt.studies.doupnik.setting import (
    LARGE,
    REPLIES,
    SCENARIO,
    SMALL,
    STALLED,
    Costs,
    Pairing,
    Rate,
    null_model,
    published,
    rate,
    settings,
)
from netspurt.studies.experiment import DATA, Experiment, Plan, Samples
from netspurt.studies.runner import prepare, run

WAITING = Path(__file__).resolve().parents[3] / "docs" / "waiting.md"


def test_both_rates_of_a_row_give_the_same_length_with_one_exception() -> None:
    odd = []
    for (pairing, reply), printed in published().items():
        if (
            printed.requests > STALLED
            and abs(1000 * printed.kbytes / printed.requests / reply.bytes - 1) > 0.005
        ):
            odd.append((pairing, reply))
    assert len(published()) == 44
    assert odd == list(table1.NOTES)


def test_rows_are_fitted_without_nagle_and_predicted_otherwise() -> None:
    roles = [pairing.role for pairing, _ in published()]
    assert (roles.count("fitted"), roles.count("predicted")) == (16, 28)
    assert {pairing.mode for pairing, _ in published() if pairing.role == "fitted"} == {"Nagle off"}
    assert set(table1.UNMATCHED) < {row for row in published() if row[0].role == "predicted"}


def test_the_null_model_copies_the_row_without_nagle() -> None:
    assert null_model(Pairing("UW7", "FreeBSD", 32, "Nagle on"), LARGE) == 5
    assert null_model(Pairing("UW7", "FreeBSD", 32, "new policy"), LARGE) == 222
    assert null_model(Pairing("FreeBSD", "Linux", 4, "Nagle on"), LARGE) == 238


@pytest.mark.parametrize(
    ("policy", "handover", "sent"),
    [
        # 60, 76 and 2197 bytes are written; what waits is held until all is acknowledged.
        ("nodelay", "whole", [60, 76, 1460, 737]),
        ("nagle-strict", "whole", [60, 1460, 813]),
        ("nagle-liberal", "whole", [60, 1460, 813]),
        ("minshall", "whole", [60, 1460, 813]),
        ("doupnik", "whole", [60, 76, 1460, 737]),
        # In clusters of 2048, the last 149 of them apart: only no Nagle sends the 588 behind the first.
        ("nodelay", "clusters", [60, 76, 1460, 588, 149]),
        ("doupnik", "clusters", [60, 76, 1460, 737]),
        ("doupnik-liberal", "clusters", [60, 76, 1460, 588, 149]),
        ("linux22", "segments", [60, 1460, 813]),
    ],
)
def test_a_second_implementation_of_the_rules_gives_the_lists_derived_by_hand(
    policy: str, handover: str, sent: list[int]
) -> None:
    assert wire.rule(policy, SMALL, handover) == sent


def test_no_rule_loses_or_adds_a_byte() -> None:
    for reply in REPLIES:
        for handover in wire.HANDOVERS:
            for policy in wire.POLICIES:
                assert sum(wire.rule(policy, reply, handover)) == reply.bytes


def test_costs_are_read_as_they_are_written(tmp_path: Path) -> None:
    costs = Costs.load()
    (tmp_path / "costs.toml").write_text(costs.toml(), encoding="utf-8")
    assert Costs.load(tmp_path / "costs.toml") == costs
    assert (DATA / "doupnik" / "costs.toml").read_text(encoding="utf-8") == costs.toml()
    numbers = fit.numbers_of(costs)
    assert fit.costs_of(numbers) == costs
    assert len(numbers) < sum(pairing.role == "fitted" for pairing, _ in published())


def test_the_last_step_of_the_fit_ends_where_no_step_helps() -> None:
    def stairs(numbers: np.ndarray) -> float:
        return float(np.sum(np.floor(30 * np.abs(np.log(numbers / [3.0, 50.0])))))

    begin = np.array([2.0, 70.0])
    found = fit.polish(begin, stairs)
    assert stairs(found) < stairs(begin) / 5
    steps = [1 + step for step in fit.STEPS]
    for factor in (*steps, *(1 / step for step in steps)):
        assert stairs(found * [factor, 1]) >= stairs(found)
        assert stairs(found * [1, factor]) >= stairs(found)


def test_the_costs_are_close_to_the_rows_of_the_fit() -> None:
    misses = []
    for pairing, reply in (row for row in published() if row[0].role == "fitted"):
        found = _rate(pairing, "1500 ms", large=reply is LARGE).requests
        misses.append(np.log(found / published()[pairing, reply].requests) / table1.bar(pairing).fraction)
    assert np.sqrt(np.mean(np.square(misses))) < 0.4


def _rate(pairing: Pairing, duration: str, *, large: bool) -> Rate:
    chosen = {**settings(pairing, LARGE if large else SMALL, Costs.load()), "duration": duration}
    experiment = Experiment(("one",), SCENARIO, chosen, record=("pages",), measure=rate)
    native = experiment.load(DATA / "doupnik" / SCENARIO).set(overrides(chosen))
    found = experiment.perform(native, 1)
    assert isinstance(found, Rate)
    return found


def test_strict_nagle_stalls_five_times_a_second_and_the_new_policy_does_not() -> None:
    strict = _rate(Pairing("UW7", "FreeBSD", 32, "Nagle on"), "4 s", large=True)
    assert strict.requests == pytest.approx(5.0, abs=0.01)
    assert abs(strict.held_tails - strict.replies) <= 2
    assert strict.held_tail_s > 0.95 * strict.held_tails * 0.19
    free = _rate(Pairing("UW7", "FreeBSD", 32, "new policy"), "2 s", large=True)
    assert free.requests > 200
    assert free.held_tails == 0


def test_patterns_have_the_letters_of_the_table() -> None:
    letters = {
        "s": ((200,), 65535),
        "w": ((200, 800), 65535),
        "f": ((1460,), 65535),
        "o": ((4580,), 65535),
        "e": ((3120,), 65535),
        "m": ((200, 2000), 65535),
        "n": ((4580,), 4380),
    }
    assert {letter: pairs.pattern(*case) for letter, case in letters.items()} == {
        each: each for each in letters
    }
    met = {pairs.pattern(writes, window) for window, writes in pairs.cases(pairs.LENGTHS[False])}
    assert met == set(pairs.PATTERNS)


SAMPLE = (
    ("nagle-strict", "delayed"),
    ("minshall", "bsd-bytes"),
    ("doupnik", "adaptive"),
    ("linux22", "every-segment"),
)


@pytest.mark.parametrize("pair", SAMPLE)
def test_the_page_on_waiting_agrees_with_the_runs(pair: pairs.Pair) -> None:
    rows = {}
    for line in WAITING.read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            name, *cells = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
            rows[name] = cells
    assert rows["sender \\ receiver"] == list(pairs.ACKINGS)
    assert set(pairs.POLICIES) < set(rows)
    policy, acking = pair
    found = pairs.run_pair(pair)
    assert bool(found.held) is pairs.can_wait(*pair)
    assert rows[policy][pairs.ACKINGS.index(acking)] == (found.letters or "–")


def test_every_policy_is_run_with_every_other() -> None:
    import json

    from netspurt import _core

    families = {family["family"]: family for family in json.loads(_core.mechanisms())}
    for family, names in (("transmit", pairs.POLICIES), ("acking", pairs.ACKINGS)):
        assert {choice["name"] for choice in families[family]["choices"]} == set(names)


def test_a_quick_run_of_the_wire_and_today_holds_its_checks() -> None:
    study = find("doupnik")
    parts = tuple(part for part in study.parts if isinstance(part, (wire.OnTheWire, today.Today)))
    from dataclasses import replace

    result = run(prepare(replace(study, parts=parts), Plan(quick=True)), 2, lambda _label: None)
    assert [check.holds for check in result.findings.checks] == [True, True]
    worst = next(table for table in result.findings.tables if table.name == "beyond_today_worst")
    assert all(cell.measured is not None and cell.measured >= 1.0 for cell in worst.cells)


def test_a_wrong_list_on_the_wire_fails_its_check() -> None:
    part = wire.OnTheWire()
    experiments = list(part.experiments(Plan(quick=True)))
    samples = Samples(experiments)
    for experiment in experiments:
        _, policy, handover, name = experiment.key
        reply = next(reply for reply in REPLIES if reply.name == name)
        sent = wire.rule(str(policy), reply, str(handover))
        if experiment is experiments[3]:
            sent[0], sent[1] = sent[1], sent[0]
        samples.put(experiment.key, 1, tuple(sent))
    assert [check.holds for check in part.evaluate(samples).checks] == [False]


def test_a_model_that_repeats_the_document_is_exact_and_one_that_does_not_fails_its_bars() -> None:
    part = table1.Table1()
    experiments = list(part.experiments(Plan(quick=True)))
    for factor, expected in ((1.0, True), (1.2, False)):
        samples = Samples(experiments)
        for pairing, reply in published():
            told = published()[pairing, reply].requests
            stalled = told <= STALLED
            found = Rate(told * factor, 25, 25 if stalled else 0, 5.0 if stalled else 0.0)
            samples.put(table1.key(pairing, reply), 1, found)
        findings = part.evaluate(samples)
        bars = [check.holds for check in findings.checks if "predicted within" in check.check]
        assert bars == [expected] * 3
        assert all(check.holds for check in findings.checks if "predicted within" not in check.check)


def test_a_cell_that_was_not_run_is_reported_as_not_run() -> None:
    study = find("doupnik")
    samples = Samples(each for part in study.parts for each in part.experiments(Plan(quick=True)))
    for part in study.parts:
        findings = part.evaluate(samples)
        assert not any(check.holds for check in findings.checks)
        assert not any(check.holds is False for check in findings.checks)
        assert {cell.verdict for table in findings.tables for cell in table.cells} <= {"not run"}


def test_a_study_without_free_parameters_cannot_be_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "terabit", "--fit"]) == 2
    assert re.search(r"nothing can be fitted anew in terabit", capsys.readouterr().err)
