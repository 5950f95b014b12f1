"""Measures the speed and size of netspurt, prints each figure with its goal, and writes the figures as JSON.

`bench.py` takes a minute or two, `bench.py short` a few seconds, as a test of the benchmarks. CPU time is the
child's user and system time, the median of several runs. If valgrind is installed, its callgrind counts instructions,
as the difference between two lengths of the same run, so that the setup of the simulation does not count.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SKIPPED = 77
"""The exit status of a benchmark that lacks a privilege or device."""


@dataclass(frozen=True)
class Figure:
    """One measured quantity with its goal."""

    what: str
    measured: float
    unit: str
    milestone: str
    goal: str


def build() -> Path:
    """Builds the benchmark programs; returns the path of the simulator's."""
    crates = ["-p", "netspurt-scenario", "-p", "netspurt-trace", "-p", "netspurt-live"]
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bins", *crates], cwd=ROOT, check=True)
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True
    )
    return Path(json.loads(metadata.stdout)["target_directory"]) / "release" / "netspurt-bench"


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    """Runs a command; returns its CPU time and its output."""
    cpu, _, text = cost(command)
    return cpu, text


def cost(command: list[str]) -> tuple[float, float, str]:
    """Runs a command; returns its CPU time, its peak memory in MB, and its output."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"bench: {' '.join(command)} exited with status {child.returncode}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, out.read()


def number(pattern: str, text: str) -> float:
    """The number that a pattern matches."""
    found = re.search(pattern, text)
    if not found:
        raise SystemExit(f"bench: there is no match for {pattern!r} in {text!r}")
    return float(found[1])


def rate(program: Path, flows: int, seconds: int, runs: int) -> float:
    """Millions of data packets per CPU second of *bulk*: the median."""

    def once() -> float:
        cpu, text = cpu_seconds([str(program), "bulk", str(flows), str(seconds)])
        return number(r"data packets (\d+)", text) / cpu / 1e6

    return statistics.median(once() for _ in range(runs))


def instructions(program: Path, flows: int, lengths: tuple[int, int]) -> float:
    """Instructions per data packet of *bulk*, from two lengths of simulated time."""

    def once(seconds: int) -> tuple[float, float]:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program)]
        run = subprocess.run(
            [*command, "bulk", str(flows), str(seconds)], capture_output=True, text=True, check=True
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


def replay_rate(program: Path, estimator: str, millions: int, runs: int) -> float:
    """Millions of steps (delays times estimators) of a grid per CPU second: the median."""

    def once() -> float:
        cpu, text = cpu_seconds([str(program), "grid", estimator, str(millions)])
        return number(r"steps (\d+)", text) / cpu / 1e6

    return statistics.median(once() for _ in range(runs))


CAPTURED = """
duration = "600 s"

[tcp]
profile = "linux"

[link.access]
between = ["a", "r"]
rate = "10 Gbit/s"
delay = "1 ms"

[link.wan]
between = ["r", "b"]
rate = "1 Gbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "2000 packets" }
loss = { kind = "packet-error", rate = 1e-5 }

[[flow]]
app = { kind = "bulk", bytes = "60 MiB" }
from = "a"
to = "b"
count = 16
"""
"""Makes a capture of 1.25 GB: 1.26 million packets, one in 16 of them retransmitted."""


def captures(program: Path, short: bool, runs: int) -> list[Figure]:
    """Reading captures, up to RTTs, if netspurt is built and can make them."""
    command = ROOT / ".venv" / "bin" / "netspurt"
    if not command.exists():
        print("bench: .venv/bin/netspurt is not built, so there is no capture to read", file=sys.stderr)
        return []
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        scenario, capture = Path(folder) / "big.toml", Path(folder) / "big.pcapng"
        scenario.write_text(CAPTURED.replace('"60 MiB"', '"2 MiB"') if short else CAPTURED)
        for what, snap in (("whole packets", []), ("headers only", ["--snaplen", "96"])):
            make = [str(command), "run", str(scenario), "--pcap", str(capture), *snap, "--json"]
            subprocess.run(make, check=True, capture_output=True)
            costs = [cost([str(program), str(capture)]) for _ in range(runs)]
            cpu = statistics.median(cpu for cpu, _, _ in costs)
            octets, packets = (number(rf"{name} (\d+)", costs[0][2]) for name in ("octets", "packets"))
            goals = (">= 1", "<= 200") if what == "whole packets" else ("", "")
            figures += [
                Figure(f"capture, {what}", octets / cpu / 1e9, "GB per CPU second", "", goals[0]),
                Figure(f"capture, {what}", packets / cpu / 1e6, "million packets per CPU second", "", ""),
                Figure(f"capture, {what}", max(memory for _, memory, _ in costs), "MB", "", goals[1]),
            ]
            if what == "whole packets":
                diagnose = [str(program.with_name("netspurt-why-bench")), str(capture)]
                cpu = statistics.median(cost(diagnose)[0] for _ in range(runs))
                rate = packets / cpu / 1e6
                figures.append(
                    Figure("why, whole packets", rate, "million packets per CPU second", "", ">= 3")
                )
    return figures


def wire(program: Path, short: bool, runs: int) -> list[Figure]:
    """Our TCP through a TUN device against the kernel's, if this machine allows a network namespace."""
    alone = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
    trial = subprocess.run([*alone, str(program), "trips", "1"], capture_output=True, text=True, check=False)
    if trial.returncode:
        print(f"bench: no TUN device for the wire figures: {trial.stderr.strip()}", file=sys.stderr)
        return []
    figures = []
    for what in ("receives", "sends"):
        texts = [
            cpu_seconds([*alone, str(program), what, "200" if short else "4000"])[1] for _ in range(runs)
        ]
        octets = number(r"bytes (\d+)", texts[0])
        seconds = statistics.median(number(r"seconds ([\d.]+)", text) for text in texts)
        cpu = statistics.median(number(r"host cpu seconds ([\d.]+)", text) for text in texts)
        figures += [
            Figure(
                f"wire, {what}",
                8e-9 * octets / seconds,
                "Gb/s",
                ">= 5.9" if what == "receives" else ">= 2.2",
                ">= 10",
            ),
            Figure(f"wire, {what}", 1e9 * cpu / octets, "CPU s per GB", "", "<= 0.5"),
        ]
    _, text = cpu_seconds([*alone, str(program), "trips", "1000" if short else "50000"])
    figures.append(
        Figure("wire, round trip of a byte", number(r"p50 us ([\d.]+)", text), "us (p50)", "", "<= 20")
    )
    return figures


