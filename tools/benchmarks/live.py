"""Our TCP on a TUN device, the emulator, and the sockets of the kernel."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring import Figure, cpu_seconds, number

SKIPPED = 77
"""The exit status of a benchmark that lacks a privilege or device."""


def wire(program: Path, short: bool, runs: int) -> list[Figure]:
    """Our TCP through a TUN device against the kernel's, if this machine allows a network namespace."""
    alone = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
    trial = subprocess.run(
        [*alone, str(program), "wire", "trips", "1"], capture_output=True, text=True, check=False
    )
    if trial.returncode:
        print(f"bench: no TUN device for the wire figures: {trial.stderr.strip()}", file=sys.stderr)
        return []
    orders = {
        "receives": ["receives"],
        "sends": ["sends"],
        "from many": ["receives", "offload", "1000"],
        "kernel": ["kernel", "plain", "1"],
        "kernel, from many": ["kernel", "plain", "1000"],
    }
    texts: dict[str, list[str]] = {name: [] for name in orders}
    # In turns, so that a slow minute of the machine does not meet one of them alone.
    for _ in range(runs):
        for name, (what, *more) in orders.items():
            words = [*alone, str(program), "wire", what, "200" if short else "4000", *more]
            texts[name].append(cpu_seconds(words)[1])
    octets = number(r"bytes (\d+)", texts["receives"][0])
    seconds = {name: [number(r"seconds ([\d.]+)", text) for text in each] for name, each in texts.items()}
    figures = []
    for what, goal, most in (("receives", ">= 15", "<= 0.35"), ("sends", ">= 20", "<= 0.4")):
        rate = 8e-9 * octets / statistics.median(seconds[what])
        cpu = statistics.median(number(r"host cpu seconds ([\d.]+)", text) for text in texts[what])
        figures += [
            Figure(f"wire, {what}", rate, "Gb/s", goal, goal),
            Figure(f"wire, {what}", 1e9 * cpu / octets, "CPU s per GB", most, most),
        ]
    # A short transfer is mostly the opening of its connections, so it says nothing about the goal.
    many = "receives from 1000 connections at once" + (", with their opening" if short else "")
    for whose, one, all_of_them, goal in (
        ("wire", "receives", "from many", "" if short else ">= 0.8"),
        ("the kernel over loopback", "kernel", "kernel, from many", ""),
    ):
        shares = (a / b for a, b in zip(seconds[one], seconds[all_of_them], strict=True))
        figures.append(
            Figure(f"{whose}, {many}", statistics.median(shares), "of the rate of one", goal, goal)
        )
    _, text = cpu_seconds([*alone, str(program), "wire", "trips", "1000" if short else "50000"])
    figures.append(
        Figure("wire, round trip of a byte", number(r"p50 us ([\d.]+)", text), "us (p50)", "", "<= 20")
    )
    return figures


def emulator(program: Path, short: bool) -> list[Figure]:
    """Lateness of packets and throughput, if this machine allows namespaces."""
    run = subprocess.run([str(program), "emulator", "1" if short else "5"], capture_output=True, text=True)
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
        for share, must, goal in (("p50", "<= 50", "<= 50"), ("p99", "<= 500", "<= 100")):
            late = number(rf"{share} ([\d.]+) us", lines[name])
            figures.append(Figure(what, late, f"us too late, {share}", must, goal))
    held = number(r"rate ([\d.]+) Mbit/s", lines["no-limit"]) / 1e3
    return [*figures, Figure("emulator, one connection without limit", held, "Gbit/s", ">= 5", ">= 10")]


def sockets(program: Path, short: bool) -> Figure:
    """The cost of watching 1000 sockets ten times a second."""
    _, text = cpu_seconds([str(program), "sockets", "1000", "1" if short else "10"])
    share = number(r"percent of a core ([\d.]+)", text)
    return Figure("1000 live sockets at 10 Hz", share, "% of a core", "", "<= 2")
