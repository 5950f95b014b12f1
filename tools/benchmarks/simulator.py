"""The simulator: the workload *bulk*, two cores, and a million flows."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import ROOT, Figure, cost, cpu_seconds, number

BULK = ("bulk", "16")
"""The words of *bulk* with 16 flows."""


def rate(program: Path, flows: int, seconds: int, runs: int) -> float:
    """Millions of data packets per CPU second of *bulk*: the median."""

    def once() -> float:
        cpu, text = cpu_seconds([str(program), "bulk", str(flows), str(seconds)])
        return number(r"data packets (\d+)", text) / cpu / 1e6

    return statistics.median(once() for _ in range(runs))


def instructions(
    program: Path, words: Sequence[str], lengths: tuple[int, int], tcp: Sequence[str] = ()
) -> float:
    """Instructions per data packet of a workload, from two lengths of simulated time, which follow its ``words``."""

    def once(seconds: int) -> tuple[float, float]:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program)]
        run = subprocess.run(
            [*command, *words, str(seconds), *tcp], capture_output=True, text=True, check=True
        )
        return number(r"Collected : (\d+)", run.stderr), number(r"data packets (\d+)", run.stdout)

    (less, few), (more, many) = (once(seconds) for seconds in lengths)
    return (more - less) / (many - few)


def two_cores(program: Path, seconds: int) -> float:
    """The speedup of two runs in parallel over two runs in sequence."""
    command = [str(program), "bulk", "16", str(seconds)]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    alone = time.perf_counter() - begun
    begun = time.perf_counter()
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    for child in both:
        child.wait()
    return 2 * alone / (time.perf_counter() - begun)


def two_threads(program: Path, flows: int, runs: int) -> float:
    """The speedup of one run by a second thread: the median of alternating pairs."""

    def once() -> float:
        walls = []
        for threads in ("1", "2"):
            command = [str(program), "bulk", str(flows), "60", "newreno", "fused", threads]
            run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            walls.append(number(r"wall ([\d.]+) s", run.stdout))
        return walls[0] / walls[1]

    return statistics.median(once() for _ in range(runs))


def many_flows(program: Path, runs: int) -> list[Figure]:
    """The rates of 1 000 and 10 000 flows against that of 16: medians of alternating runs."""

    def once() -> tuple[float, ...]:
        few, *many = (
            rate(program, flows, seconds, 1) for flows, seconds in ((16, 20), (1000, 4), (10_000, 4))
        )
        return tuple(one / few for one in many)

    shares = [statistics.median(column) for column in zip(*(once() for _ in range(runs)), strict=True)]
    return [
        Figure(f"bulk, {flows} flows", share, "of the rate of 16 flows", must, aim)
        for flows, share, must, aim in zip(
            (1000, 10_000), shares, (">= 0.5", ">= 0.27"), (">= 0.6", ">= 0.4"), strict=True
        )
    ]


MILLION = """
duration = "DURATION"

[tcp]
profile = "linux"

[link.wan]
between = ["a", "b"]
rate = "100 Gbit/s"
delay = "10 ms"

[[flow]]
app = { kind = "bulk", bytes = "10 kB" }
from = "a"
to = "b"
count = 1000000
stagger = "STAGGER"
"""
"""A million transfers, one each STAGGER."""

AT_ONCE = MILLION.replace("STAGGER", "0 s").replace("100 Gbit/s", "1 Tbit/s").replace("10 ms", "50 ms")
"""The same at the same moment."""


def million_flows() -> list[Figure]:
    """How soon a million flows start, and what memory and time they take, if netspurt is installed."""
    command = ROOT / ".venv" / "bin" / "netspurt"
    if not command.exists():
        return []
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "million.toml"
        one_by_one = MILLION.replace("STAGGER", "10 us")
        for text, duration, what, goal in (
            (one_by_one, "1 us", "started and reported", "<= 10"),
            (one_by_one, "20 s", "transferred", ""),
            (AT_ONCE, "1 s", "transferred at once", ""),
        ):
            scenario.write_text(text.replace("DURATION", duration))
            cpu, memory, _ = cost([str(command), "run", str(scenario)])
            figures += [
                Figure(f"a million flows, {what}", cpu, "CPU s", goal, goal),
                Figure(f"a million flows, {what}", memory / 1e3, "GB", "<= 4.3", "<= 4.3"),
            ]
    return figures


def simulator(program: Path, short: bool, seconds: int, runs: int) -> list[Figure]:
    """All figures of the simulator."""
    million = "million data packets per CPU second"
    figures = [
        Figure("bulk, 1 flow", rate(program, 1, seconds, runs), million, "", ""),
        Figure("bulk, 16 flows", rate(program, 16, seconds, runs), million, ">= 3", ">= 6"),
        Figure("bulk, 256 flows", rate(program, 256, seconds, runs), million, ">= 2.5", ">= 5"),
    ]
    if shutil.which("valgrind"):
        # Of the same time as those of profile linux below: in the first seconds they are 1 % fewer.
        counted = instructions(program, BULK, (1, 2) if short else (10, 20), ["newreno"])
        what = "instructions per data packet"
        figures.append(Figure("bulk, 16 flows", counted, what, "<= 1300", "<= 900"))
        if not short:
            linux = instructions(program, BULK, (10, 20), ["linux-each"])
            figures += [
                Figure("bulk, 16 flows, profile linux, an ACK for each segment", linux, what, "", ""),
                Figure("profile linux against newreno", linux / counted, "times", "<= 1.25", "<= 1.15"),
                Figure(
                    "web load of rfc2415",
                    instructions(program, ["web"], (300, 600)),
                    what,
                    "<= 2400",
                    "<= 1440",
                ),
            ]
    else:
        print("bench: valgrind is not installed, so no instructions are counted", file=sys.stderr)
    _, text = cpu_seconds([str(program), "idle", "20000" if short else "200000"])
    figures.append(
        Figure("idle flow, both ends", number(r"\)\s+(\d+) bytes each", text), "bytes", "<= 1024", "<= 1024")
    )
    if short:
        return figures
    figures += many_flows(program, runs)
    figures += million_flows()
    figures.append(
        Figure("two runs on two cores", two_cores(program, seconds), "times one core", "", ">= 1.95")
    )
    for flows in (16, 256):
        speedup = two_threads(program, flows, runs)
        what = f"one run of {flows} flows on two cores"
        figures.append(Figure(what, speedup, "times one core", ">= 1.6", ">= 1.8"))
    return figures
