"""What a sweep costs beside its runs, and how many times faster two Dask workers are than one.

`bench.py` runs it with the Python that has netspurt, and reads the JSON that it prints. CPU time is this process's own:
all of its threads', so whatever a sweep does besides simulating counts, wherever it does it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import netspurt as ns
from netspurt import _core

SCENARIO = """
duration = "60 s"

[link.line]
between = ["a", "b"]
rate = "20 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
loss = { kind = "packet-error", rate = 0.003 }

[[flow]]
app = { kind = "bulk", bytes = "6 MiB" }
from = "a"
to = "b"
count = 2
"""
"""Two transfers that share a line and its losses: some 9000 packets, 5 ms."""

GRID = {
    "link.line.delay": {"from": "2 ms", "to": "100 ms", "count": 25, "scale": "log"},
    "link.line.loss.rate": [1e-4, 1e-3, 3e-3, 1e-2],
}


def alone(points: list[_core.Scenario], seeds: list[int]) -> float:
    """CPU seconds of a run without a sweep, in the mean."""
    begun = time.process_time()
    for seed in seeds:
        for point in points:
            point.run(seed)
    return (time.process_time() - begun) / (len(seeds) * len(points))


def overhead(seeds: int) -> dict[str, float]:
    """Of a sweep of 100 points: CPU seconds of a run, and of all that a sweep does besides, for each task."""
    scenario = ns.parse(SCENARIO)
    with tempfile.TemporaryDirectory() as folder:
        # Once, so that what is loaded when first needed does not count, and to have the points.
        small = ns.sweep(scenario, grid=GRID, seeds=1, out=Path(folder) / "warm", jobs=1)
        points = [
            scenario.set({path: row[path] for path in GRID}).native
            for row in small.tasks.iter_rows(named=True)
        ]
        # Before and behind: the clock of a shared machine drifts.
        sample = list(range(1, max(2, seeds // 10) + 1))
        before = alone(points, sample)
        begun = time.process_time()
        ns.sweep(scenario, grid=GRID, seeds=seeds, out=Path(folder) / "sweep", jobs=1)
        swept = (time.process_time() - begun) / (seeds * len(points))
        run = (before + alone(points, sample)) / 2
        # The same number of tasks that hardly simulate: here nothing can hide in the runs' own noise.
        empty = scenario.set({"flow.0.app.bytes": "1 kB", "flow.0.count": 1})
        idle = alone([empty.set({"link.line.delay": f"{k} ms"}).native for k in range(1, 101)], sample)
        begun = time.process_time()
        ns.sweep(empty, grid=GRID, seeds=seeds, out=Path(folder) / "empty", jobs=1)
        bare = (time.process_time() - begun) / (seeds * len(points)) - idle
    return {"tasks": seeds * len(points), "run_s": run, "besides_s": swept - run, "empty_besides_s": bare}


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A Dask scheduler and so many workers of one thread, each a process: its address."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        file = Path(folder) / "scheduler.json"

        def start(what: str, *words: str) -> None:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(file), *words],
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


def dask(seeds: int) -> dict[str, float]:
    """Seconds that a sweep of 100 points takes on one worker and on two, with all workers there from the beginning."""
    distributed: Any = importlib.import_module("distributed")

    scenario = ns.parse(SCENARIO)
    seconds = {}
    for workers in (1, 2):
        with cluster(workers) as address, distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers)
            # Once, so that the workers have loaded all they need.
            ns.sweep(scenario, grid=GRID, seeds=[10**6], executor=client)
            begun = time.perf_counter()
            ns.sweep(scenario, grid=GRID, seeds=seeds, executor=client)
            seconds[f"workers_{workers}_s"] = time.perf_counter() - begun
    return {**seconds, "two_against_one": seconds["workers_1_s"] / seconds["workers_2_s"]}


def processes(seeds: int) -> dict[str, float]:
    """What two processes can be worth here: the same runs in one process, and half of them in each of two."""
    words = [sys.executable, __file__, "runs"]
    seconds = []
    for parts in (1, 2):
        begun = time.perf_counter()
        running = [subprocess.Popen([*words, str(seeds // parts)]) for _ in range(parts)]
        for process in running:
            process.wait()
        seconds.append(time.perf_counter() - begun)
    return {"processes_two_against_one": seconds[0] / seconds[1]}


def main() -> None:
    """Prints all of it, or what `short` leaves of it."""
    if sys.argv[1:2] == ["runs"]:
        point = ns.parse(SCENARIO).native
        for seed in range(100 * int(sys.argv[2])):
            point.run(seed)
        return
    short = "short" in sys.argv[1:]
    found = overhead(2 if short else 100)
    if importlib.util.find_spec("distributed") is None:
        print("bench: Dask is not installed, so its workers are not measured", file=sys.stderr)
    elif (os.cpu_count() or 1) >= 2 and not short:
        found |= dask(40) | processes(40)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
