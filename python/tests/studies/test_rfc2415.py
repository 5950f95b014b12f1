"""The study of RFC 2415: its published tables, its arithmetic, and a few of its runs with the true simulator."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

pytest.importorskip("netspurt._core")

import netspurt as ns
from netspurt.studies import find
from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Findings
from netspurt.studies.rfc2415 import bars, null
from netspurt.studies.rfc2415.beyond import QUEUES
from netspurt.studies.rfc2415.grid import Grid
from netspurt.studies.rfc2415.setting import (
    FTPS,
    HTTP10,
    HTTP11,
    MODELS,
    WEBS,
    WINDOWS,
    Load,
    Measured,
    Runs,
    by_load,
    loads,
    measure,
    published,
    published_delays,
    published_power,
)
from netspurt.studies.rfc2415.split import MIXTURES, OF_THREE, Mixture, Split, goodput_shares
from netspurt.studies.runner import not_run, prepare

STUDY = find("rfc2415")


def simulate(load: Load, seed: int = 1, **more: str) -> ns.scenario.Result:
    return ns.load(STUDY.path(load.scenario)).set({**load.settings(), **more}).run(seed)


def test_the_published_tables_have_every_load_window_and_row() -> None:
    every = set(product(WEBS, FTPS, WINDOWS))
    assert set(published_delays(HTTP10)) == set(published_delays(HTTP11)) == every
    assert set(by_load("table2", "drop_rate_pct_iw{}")) == every
    assert set(published_power(HTTP10)) == set(published_power(HTTP11)) == {e for e in every if e[1]}
    assert len(published("table6")) == 6
    assert published_delays(HTTP10)[8, 0, 2] == pytest.approx(0.56 * (1 - 0.143))


def test_the_drop_rates_that_have_no_bar_are_those_that_repeat_other_rows() -> None:
    drops = by_load("table2", "drop_rate_pct_iw{}")
    unjudged = {load.place for load in loads(HTTP10) if bars.of_drops(load) is None}
    assert unjudged == set(product((32,), (0, 1, 2), WINDOWS))
    # The row of 32/0 is that of 16/0, and so on; 32/3 is a row of its own.
    assert all(drops[place] == drops[16, place[1], place[2]] for place in unjudged)
    assert any(drops[32, 3, window] != drops[16, 3, window] for window in WINDOWS)


def test_goodput_of_table_6_is_the_same_share_of_its_utilisation_in_every_run() -> None:
    shares = goodput_shares()
    assert len(shares) == 9
    assert 0.76 < min(shares) <= max(shares) < 0.80


def test_round_trips_of_slow_start_by_hand() -> None:
    assert [null.round_trips(1500, window) for window in WINDOWS] == [2, 1, 1, 1]
    assert [null.round_trips(1460, window) for window in WINDOWS] == [1, 1, 1, 1]
    # 1 + 2 + 4 + 3; 2 + 4 + 4; 3 + 6 + 1; 4 + 6 of 8 segments.
    assert [null.round_trips(14600, window) for window in WINDOWS] == [4, 3, 3, 2]
    # A window of 11 at most: 1 + 2 + 4 + 8 + 11 + 11 of 37 segments.
    assert null.round_trips(37 * 1460, 1) == 6


def test_the_null_models_mean_file_is_that_of_the_scenarios_distribution() -> None:
    shares = (np.arange(1_000_000) + 0.5) / 1_000_000
    scale = null.MEDIAN / (2 ** (1 / null.SHAPE) - 1)
    sizes = np.minimum(scale * ((1 - shares) ** (-1 / null.SHAPE) - 1), null.MAX)
    assert float(np.median(sizes)) == pytest.approx(1500, abs=1)
    assert null.mean_file() == pytest.approx(float(sizes.mean()), rel=1e-3)
    text = STUDY.path("web.toml").read_text(encoding="utf-8")
    assert text.count('{ kind = "lomax", median = "1500 B", shape = 1.2, max = "1 MB" }') == 4


@pytest.mark.parametrize("window", WINDOWS)
def test_the_initial_window_is_what_leaves_before_the_first_ack_of_data(window: int) -> None:
    scenario = ns.load(STUDY.path("page.toml")).set({"tcp.initial_window": f"{window} segments"})
    segments = scenario.run(1, record=["segments"]).segments
    data = [s for s in segments.iter_rows(named=True) if not s["from_client"] and s["length"] > 0]
    # A burst lasts no time; the next one waits for a round trip of 66 ms.
    burst = [s for s in data if s["time_s"] < data[0]["time_s"] + 0.060]
    assert [s["length"] for s in burst] == [1460] * window
    assert sum(s["length"] for s in data) == 14600


def test_the_measured_values_are_those_of_the_run() -> None:
    load = Load(HTTP10, 16, 2, 2)
    result = simulate(load, duration="60 s")
    seen = measure(result.native)
    (line,) = result.links.filter(
        (pl.col("link") == "bottleneck") & (pl.col("direction") == "n1->n0")
    ).to_dicts()
    groups = {row["flow"]: row for row in result.groups.to_dicts()}
    assert groups["web"]["flows"] == 16
    assert groups["ftp"]["flows"] == 2
    assert seen.drops_pct == pytest.approx(
        100 * line["drops_queue"] / (line["packets"] + line["drops_queue"])
    )
    assert seen.drops_pct > 0
    assert seen.utilisation_pct == pytest.approx(line["bytes"] * 8 / 1.5e6 / 60 * 100, rel=0.01)
    assert seen.page_delay_s["web"] == groups["web"]["page_delay_median_s"]
    assert seen.page_delay_p95_s["web"] > seen.page_delay_s["web"] > 0
    megabytes, median = groups["ftp"]["bytes_delivered"] / 1e6, groups["ftp"]["transfer_time_median_s"]
    assert seen.power == pytest.approx(megabytes / median)


def test_mixed_clients_are_distinguished_by_name_and_window() -> None:
    mixture = Mixture(16, None)
    result = ns.load(STUDY.path("web.toml")).set({**mixture.settings(), "duration": "30 s"}).run(1)
    groups = {row["flow"]: row["flows"] for row in result.groups.to_dicts()}
    assert groups == {"web": 8, OF_THREE: 8}
    assert result.scenario.merged().count('initial_window = "3 segments"') == 2
    assert set(measure(result.native).page_delay_s) == {"web", OF_THREE}


def test_a_point_of_the_grid_is_not_run_twice() -> None:
    grid = {each.key for each in Grid().experiments(Plan())}
    split = {each.key for each in Split().experiments(Plan())}
    assert len(grid) == 96
    assert not grid & split
    assert {mixture.key for mixture in MIXTURES} <= grid | split


def test_pages_come_sooner_with_larger_windows_and_as_soon_as_published() -> None:
    for http, webs in product(MODELS, (8, 16)):
        delays = published_delays(http)
        load = Load(http, webs, 0, 1)
        one, three = (
            np.mean(
                [
                    measure(simulate(replace(load, window=window), seed).native).page_delay_s["web"]
                    for seed in (1, 2)
                ]
            )
            for window in (1, 3)
        )
        assert one == pytest.approx(delays[webs, 0, 1], rel=0.12 if http is HTTP10 else 0.2)
        assert 12 < 100 * (1 - three / one) < 32


def _as_published(slower: float = 1.0) -> Findings:
    """What the grid says of runs that come out exactly as printed, but for the delays of HTTP/1.0 at 8/0, IW 1."""
    experiments = [each for each in Grid().experiments(Plan(seeds=2)) if isinstance(each, Experiment)]
    samples = Samples(experiments)
    utilisation, drops = (
        by_load("table2", "link_utilization_pct_iw{}"),
        by_load("table2", "drop_rate_pct_iw{}"),
    )
    for http in MODELS:
        delays, power = published_delays(http), published_power(http)
        for load in loads(http):
            delay = delays[load.place] * (slower if load == Load(HTTP10, 8, 0, 1) else 1.0)
            run = Measured(
                page_delay_s={"web": delay},
                page_delay_p95_s={"web": delay},
                web_megabytes={"web": 10.0},
                utilisation_pct=utilisation[load.place],
                drops_pct=drops[load.place],
                ftp_megabytes=power.get(load.place, 0.0),
                ftp_median_s=1.0,
            )
            for seed in (1, 2):
                samples.put(load.key, seed, run)
    return Grid().evaluate(samples)


def test_runs_as_published_are_exact_in_every_cell_and_hold_every_check() -> None:
    findings = _as_published()
    assert {table.name for table in findings.tables} == {f"table{number}" for number in range(1, 6)}
    cells = [cell for table in findings.tables for cell in table.cells]
    assert len(cells) == 48 + 96 + 36 + 48 + 36
    assert {cell.verdict for cell in cells} == {"exact"}
    assert sum(cell.role == "fitted" for cell in cells) == 3
    assert {check.holds for check in findings.checks} == {True}
    assert all(picture.draw() is not None for picture in findings.pictures)


def test_a_page_that_takes_too_long_is_outside_and_a_new_miss() -> None:
    findings = _as_published(slower=1.13)
    (outside,) = [cell for cell in findings.tables[0].cells if cell.verdict == "outside"]
    assert (outside.row["web_clients"], outside.row["ftp_clients"], outside.falls_short) == (8, 0, True)
    assert [check.holds for check in findings.checks].count(False) == 1


def test_known_misses_are_cells_that_exist_and_have_a_bar() -> None:
    cells = {
        (
            table.name,
            cell.quantity,
            f"{cell.row['web_clients']}/{cell.row['ftp_clients']}",
            cell.row["initial_window"],
        ): cell
        for table in _as_published().tables
        for cell in table.cells
    }
    assert set(bars.KNOWN_MISSES) <= set(cells)
    assert all(cells[key].bar is not None for key in bars.KNOWN_MISSES)
    assert all(cells[key].allowance for key in bars.KNOWN_MISSES)
    assert set(bars.KNOWN_MISSES.values()) == set(bars.EXPLAINED)


def test_decreases_are_differences_within_a_seed() -> None:
    base = Load(HTTP10, 8, 0, 1)
    more = replace(base, window=2)
    experiments = [Experiment(load.key, load.scenario, seeds=2) for load in (base, more)]
    samples = Samples(experiments)
    for load, delays in ((base, (1.0, 2.0)), (more, (0.9, 1.0))):
        for seed, delay in enumerate(delays, 1):
            samples.put(
                load.key, seed, Measured({"web": delay}, {"web": delay}, {"web": 1.0}, 0.0, 0.0, 0.0, 0.0)
            )
    assert Runs(samples).decreases(more) == pytest.approx([10.0, 50.0])


def test_every_scenario_of_the_full_study_is_one_the_simulator_takes() -> None:
    work = prepare(STUDY, Plan())
    assert len(work.tasks) > 2000
    text = "\n".join(scenario.merged() for scenario in work.scenarios.values())
    kinds = {str(queue["kind"]) for queue in QUEUES.values()}
    assert all(f'kind = "{kind}"' in text for kind in kinds)


def test_a_cell_that_was_not_run_is_reported_as_not_run() -> None:
    result = not_run(prepare(STUDY, Plan()))
    assert {check.holds for check in result.findings.checks} == {None}
    cells = [cell for table in result.findings.tables for cell in table.cells]
    assert {cell.verdict for cell in cells} == {"not run"}
    assert {table.name for table in result.findings.tables} >= {f"table{number}" for number in range(1, 7)}
