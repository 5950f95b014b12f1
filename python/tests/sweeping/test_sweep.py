"""Sweeps: what is run, what is kept, what is refused."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pickle
import re
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sweeps

import netspurt as ns
from netspurt.cli import main
from netspurt.errors import EngineError, RequestError
from netspurt.sweeping.plan import Plan
from netspurt.sweeping.request import build
from netspurt.sweeping.tables import gather
from netspurt.sweeping.work import Job, perform

pytest.importorskip("netspurt._core", reason="the native module is not built")

LOSSES = {"link.line.loss.rate": [1e-9, 0.05]}
"""Runs without any loss have fewer columns than those with some."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return sweeps.written(tmp_path)


@pytest.fixture
def scenario(tmp_path: Path) -> ns.Scenario:
    sweeps.written(tmp_path)
    return ns.load(tmp_path / "scenario.toml")


def _json(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> dict[str, Any]:
    assert main(["sweep", "--json", *arguments]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_every_point_runs_with_every_seed_as_it_would_alone(scenario: ns.Scenario) -> None:
    grid = {"link.line.delay": ["1 ms", "50 ms"], "tcp.congestion": ["reno", "cubic"]}
    result = ns.sweep(scenario, grid=grid, seeds=[3, 5], jobs=2)
    assert result.tasks.height == result.flows.height == 8
    for row in result.flows.iter_rows(named=True):
        alone = scenario.set({path: row[path] for path in grid}).run(row["seed"])
        assert row["digest"] == alone.digest
        own = alone.flows.row(0, named=True)
        assert {name: row[name] for name in own} == own
    links = result.links.filter((pl.col("point") == 0) & (pl.col("seed") == 3))
    alone = scenario.set({path: values[0] for path, values in grid.items()}).run(3)
    assert links.select(alone.links.columns).equals(alone.links)


def test_nothing_that_is_done_runs_again_and_more_seeds_run_only_themselves(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = _json(capsys, [str(file)])
    assert (first["tasks"], first["found"], first["ran"]) == (60, 0, 60)
    before = {path: path.stat().st_mtime_ns for path in (file.with_suffix(".sweep") / "tasks").iterdir()}
    again = _json(capsys, [str(file)])
    assert (again["found"], again["ran"], again["summary"]) == (60, 0, first["summary"])
    file.write_text(file.read_text().replace("seeds = 10", "seeds = 12"))
    more = _json(capsys, [str(file)])
    assert (more["found"], more["ran"]) == (60, 12)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_the_name_of_a_task_depends_on_its_contents_only(scenario: ns.Scenario, tmp_path: Path) -> None:
    one = ns.sweep(scenario, grid={"link.line.delay": ["1 ms", "20 ms"]}, seeds=2, out=tmp_path / "one")
    points = [{"link.line.delay": "0.02 s", "tcp.congestion": "cubic"}, {"link.line.delay": "1000 us"}]
    two = ns.sweep(scenario.set({"tcp.congestion": "cubic"}), points=points, seeds=2, out=tmp_path / "two")
    own = ns.sweep(scenario, grid={"tcp.congestion": ["cubic"]}, seeds=1, out=tmp_path / "own")
    assert set(one.tasks["task"]).isdisjoint(two.tasks["task"]) == ("cubic" not in scenario.merged())
    assert two.tasks["task"].n_unique() == 4
    assert own.tasks["task"][0] not in set(two.tasks["task"])
    assert re.fullmatch("[0-9a-f]{32}", one.tasks["task"][0])


def test_two_points_that_are_the_same_run_once(scenario: ns.Scenario, tmp_path: Path) -> None:
    result = ns.sweep(scenario, grid={"link.line.delay": ["10 ms", "0.01 s"]}, out=tmp_path / "out")
    assert result.tasks["task"].n_unique() == 1
    assert len(sweeps.contents(tmp_path / "out")) == 1
    assert result.flows["point"].to_list() == [0, 1]


def test_the_file_of_a_task_describes_it(scenario: ns.Scenario, tmp_path: Path) -> None:
    result = ns.sweep(scenario, settings={"link.line.delay": "7 ms"}, out=tmp_path / "out")
    path = tmp_path / "out" / "tasks" / f"{result.tasks['task'][0]}.parquet"
    about = pl.read_parquet_metadata(path)
    again = ns.parse(about["netspurt.scenario"])
    assert 'delay = "7 ms"' in again.merged() or "0.007" in again.merged()
    assert about["netspurt.version"].startswith(ns.__version__)
    frame = pl.read_parquet(path)
    assert set(frame["record"]) == {"flow", "group", "link"}
    assert set(frame["digest"]) == {again.run(1).digest}


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_gives_the_same_bytes(
    scenario: ns.Scenario, tmp_path: Path, make: Callable[..., Executor]
) -> None:
    import multiprocessing

    grid = {"link.line.delay": ["1 ms", "50 ms"]}
    ns.sweep(scenario, grid=grid, seeds=5, out=tmp_path / "threads")
    method = {} if make is ThreadPoolExecutor else {"mp_context": multiprocessing.get_context("spawn")}
    with make(2, **method) as executor:
        ns.sweep(scenario, grid=grid, seeds=5, out=tmp_path / "other", executor=executor)
    assert sweeps.contents(tmp_path / "threads") == sweeps.contents(tmp_path / "other")
    for name in ("plan", "flows", "links", "groups"):
        one, other = (tmp_path / which / f"{name}.parquet" for which in ("threads", "other"))
        assert one.read_bytes() == other.read_bytes()


def test_rows_that_were_sent_back_are_those_of_the_files(tmp_path: Path) -> None:
    from netspurt._core import Tasks

    sweeps.written(tmp_path)
    plan = Plan(ns.load(tmp_path / "scenario.toml").native, build(None, LOSSES, None, None, 2, None))
    batches = []
    (tmp_path / "tasks").mkdir()
    for task in plan:
        job = Job(task.name, plan.scenario(task.point).merged(), task.seed)
        batches.append(pickle.loads(pickle.dumps(perform(plan.version, "scenario.toml", [job], None))))
        (tmp_path / "tasks" / f"{task.name}.parquet").write_bytes(batches[-1].outcomes[0].file)
    sent = Tasks()
    for batch in reversed(batches):
        sent.take(batch.rows)
    sent.take(perform(plan.version, "scenario.toml", [job], None).rows)  # known: nothing comes twice
    table = plan.table(list(plan))
    one, other = gather(table, tmp_path / "nowhere", sent), gather(table, tmp_path / "tasks")
    assert len(sent) == len(batches) == 4
    assert any(name.startswith("drops_") for name in one["links"].columns)
    for name in ("flows", "groups", "links"):
        assert one[name].columns == other[name].columns
        assert one[name].sort("task").equals(other[name].sort("task"))


def test_slices_together_are_the_whole(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = [_json(capsys, [str(file), "--slice", f"{part}/4"])["ran"] for part in (1, 2, 3, 4)]
    assert sum(ran) == 60
    assert all(ran)
    assert _json(capsys, [str(file)])["ran"] == 0
    _json(capsys, [str(file), "--out", str(file.parent / "whole")])
    assert sweeps.contents(file.with_suffix(".sweep")) == sweeps.contents(file.parent / "whole")


STOP = """
[stop]
quantity = "goodput_bps"
within = 0.05
least = 3
round = 4
"""


def test_a_point_stops_when_its_mean_is_known_in_any_order_of_completion(
    file: Path, scenario: ns.Scenario
) -> None:
    file.write_text(sweeps.SWEEP.replace("seeds = 10", "seeds = 30") + STOP)
    from netspurt.analysis.statistics import mean_interval

    results = [ns.sweep(file, out=file.parent / f"jobs{jobs}", jobs=jobs) for jobs in (1, 3)]
    assert results[0].flows.equals(results[1].flows)
    seeds = results[0].tasks.group_by("point", maintain_order=True).agg(pl.col("seed"))
    assert len({len(each) for each in seeds["seed"]}) > 1
    for point, own in seeds.iter_rows():
        assert own == list(range(1, len(own) + 1))
        values = results[0].flows.filter(pl.col("point") == point)["goodput_bps"]
        # As far as the first look at which the interval is narrow enough, and no further.
        for look in (3, 7, 11, 15, 19, 23, 27, 30):
            estimate = mean_interval(values[:look].to_list())
            assert estimate.high is not None
            if look >= len(own) or estimate.high - estimate.mean <= 0.05 * estimate.mean:
                assert look == len(own)
                break


def test_an_interrupted_early_stop_ends_where_the_whole_one_does(file: Path) -> None:
    file.write_text(sweeps.SWEEP.replace("seeds = 10", "seeds = 30") + STOP)
    whole = ns.sweep(file, out=file.parent / "whole")
    part = file.parent / "part"
    ns.sweep(file, out=part)
    for path in sorted((part / "tasks").iterdir())[::3]:
        path.unlink()
    assert ns.sweep(file, out=part).flows.equals(whole.flows)


class Failing(Executor):
    """Runs at once, and fails at what it is told to fail at."""

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if any(job.seed == self.at for job in args[2]):
            self.calls += 1
            future.set_exception(MemoryError("no room for this one"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_failed_task_is_listed_left_alone_and_tried_again_on_request(
    scenario: ns.Scenario, tmp_path: Path
) -> None:
    out, failing = tmp_path / "out", Failing(4)
    result = ns.sweep(scenario, seeds=20, out=out, executor=failing)
    assert result.flows["seed"].to_list() == [seed for seed in range(1, 21) if seed != 4]
    (row,) = result.failed.iter_rows(named=True)
    assert (row["seed"], row["error"]) == (4, "MemoryError: no room for this one")
    calls = failing.calls
    assert ns.sweep(scenario, seeds=20, out=out, executor=failing).failed.height == 1
    assert failing.calls == calls
    again = ns.sweep(scenario, seeds=20, out=out, retry=True)
    assert again.failed.height == 0
    assert again.flows.height == 20


class Breaking(Failing):
    """Breaks down for good after so many calls."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        if self.calls > self.at:
            raise BrokenExecutor("a child process terminated abruptly")
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_a_broken_executor_is_reported_and_results_are_kept(scenario: ns.Scenario, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(
        EngineError, match=r"the executor failed .*terminated abruptly.* tasks are done and kept"
    ) as caught:
        ns.sweep(scenario, seeds=40, out=out, executor=Breaking(3))
    kept = len(sweeps.contents(out))
    assert 0 < kept < 40
    assert f"{kept} of 40" in str(caught.value)
    assert ns.sweep(scenario, seeds=40, out=out).flows.height == 40


def test_a_worker_of_another_version_is_refused(scenario: ns.Scenario) -> None:
    class Elsewhere(Executor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            try:
                fn("0.0.9", *args[1:], **kwargs)
            except RequestError as error:
                future.set_exception(error)
            return future

    with pytest.raises(RequestError, match=r"a worker has netspurt .*: install one version everywhere"):
        ns.sweep(scenario, seeds=3, executor=Elsewhere())


def test_the_command_lists_failures_and_exits_with_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Names are known before anything runs: a failure left there is one of this sweep's.
    ns.sweep(file, out=file.with_suffix(".sweep"))
    victim = sorted((file.with_suffix(".sweep") / "tasks").iterdir())[7]
    victim.unlink()
    why = {"point": 0, "seed": 2, "settings": "x = 1", "error": "PanicException: broken"}
    (file.with_suffix(".sweep") / "failed" / f"{victim.stem}.json").write_text(json.dumps(why))
    assert main(["sweep", str(file)]) == 1
    out = capsys.readouterr().out
    assert "PanicException: broken" in out
    assert "--retry" in out
    assert main(["sweep", str(file), "--retry", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ran"] == 1


def test_a_full_disk_is_reported_and_results_are_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    room, real = [20], os.write

    def write(handle: int, data: bytes) -> int:
        if data[:4] == b"PAR1":
            room[0] -= 1
            if room[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    assert main(["sweep", str(file)]) == 2
    error = capsys.readouterr().err
    assert "no space is left there" in error
    kept = len(sweeps.contents(file.with_suffix(".sweep")))
    assert f"the {kept} completed tasks are kept" in error
    assert 0 < kept < 20
    monkeypatch.undo()
    assert _json(capsys, [str(file)])["found"] == kept


def test_two_sweeps_do_not_write_to_one_folder(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ns.sweep(file, out=file.with_suffix(".sweep"))
    with (file.with_suffix(".sweep") / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["sweep", str(file)]) == 2
        assert "another sweep is writing to" in capsys.readouterr().err
        assert main(["sweep", str(file), "--slice", "1/2"]) == 2
        fcntl.flock(lock, fcntl.LOCK_SH)  # as a slice holds it
        assert main(["sweep", str(file)]) == 2
        assert main(["sweep", str(file), "--slice", "1/2"]) == 0


def test_results_of_another_version_are_not_mixed_with_ours(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = file.with_suffix(".sweep")
    ns.sweep(file, out=out)
    about = json.loads((out / "sweep.json").read_text())
    (out / "sweep.json").write_text(json.dumps(about | {"netspurt": "0.0.9"}))
    assert main(["sweep", str(file)]) == 2
    assert re.search(r"is a sweep of netspurt 0\.0\.9, and this is 0\.2", capsys.readouterr().err)


def test_a_folder_of_something_else_is_left_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(file), "--out", str(file.parent)]) == 2
    assert "is not the folder of a sweep" in capsys.readouterr().err
    assert sorted(path.name for path in file.parent.iterdir()) == ["scenario.toml", "sweep.toml"]


def test_a_file_cut_short_by_a_power_failure_is_run_again(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _json(capsys, [str(file)])
    out = file.with_suffix(".sweep")
    before = sweeps.contents(out)
    names = sorted(before)
    (out / "tasks" / names[0]).write_bytes(b"")
    (out / "tasks" / names[1]).write_bytes(before[names[1]][:1000])
    assert _json(capsys, [str(file)])["ran"] == 2
    assert sweeps.contents(out) == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("link.line.delay", "link.line.dely"), r'sweep\.toml:6: .*unknown key "dely": did you mean "delay"'),
        (('["reno", "cubic"]', "[]"), r"sweep\.toml:7: tcp\.congestion: the list is empty"),
        (('["reno", "cubic"]', '["reno", "qubic"]'), r"sweep\.toml:7: point 1 .*qubic"),
        (("[grid]", "[gird]"), r"sweep\.toml:5: gird is not a key of a sweep, did you mean 'grid'"),
        (("seeds = 10", "seeds = 0"), r"there are no seeds"),
        (("seeds = 10", "seeds = [1, 1]"), r"a seed appears twice"),
        (("seeds = 10", "seeds = "), r"sweep\.toml: Invalid value \(at line 3"),
        (("scenario.toml", "scenaro.toml"), r"there is no file .*, did you mean '.*scenario\.toml'"),
        (("scenario.toml", "missing.toml"), r"sweep\.toml:2: scenario: there is no file"),
        (
            ('["reno", "cubic"]', '{ from = "1 ms", to = "2 s", count = 3 }'),
            "both ends of a range must have the same unit",
        ),
        (("[grid]\n", "[sample]\ncount = 3\nover = {}\n[grid]\n"), "a sample needs at least one path"),
        (("[grid]\n", '[stop]\nquantity = "x"\n[grid]\n'), "the relative width of its interval"),
    ],
)
def test_a_wrong_sweep_is_refused_in_a_sentence(
    file: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], sentence: str
) -> None:
    file.write_text(sweeps.SWEEP.replace(*change))
    assert main(["sweep", str(file)]) == 2
    error = capsys.readouterr().err
    assert re.search(sentence, error), error
    assert error.count("\n") == 1
    assert not file.with_suffix(".sweep").exists()


def test_a_quantity_that_no_run_has_stops_the_sweep(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(sweeps.SWEEP + '[stop]\nquantity = "godput_bps"\nwithin = 0.1\n')
    assert main(["sweep", str(file)]) == 2
    assert "did you mean 'goodput_bps'" in capsys.readouterr().err


def test_a_missing_scheduler_is_reported_within_ten_seconds(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="Dask is an optional extra")
    assert main(["sweep", str(file), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_without_dask_nothing_of_it_is_imported(file: Path) -> None:
    import subprocess
    import sys

    package = str(Path(ns.__file__).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {package!r}); import netspurt as ns; ns.sweep({str(file)!r}); "
        "assert not {'dask', 'distributed', 'dask_jobqueue'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_wrong_slice_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(file), "--slice", "3/2"]) == 2
    assert "must be I/N with 1 ≤ I ≤ N" in capsys.readouterr().err


def test_a_sweep_file_is_complete(file: Path) -> None:
    with pytest.raises(RequestError, match="load the scenario"):
        ns.sweep(file, grid={"tcp.congestion": ["reno"]})
