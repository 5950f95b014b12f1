"""Measures the speed and size of netspurt, prints each figure with its goal, and writes the figures as JSON.

`bench.py` takes ten minutes, `bench.py short` a few seconds, as a test of the benchmarks; `bench.py build` only builds
the program. CPU time is the child's user and system time, the median of several runs. If valgrind is installed, its
callgrind counts instructions, as the difference between two lengths of the same run, so that the setup of the
simulation does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import profiled
from benchmarks.captures import captures
from benchmarks.live import emulator, sockets, wire
from benchmarks.measuring import ROOT, Figure, cpu_seconds, number
from benchmarks.simulator import simulator


def build(as_wheels: bool = False) -> Path:
    """Builds the benchmark program, as it is or with counts of other work as portable wheels are; returns its path."""
    if as_wheels:
        return profiled.build()
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "netspurt-bench"], cwd=ROOT, check=True)
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True
    )
    return Path(json.loads(metadata.stdout)["target_directory"]) / "release" / "netspurt-bench"


def replay_rate(program: Path, estimator: str, millions: int, runs: int) -> float:
    """Millions of steps (delays times estimators) of a grid per CPU second: the median."""

    def once() -> float:
        cpu, text = cpu_seconds([str(program), "replay", "grid", estimator, str(millions)])
        return number(r"steps (\d+)", text) / cpu / 1e6

    return statistics.median(once() for _ in range(runs))


def sweeps(short: bool) -> list[Figure]:
    """The overhead of sweeps, and the speedup by a second Dask worker, if netspurt is installed."""
    python = ROOT / ".venv" / "bin" / "python"
    if not python.with_name("netspurt").exists():
        return []
    command = [str(python), str(ROOT / "tools" / "bench_sweeps.py"), *(["short"] if short else [])]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(run.stdout)
    what = f"sweep of {found['tasks']} runs of {1e3 * found['run_s']:.1f} ms"
    figures = [
        Figure(what, 100 * found["besides_s"] / found["run_s"], "% more than its runs", "", "< 5"),
        Figure(what, 1e3 * found["besides_s"], "ms a task besides", "", ""),
    ]
    for words, (ratio, bare) in found.get("two_against_one", {}).items():
        ideal = f"times one (two processes: {bare:.2f})"
        figures.append(Figure(f"sweep on two Dask workers, {words}", ratio, ideal, "", ">= 1.8"))
    return figures


def start_up(runs: int) -> list[Figure]:
    """Milliseconds of `netspurt --help` and of a small run, if it is installed in the checkout."""
    command = ROOT / ".venv" / "bin" / "netspurt"
    if not command.exists():
        return []

    def took(*words: str) -> float:
        begun = time.perf_counter()
        subprocess.run([str(command), *words], check=True, capture_output=True)
        return (time.perf_counter() - begun) * 1000

    example = str(ROOT / "examples" / "satellite.toml")
    return [
        Figure(what, statistics.median(took(*words) for _ in range(runs)), "ms", must, must)
        for what, words, must in (
            ("netspurt --help", ("--help",), "<= 100"),
            ("netspurt run satellite.toml", ("run", example), "<= 250"),
        )
    ]


def measure(program: Path, short: bool) -> list[Figure]:
    """All figures that this machine can measure."""
    seconds, runs = (2, 1) if short else (30, 5)
    figures = simulator(program, short, seconds, runs)
    for estimator in ("rfc889", "linux"):
        steps = replay_rate(program, estimator, 1 if short else 4, runs)
        figures.append(
            Figure(f"timers replayed, {estimator}", steps, "million steps per CPU second", "", ">= 50")
        )
    figures += captures(program, short, runs)
    figures += wire(program, short, runs)
    figures += emulator(program, short)
    figures.append(sockets(program, short))
    figures += sweeps(short)
    figures += start_up(1 if short else 5)
    return figures


def main() -> None:
    """Prints a table, and writes `bench.json` to the build folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words = (
        "'short' takes seconds, as a test of the benchmarks; 'build' only builds the program (default: all)"
    )
    parser.add_argument("what", nargs="?", choices=("all", "short", "build"), default="all", help=words)
    parser.add_argument("--profiled", action="store_true", help=profiled.HELP)
    asked = parser.parse_args()
    what = asked.what
    try:
        program = build(asked.profiled)
    except profiled.NoMergerError as error:
        sys.exit(f"bench: {error}")
    if what == "build":
        return
    figures = measure(program, short=what == "short")
    rows = [("what", "measured", "unit", "milestone", "goal")]
    rows += [(f.what, f"{f.measured:.4g}", f.unit, f.milestone, f.goal) for f in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    out = program.parent.parent / "bench.json"
    out.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")
    print(f"written to {os.path.relpath(out)}")


if __name__ == "__main__":
    main()
