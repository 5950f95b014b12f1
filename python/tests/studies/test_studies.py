"""The studies' own arithmetic, on numbers known from the documents and from the simulator's closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from netspurt.studies import NAMES, find
from netspurt.studies.experiment import Plan, Samples, Transfer
from netspurt.studies.rfc1106 import figures, objection, one_loss
from netspurt.studies.rfc1106 import setting as satellite
from netspurt.studies.terabit import closed_form, figure1, table1
from netspurt.studies.terabit.setting import FILE_BITS, goodput_gbps


def test_published_tables_have_all_their_numbers() -> None:
    assert len(table1.published()) == 10
    for figure in (satellite.FIGURE1, satellite.FIGURE2):
        assert len(satellite.published(figure)) == 27
    assert satellite.published(satellite.FIGURE2)[156, "10e-7"] == 160


@pytest.mark.parametrize(
    ("rate_bps", "scaling", "rounds"),
    [
        (1e12, False, closed_form.WITHOUT_SCALING),
        (1e13, False, closed_form.WITHOUT_SCALING),
        (1e12, True, closed_form.WITH_SCALING),
        (1e13, True, closed_form.WITH_SCALING),
    ],
)
def test_the_closed_form_gives_the_printed_numbers(
    rate_bps: float, scaling: bool, rounds: closed_form.Rounds
) -> None:
    seconds = closed_form.transmission_time_s(rate_bps, rounds)
    time_us, goodput = table1.published()[rate_bps, scaling]
    assert f"{seconds * 1e6:.2f}" == f"{time_us:.2f}"
    assert f"{goodput_gbps(FILE_BITS, seconds):.2f}" == f"{goodput:.2f}"


def test_the_published_goodput_is_eight_megabits_over_the_published_time() -> None:
    for time_us, goodput in table1.published().values():
        assert goodput == pytest.approx(FILE_BITS / time_us / 1e3, rel=0.006)


def test_curves_part_where_they_first_differ() -> None:
    time_s = np.array([0.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0]) * 1e-6
    without = figure1.Growth(time_s, np.array([1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.5]))
    scaled = figure1.Growth(time_s, np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 70.0]))
    assert figure1.first_divergence_s(without, scaled) == pytest.approx(9e-6)
    assert figure1.slope_per_round(without, 7e-6) == pytest.approx(1.0)
    assert figure1.first_divergence_s(scaled, scaled) == float("inf")


def test_null_model_is_the_least_of_three_ceilings() -> None:
    assert satellite.null_model_kib(64, satellite.NO_ERROR) == pytest.approx(64 / 0.58)
    assert satellite.null_model_kib(156, satellite.NO_ERROR) == pytest.approx(1.544e6 / 8 / 1024)
    # sqrt(1.5) · 1 KiB / (0.58 s · sqrt(8.508e-4)), a packet of 8544 bits at 1e-7.
    assert satellite.null_model_kib(156, satellite.LOW) == pytest.approx(72.3, abs=0.1)
    assert satellite.packet_loss(1e-6) == pytest.approx(1 - (1 - 1e-6) ** 8544, rel=1e-9)


def test_one_pipe_is_what_the_satellite_holds() -> None:
    assert pytest.approx(105.85, abs=0.01) == one_loss.PIPE_SEGMENTS


@pytest.mark.parametrize(
    ("without", "cured", "completed", "holds"),
    [(1000, 0, True, True), (0, 0, True, False), (1000, 7, True, False), (1000, 0, False, False)],
)
def test_the_objection_needs_damage_without_the_cure_and_none_with_it(
    without: int, cured: int, completed: bool, holds: bool
) -> None:
    experiments = list(objection.Objection().experiments(Plan(quick=True)))
    samples = Samples(experiments)
    assert [check.holds for check in objection.Objection().evaluate(samples).checks] == [None]
    for experiment, wrong in zip(experiments, (without, cured), strict=True):
        for seed in range(1, experiment.seeds + 1):
            # One transfer is damaged, the others are not.
            samples.put(experiment.key, seed, objection.Delivery(10**6, wrong if seed == 2 else 0, completed))
    assert [check.holds for check in objection.Objection().evaluate(samples).checks] == [holds]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quick", [True, False])
def test_every_experiment_has_a_name_of_its_own(name: str, quick: bool) -> None:
    experiments = [each for part in find(name).parts for each in part.experiments(Plan(quick=quick))]
    Samples(experiments)
    assert all((find(name).path(each.scenario)).is_file() for each in experiments)


def test_a_full_run_has_as_many_seeds_as_its_bars_need() -> None:
    seeds = {
        each.key: each.seeds
        for name in NAMES
        for part in find(name).parts
        for each in part.experiments(Plan())
    }
    assert seeds["figure1", "10e-7", "64K"] >= 200
    assert seeds["figure2", "10e-6", "156K"] >= 200
    assert seeds["figure2", "1 Tbit/s", "per-0.0001"] >= 500


def _perfect(rates: dict[tuple[str, int, str], float]) -> Samples:
    plan = Plan(quick=True, seeds=2)
    experiments = list(figures.Figures().experiments(plan))
    samples = Samples(experiments)
    for experiment in experiments:
        figure, error, window = experiment.key
        rate = rates[str(figure), int(str(window)[:-1]), str(error)]
        seconds = satellite.TRANSFER_BYTES / 1024 / rate
        for seed in range(1, experiment.seeds + 1):
            samples.put(experiment.key, seed, Transfer(seconds, satellite.TRANSFER_BYTES, 0, 0))
    return samples


def test_a_model_that_repeats_the_document_is_exact_everywhere() -> None:
    rates = {
        (figure.name, window, error): value
        for figure in (satellite.FIGURE1, satellite.FIGURE2)
        for (window, error), value in satellite.published(figure).items()
    }
    findings = figures.Figures().evaluate(_perfect(rates))
    assert all(cell.verdict == "exact" for table in findings.tables for cell in table.cells)
    assert all(check.holds for check in findings.checks)


def test_a_column_beyond_its_bar_fails_its_check() -> None:
    rates = {
        (figure.name, window, error): value * (1.2 if figure is satellite.FIGURE2 else 1.0)
        for figure in (satellite.FIGURE1, satellite.FIGURE2)
        for (window, error), value in satellite.published(figure).items()
    }
    failed = [check.check for check in figures.Figures().evaluate(_perfect(rates)).checks if not check.holds]
    assert any(check.startswith("figure2, error rate none") for check in failed)
    assert not any(check.startswith("figure1") for check in failed)


def test_samples_with_seeds_missing_count_as_not_run() -> None:
    experiments = list(figures.Figures().experiments(Plan(quick=True, seeds=2)))
    samples = Samples(experiments)
    key = ("figure1", "10e-7", "64K")
    samples.put(key, 1, Transfer(1.0, 1, 0, 0))
    assert samples.all(key) is None
    findings = figures.Figures().evaluate(samples)
    assert {cell.verdict for table in findings.tables for cell in table.cells} == {"not run"}
    assert all(check.holds is None for check in findings.checks)
