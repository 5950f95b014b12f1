"""The overhead of a sweep, and the speedup of two Dask workers over one.

`bench.py` runs it with the Python that has netspurt, and reads its JSON output. CPU time is this process's own,
of all its threads, so it includes everything that a sweep does besides simulating.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import netspurt as ns
from netspurt import threads

SCENARIO = """
duration = "60 s"

[link.line]
between = ["a", "b"]
rate = "20 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
loss = { kind = "packet-error", rate = 0.003 }

[[flow]]
app = { kind = "bulk", bytes = "7 MiB" }
from = "a"
to = "b"
count = 2
"""
"""Two transfers that share a line and its losses: about 10 000 packets, 5 ms."""

GRID = {
    "link.line.delay": {"from": "2 ms", "to": "100 ms", "count": 25, "scale": "log"},
    "link.line.loss.rate": [1e-4, 1e-3, 3e-3, 1e-2],
}


class Timed:
    """A scenario that sums the CPU time of its runs."""

    spent_s = 0.0

    def __init__(self, native: Any) -> None:
        self._native = native
        self.merged = native.merged

    def run(self, seed: int) -> Any:
        """Runs and measures the CPU time of this thread."""
        begun = time.thread_time()
        try:
            return self._native.run(seed)
        finally:
            Timed.spent_s += time.thread_time() - begun


class Threads(threads.Threads):
    """One thread of a sweep's thread pool, with timed runs."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Submits jobs with timed scenarios."""
        made_by, name, jobs, *rest = args
        timed = [replace(job, scenario=Timed(job.scenario)) for job in jobs]
        return super().submit(fn, made_by, name, timed, *rest, **kwargs)


def overhead(seeds: int) -> dict[str, float]:
    """For a sweep of 100 points: mean CPU seconds of a run, and of all other work for a task.

    One sweep gives both, because the clock of a shared machine drifts by more than the overhead.
    """
    scenario = ns.parse(SCENARIO)
    executor = Threads(1)
    with tempfile.TemporaryDirectory() as folder:
        # One run first, so that imports on first use do not count.
        ns.sweep(scenario, grid=GRID, seeds=1, out=Path(folder) / "warm", executor=executor, jobs=1)
        Timed.spent_s, begun = 0.0, time.process_time()
        ns.sweep(scenario, grid=GRID, seeds=seeds, out=Path(folder) / "sweep", executor=executor, jobs=1)
        whole, tasks = time.process_time() - begun, 100 * seeds
    executor.shutdown()
    return {"tasks": tasks, "run_s": Timed.spent_s / tasks, "besides_s": (whole - Timed.spent_s) / tasks}


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A Dask scheduler and workers of one thread, each in a process; yields the address.

    Dask's profiler, which samples each worker a hundred times a second, is off (docs/engineering/performance.md).
    """
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        file = Path(folder) / "scheduler.json"

        def start(what: str, *words: str) -> None:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(file), *words],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            running.callback(process.wait)
            running.callback(process.terminate)

        start("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        for number in range(workers):
            place = str(Path(folder) / f"worker-{number}")
            start("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", place)
        while not (file.is_file() and file.read_text().rstrip().endswith("}")):
            time.sleep(0.05)
        yield str(json.loads(file.read_text())["address"])


def of_size(octets: str) -> ns.Scenario:
    """The scenario with transfers of this size."""
    return ns.parse(SCENARIO).set({"flow.0.app.bytes": octets})


def workers(number: int, octets: str, seeds: int, folder: Path) -> float:
    """Seconds of a sweep of 100 points on this many Dask workers, all of them connected at the start."""
    distributed: Any = importlib.import_module("distributed")

    scenario = of_size(octets)
    with cluster(number) as address, distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(number)
        # One sweep first, so that the workers have imported everything.
        ns.sweep(scenario, grid=GRID, seeds=[10**6], executor=client, out=folder / "warm")
        begun = time.perf_counter()
        ns.sweep(scenario, grid=GRID, seeds=seeds, executor=client, out=folder / "sweep")
        return time.perf_counter() - begun


def processes(number: int, octets: str, seeds: int) -> float:
    """Seconds of the same runs, distributed over this many processes without Dask."""
    words = [sys.executable, __file__, "runs", octets, str(seeds // number)]
    begun = time.perf_counter()
    running = [subprocess.Popen(words) for _ in range(number)]
    for process in running:
        process.wait()
    return time.perf_counter() - begun


def two_against_one(octets: str, seeds: int, rounds: int) -> tuple[float, float]:
    """Speedup of two Dask workers over one, and of two plain processes: the upper limit on this machine.

    Each round measures everything, because the speed of a shared machine varies by a factor of two; the median counts.
    """
    of_workers, of_processes = [], []
    # Folders are deleted at the end only: on ext4 a file costs ten times as much after thousands of deletions.
    with tempfile.TemporaryDirectory() as name:
        for each in range(rounds):
            one, two = (workers(number, octets, seeds, Path(name) / f"{each}-{number}") for number in (1, 2))
            of_workers.append(one / two)
            one, two = (processes(number, octets, seeds) for number in (1, 2))
            of_processes.append(one / two)
    return statistics.median(of_workers), statistics.median(of_processes)


def main() -> None:
    """Prints all figures; with `short`, a part of them."""
    if sys.argv[1:2] == ["runs"]:
        point = of_size(sys.argv[2]).native
        for seed in range(100 * int(sys.argv[3])):
            point.run(seed)
        return
    short = "short" in sys.argv[1:]
    found: dict[str, Any] = {**overhead(2 if short else 100)}
    if importlib.util.find_spec("distributed") is None:
        print("bench: Dask is not installed, so its workers are not measured", file=sys.stderr)
    elif (os.cpu_count() or 1) >= 2 and not short:
        found["two_against_one"] = {
            words: two_against_one(octets, seeds, rounds=3)
            for words, octets, seeds in (
                ("small runs", "7 MiB", 30),
                ("runs eight times as long", "56 MiB", 4),
            )
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