def emulator(program: Path, short: bool) -> list[Figure]:
    """Lateness of packets and throughput, if this machine allows namespaces."""
    run = subprocess.run([str(program), "1" if short else "5"], capture_output=True, text=True)
    if run.returncode == SKIPPED:
        print(f"bench: no emulator: {run.stderr.strip()}", file=sys.stderr)
        return []
    run.check_returncode()
    lines = {line.split()[0]: line for line in run.stdout.splitlines()}
    figures = []
    for name, what in (
        ("datagrams", "emulator, one datagram at a time"),
        ("at-100-mbit", "emulator, 100 Mbit/s of TCP"),
    ):
        for share, goal in (("p50", "<= 50"), ("p99", "<= 500")):
            late = number(rf"{share} ([\d.]+) us", lines[name])
            figures.append(Figure(what, late, f"us too late, {share}", "", goal))
    held = number(r"rate ([\d.]+) Mbit/s", lines["no-limit"]) / 1e3
    return [*figures, Figure("emulator, one connection without limit", held, "Gbit/s", "", ">= 5")]


def sockets(program: Path, short: bool) -> Figure:
    """The cost of watching 1000 sockets ten times a second."""
    _, text = cpu_seconds([str(program), "1000", "1" if short else "10"])
    share = number(r"percent of a core ([\d.]+)", text)
    return Figure("1000 live sockets at 10 Hz", share, "% of a core", "", "<= 2")


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


def start_up(runs: int) -> float | None:
    """Milliseconds of `netspurt --help`, if it is installed in the checkout."""
    command = ROOT / ".venv" / "bin" / "netspurt"
    if not command.exists():
        return None

    def once() -> float:
        begun = time.perf_counter()
        subprocess.run([str(command), "--help"], check=True, capture_output=True)
        return (time.perf_counter() - begun) * 1000

    return statistics.median(once() for _ in range(runs))


def measure(program: Path, short: bool) -> list[Figure]:
    """All figures that this machine can measure."""
    seconds, runs = (2, 1) if short else (30, 5)
    million = "million data packets per CPU second"
    figures = [
        Figure("bulk, 1 flow", rate(program, 1, seconds, runs), million, "", ""),
        Figure("bulk, 16 flows", rate(program, 16, seconds, runs), million, ">= 3", ">= 6"),
        Figure("bulk, 256 flows", rate(program, 256, seconds, runs), million, ">= 2.5", ">= 5"),
    ]
    if shutil.which("valgrind"):
        counted = instructions(program, 16, (1, 2) if short else (2, 4))
        figures.append(Figure("bulk, 16 flows", counted, "instructions per data packet", "<= 2000", "<= 900"))
    else:
        print("bench: valgrind is not installed, so no instructions are counted", file=sys.stderr)
    _, text = cpu_seconds([str(program), "idle", "20000" if short else "200000"])
    figures.append(
        Figure("idle flow, both ends", number(r"\)\s+(\d+) bytes each", text), "bytes", "<= 1024", "<= 1024")
    )
    if not short:
        figures.append(
            Figure("two runs on two cores", two_cores(program, seconds), "times one core", "", ">= 1.9")
        )
        for flows in (16, 256):
            speedup = two_threads(program, flows, runs)
            figures.append(
                Figure(
                    f"one run of {flows} flows on two cores", speedup, "times one core", ">= 1.6", ">= 1.8"
                )
            )
    replay = program.with_name("netspurt-replay-bench")
    for estimator in ("rfc889", "linux"):
        steps = replay_rate(replay, estimator, 1 if short else 4, runs)
        figures.append(
            Figure(f"timers replayed, {estimator}", steps, "million steps per CPU second", "", ">= 50")
        )
    figures += captures(program.with_name("netspurt-capture-bench"), short, runs)
    figures += wire(program.with_name("netspurt-wire-bench"), short, runs)
    figures += emulator(program.with_name("netspurt-emulate-bench"), short)
    figures.append(sockets(program.with_name("netspurt-sockets-bench"), short))
    figures += sweeps(short)
    answered = start_up(1 if short else 5)
    if answered is not None:
        figures.append(Figure("netspurt --help", answered, "ms", "", "<= 150"))
    return figures


def main() -> None:
    """Prints a table, and writes `bench.json` to the build folder."""
    program = build()
    figures = measure(program, short="short" in sys.argv[1:])
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
