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
    rates = []
    for _ in range(runs):
        for connections in ("1", "1000"):
            _, text = cpu_seconds(
                [*alone, str(program), "receives", "200" if short else "4000", "offload", connections]
            )
            rates.append(number(r"bytes (\d+)", text) / number(r"seconds ([\d.]+)", text))
    share = statistics.median(many / one for one, many in zip(rates[::2], rates[1::2], strict=True))
    figures.append(
        Figure(
            "wire, receives from 1000 connections at once", share, "of the rate of one", ">= 0.8", ">= 0.8"
        )
    )
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
