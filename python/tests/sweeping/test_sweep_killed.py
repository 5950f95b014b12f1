"""Sweeps that are killed: what was done stays, nothing is done twice, and in the end nobody can tell."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sweeps

import netspurt as ns

pytest.importorskip("netspurt._core", reason="the native module is not built")

MANY = sweeps.SWEEP.replace("seeds = 10", "seeds = 150").replace('"200 kB"', '"1 MB"')
TASKS = 900
MOMENTS = 10


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    file = sweeps.written(folder, MANY)
    ns.sweep(file, out=file.with_suffix(".sweep"))
    return file


class Cluster:
    """A Dask scheduler and two workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        self.workers = [self.worker() for _ in range(2)]
        _until(self._is_told, "the scheduler")

    def _is_told(self) -> bool:
        """The file is there before all of it is written."""
        return self._file.is_file() and self._file.read_text().rstrip().endswith("}")

    @property
    def address(self) -> str:
        return str(json.loads(self._file.read_text())["address"])

    def worker(self) -> subprocess.Popen[bytes]:
        place = str(self._folder / f"worker-{time.monotonic_ns()}")
        return self._start(
            "worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", place
        )

    def stop(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{what}"
        path = os.pathsep.join([str(Path(ns.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-m", module, "--scheduler-file", str(self._file), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="Dask is an optional extra")
    cluster = Cluster(tmp_path_factory.mktemp("dask"))
    yield cluster
    cluster.stop()


def _until(holds: object, what: str) -> None:
    assert callable(holds)
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, f"{what} did not come within a minute"
        time.sleep(0.001)


def _count(folder: Path) -> int:
    try:
        return sum(1 for _ in os.scandir(folder / "tasks"))
    except FileNotFoundError:
        return 0


SIGNALLED = """
import signal, sys
named, after = int(sys.argv.pop(1)), float(sys.argv.pop(1))
def hook(event, arguments):
    global named
    if event == "os.rename" and "/tasks/" in str(arguments[1]):
        named -= 1
        if named == 0:
            signal.setitimer(signal.ITIMER_REAL, after) if after else signal.raise_signal(signal.SIGINT)
sys.addaudithook(hook)
from netspurt.cli import main
sys.exit(main())
"""
"""The command, which gets a signal at its n-th task: SIGALRM after a time, or SIGINT. SIGALRM ends a process as
SIGKILL does: it runs nothing more. The process sets its timer itself, because on a busy machine the signal of another
process may come after the end of the sweep."""

LONGEST_S = 0.001
"""A task is written in a tenth of it, so the end comes anywhere in the writing of the next tasks."""


def _killed_and_resumed(file: Path, out: Path, options: list[str], seed: int) -> None:
    """Ten times an abrupt end, each after a random number of tasks more; then to the end."""
    whole = sweeps.contents(file.with_suffix(".sweep"))
    chance = random.Random(seed)
    for left_over in range(MOMENTS, 0, -1):
        more = chance.randint(1, max(1, (TASKS - _count(out)) // (left_over + 1)))
        process = sweeps.start(
            [str(file), "--out", str(out), *options],
            program=["-c", SIGNALLED, str(more), str(chance.uniform(1e-6, LONGEST_S))],
        )
        _printed, error = process.communicate(timeout=120)
        assert process.returncode == -signal.SIGALRM, f"seed {seed}: {error}"
        # What has a name is whole, and what an undisturbed sweep would have left.
        left = sweeps.contents(out)
        assert left.items() <= whole.items(), f"seed {seed}, {left_over} ends to come"
        times = {path: path.stat().st_mtime_ns for path in (out / "tasks").iterdir()}
    report = sweeps.finish(sweeps.start([str(file), "--out", str(out), *options]))
    assert report["found"] == len(left), f"seed {seed}"
    assert report["found"] + report["ran"] == report["tasks"] == TASKS, f"seed {seed}"
    assert {path: path.stat().st_mtime_ns for path in times} == times, f"seed {seed}: something ran twice"
    assert sweeps.contents(out) == whole, f"seed {seed}"
    for name in ("plan", "flows", "groups", "links"):
        own, other = (folder / f"{name}.parquet" for folder in (out, file.with_suffix(".sweep")))
        assert own.read_bytes() == other.read_bytes(), f"seed {seed}: {name}"
    assert not list(out.glob(".writing*")), f"seed {seed}"


def _seed() -> int:
    return int(os.environ.get("NETSPURT_SEED", random.SystemRandom().randrange(2**32)))


def test_a_sweep_on_threads_survives_ten_abrupt_ends(undisturbed: Path, tmp_path: Path) -> None:
    _killed_and_resumed(undisturbed, tmp_path / "out", ["--jobs", "2"], _seed())


def test_a_sweep_on_dask_survives_ten_abrupt_ends(
    undisturbed: Path, tmp_path: Path, cluster: Cluster
) -> None:
    _killed_and_resumed(undisturbed, tmp_path / "out", ["--scheduler", cluster.address], _seed())


def test_a_worker_killed_under_dask_loses_nothing(
    undisturbed: Path, tmp_path: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    process = sweeps.start([str(undisturbed), "--out", str(out), "--scheduler", cluster.address])
    _until(lambda: _count(out) > TASKS // 10 or process.poll() is not None, "a tenth of the tasks")
    victim = cluster.workers.pop()
    victim.kill()
    victim.wait()
    report = sweeps.finish(process)
    cluster.workers.append(cluster.worker())
    assert (report["ran"], report["failed"]) == (TASKS, [])
    assert sweeps.contents(out) == sweeps.contents(undisturbed.with_suffix(".sweep"))


def test_a_dask_client_is_an_executor_and_is_left_running(tmp_path: Path, cluster: Cluster) -> None:
    import distributed

    file = sweeps.written(tmp_path)
    with distributed.Client(cluster.address, set_as_default=False) as client:
        result = ns.sweep(file, out=tmp_path / "out", executor=client)
        assert client.status == "running"
    assert result.flows.equals(ns.sweep(file).flows)


def test_ctrl_c_keeps_results_and_prints_how_to_continue(undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = sweeps.start([str(undisturbed), "--out", str(out)], program=["-c", SIGNALLED, "6", "0"])
    printed, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    report = json.loads(printed)
    assert not report["complete"]
    assert report["ran"] == _count(out)
    assert "Traceback" not in error
