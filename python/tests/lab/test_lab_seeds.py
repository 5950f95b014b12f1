"""Several seeds in the lab, and the report that the page saves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

core = pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import lab as labs  # noqa: E402  # what it needs is looked for first

from netspurt.lab.simulated import routes  # noqa: E402
from netspurt.lab.simulated.pictures import RECORD, pictures  # noqa: E402
from netspurt.lab.simulated.runs import Runs, SupersededError  # noqa: E402
from netspurt.lab.simulated.spread import envelope  # noqa: E402

LOSSY = labs.SMALL.replace("queue = {", 'loss = { kind = "packet-error", rate = 0.01 }\nqueue = {')

SEEDS = 6


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[labs.Lab]:
    with labs.lab(tmp_path_factory.mktemp("lab"), LOSSY) as running:
        yield running


def seeds(lab: labs.Lab, **asked: Any) -> labs.Answer:
    return lab.ask("api/seeds", {"key": "own/0", "place": "test", "seeds": SEEDS, **asked})


def test_the_results_are_those_of_runs_with_these_seeds(lab: labs.Lab) -> None:
    head, _ = seeds(lab, seed=3).run()
    scenario = core.Scenario.parse(LOSSY)
    assert [each["seed"] for each in head["results"]] == [3, 4, 5, 6, 7, 8]
    for each in head["results"]:
        (flow,) = scenario.run(each["seed"]).flows()["goodput_bps"]
        assert each["goodput_bps"] == flow
        assert each["took_s"] > 2
    assert len({each["took_s"] for each in head["results"]}) > 1


def test_the_bands_contain_every_seed_and_each_bound_is_reached(lab: labs.Lab) -> None:
    _, columns = seeds(lab).run()
    time = columns["cwnd_time"]
    width = time[1] - time[0]
    reached = {name: [np.inf, -np.inf] for name in ("cwnd", "srtt", "queue0")}
    for seed in range(1, SEEDS + 1):
        _, one = pictures(core.Scenario.parse(LOSSY).run(seed, list(RECORD)))
        for name, ends in reached.items():
            values = one[f"{name}_value"]
            place = ((one[f"{name}_time"] - time[0] + width / 2) / width).astype(int)
            # A point on the border of two bins may lie in either.
            inside = np.zeros(len(place), bool)
            for near in (place, place - 1):
                near = np.clip(near, 0, len(columns[f"{name}_low"]) - 1)
                inside |= (columns[f"{name}_low"][near] <= values) & (values <= columns[f"{name}_high"][near])
            assert inside[(place >= 0) & ~np.isnan(values)].all(), (name, seed)
            ends[:] = [min(ends[0], np.nanmin(values)), max(ends[1], np.nanmax(values))]
    for name, (_, highest) in reached.items():
        assert np.nanmax(columns[f"{name}_high"]) == pytest.approx(highest), name


def test_the_throughput_of_all_seeds_is_the_data_of_the_transfer(lab: labs.Lab) -> None:
    head, columns = seeds(lab, seeds=1).run()
    width = columns["rate_time"][1] - columns["rate_time"][0]
    sent = np.nansum(columns["rate_low"]) * width / 8
    assert np.array_equal(columns["rate_low"], columns["rate_high"], equal_nan=True)
    assert 300_000 <= sent < 330_000, "all data, and what is delivered twice"
    assert len(head["results"]) == 1


def test_a_value_holds_until_the_next_point() -> None:
    low, high = envelope(np.array([1.0, 2.5, 2.6]), np.array([7.0, 1.0, 9.0]), np.arange(0, 6.0))
    assert np.isnan(low[0])
    assert low[1:].tolist() == [7, 1, 9, 9]
    assert high[1:].tolist() == [7, 9, 9, 9]


@pytest.mark.parametrize("wrong", [0, 101, "5", True, None, 2.5])
def test_an_impossible_number_of_seeds_is_named(lab: labs.Lab, wrong: object) -> None:
    answer = seeds(lab, seeds=wrong)
    assert answer.status == 400
    assert answer.json()["error"]["message"] == (
        f"'{wrong}' is not a valid seeds: it must be a whole number from 1 to 100"
    )


def test_when_time_is_over_the_seeds_that_are_done_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.0, 0.0, 100.0, 100.0])
    monkeypatch.setattr(routes.time, "monotonic", lambda: next(moments))
    monkeypatch.setattr(
        Runs, "run", lambda _runs, scenario, seed, record, _unwanted: scenario.run(seed, list(record))
    )
    from netspurt.lab.shelf import Shelf
    from netspurt.lab.simulated.asked import Asked

    shelf = Shelf()
    body = {"key": shelf.books[0].key, "text": LOSSY, "seeds": 10}
    answer = routes.Simulations(shelf, Runs())._seeds(Asked.of(shelf, body), body, None)  # type: ignore[arg-type]
    head, _ = labs.Answer(200, answer, {}).run()
    assert (len(head["results"]), head["wanted"]) == (2, 10)


def test_a_newer_request_ends_the_runs_of_an_older_one() -> None:
    runs = Runs()
    older = runs.enter("page/A/seeds")
    runs.enter("page/A/seeds")
    with pytest.raises(SupersededError):
        runs.run(core.Scenario.parse(LOSSY), 1, (), older)


# The report


def test_a_report_names_the_limit_and_holds_the_scenario(lab: labs.Lab) -> None:
    side = {"key": "own/0", "settings": [["link.path.delay", "40 ms"]], "seed": 2}
    answer = lab.ask("api/report", {"sides": [side], "seeds": 3})
    assert answer.status == 200
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''own.html"
    page = answer.body.decode()
    assert re.search(r"own\.toml, near → far: For [\d.]+ s of [\d.]+ s ", page)
    assert "Over all seeds" in page
    assert "delay = &#34;40 ms&#34;" in page or 'delay = "40 ms"' in page
    command = (
        "netspurt run own.toml --set &#39;link.path.delay=40 ms&#39; --seed 2 --seeds 3 --report report.html"
    )
    assert command in page
    assert not re.search(r"""(src|href)=["']https?:""", page), "it needs no network"


def test_a_report_of_two_settings_compares_them_seed_by_seed(lab: labs.Lab) -> None:
    other = {"key": "own/0", "settings": [["link.path.rate", "2 Mbit/s"]]}
    page = lab.ask("api/report", {"sides": [{"key": "own/0"}, other], "seeds": 4}).body.decode()
    assert "own.toml and own.toml, link.path.rate = 2 Mbit/s" in page
    assert "quantities differ by more than chance" in page
    assert "--set-b &#39;link.path.rate=2 Mbit/s&#39;" in page


@pytest.mark.parametrize("sides", [None, [], [{"key": "own/0"}] * 3, ["own/0"], {"key": "own/0"}])
def test_a_report_needs_one_side_or_two(lab: labs.Lab, sides: object) -> None:
    answer = lab.ask("api/report", {"sides": sides})
    assert answer.status == 400
    assert "a list of one request of a run, or of two" in answer.json()["error"]["message"]


def test_the_command_of_a_report_makes_the_same_report(tmp_path: Path) -> None:
    """The page says how it was made; that command must exist."""
    import subprocess
    import sys

    (tmp_path / "own.toml").write_text(LOSSY, encoding="utf-8")
    words = [
        "compare",
        "own.toml",
        "own.toml",
        "--set-b",
        "link.path.rate=2 Mbit/s",
        "--seed",
        "1",
        "--seeds",
        "2",
    ]
    made = subprocess.run(
        [sys.executable, "-m", "netspurt", *words, "--report", "report.html"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "report.html").stat().st_size > 100_000
