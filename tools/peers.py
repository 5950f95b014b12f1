#!/usr/bin/env python3
"""How fast netspurt simulates beside ns-2 and ns-3, on the same work, in alternating runs on this machine.

The work is *bulk* (docs/performance.md): long-lived NewReno flows with SACK behind a bottleneck of 1 Gbit/s. Each
simulator runs a short and a long simulation; packets and CPU time are the differences, so that setting up does not
count. The scripts for the peers are in bench/peers. ns-2 is Debian's package ns2, ns-3 its package libns3-dev; what is
not installed is left out.

    tools/peers.py [--flows 1,16,256,1000] [--rounds 5] [--json FILE] [--profiled]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import profiled
from bench import build
from benchmarks.measuring import ROOT, cpu_seconds, number

PEERS = ROOT / "bench" / "peers"

INCLUDE = Path("/usr/include")
"""Where a package puts the headers of ns-3."""

MODULES = ("applications", "traffic-control", "point-to-point", "internet", "network", "core")
"""The libraries of ns-3 that the script needs."""

SIMULATORS = ("netspurt", "ns-2", "ns-3")


@dataclass(frozen=True)
class Peer:
    """A simulator that is installed here.

    Attributes:
        name: one of ``SIMULATORS``.
        command: of a number of flows and of seconds; prints "data packets N".
        seconds: simulated, of the short and of the long run with 16 flows.
    """

    name: str
    command: Callable[[int, int], list[str]]
    seconds: tuple[int, int]

    def rate(self, flows: int) -> float:
        """Data packets per CPU second."""
        (less, few), (more, many) = (self._run(flows, seconds) for seconds in self.seconds)
        return (many - few) / (more - less)

    def _run(self, flows: int, seconds: int) -> tuple[float, float]:
        cpu, text = cpu_seconds(self.command(flows, seconds))
        return cpu, number(r"data packets (\d+)", text)


def installed(folder: Path, program: Path) -> list[Peer]:
    """The simulators that can run here, ours first."""
    found = [
        Peer("netspurt", lambda flows, seconds: [str(program), "bulk", str(flows), str(seconds)], (5, 35))
    ]
    if ns2 := shutil.which("ns"):
        script = str(PEERS / "bulk.tcl")
        found.append(Peer("ns-2", lambda flows, seconds: [ns2, script, str(flows), str(seconds)], (5, 15)))
    else:
        print("peers: ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
    if ns3 := _ns3(folder):
        found.append(Peer("ns-3", lambda flows, seconds: [str(ns3), str(flows), str(seconds)], (1, 2)))
    else:
        print("peers: ns-3 is not installed (Debian: apt-get install libns3-dev g++)", file=sys.stderr)
    return found


def _ns3(folder: Path) -> Path | None:
    """The program of ns-3, compiled against the installed libraries."""
    if not (INCLUDE / "ns3" / "core-module.h").exists() or not shutil.which("g++"):
        return None
    libraries = [f"-lns3-{module}" for module in MODULES]
    program = folder / "bulk"
    source = str(PEERS / "bulk.cc")
    subprocess.run(["g++", "-O2", source, "-o", str(program), *libraries], check=True)
    return program


def table(rates: dict[int, dict[str, list[float]]]) -> str:
    """A table: a row for each number of flows."""
    names = [name for name in SIMULATORS if any(name in each for each in rates.values())]
    peers = names[1:]
    lines = [
        "| flows | "
        + " | ".join([f"{name}, packets per CPU s" for name in names] + [f"in {p}'s" for p in peers])
        + " |",
        "| --- " * (1 + len(names) + len(peers)) + "|",
    ]
    for flows, each in rates.items():
        cells = [
            f"{statistics.median(each[name]):,.0f}".replace(",", " ") if name in each else "–"
            for name in names
        ]
        for peer in peers:
            ratios = [
                ours / theirs for ours, theirs in zip(each["netspurt"], each.get(peer, []), strict=False)
            ]
            cells.append(
                f"{statistics.median(ratios):.1f} ({min(ratios):.1f} – {max(ratios):.1f})" if ratios else "–"
            )
        lines.append(f"| {flows} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Prints the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--flows", default="1,16,256,1000", help="numbers of flows (default: 1,16,256,1000)")
    options.add_argument("--rounds", type=int, default=5, help="alternating runs of each (default: 5)")
    options.add_argument("--json", type=Path, help="write the rates of all runs")
    options.add_argument("--profiled", action="store_true", help=profiled.HELP)
    chosen = options.parse_args()
    if not re.fullmatch(r"\d+(,\d+)*", chosen.flows):
        options.error("--flows: numbers with commas between them, such as 1,16,256")
    try:
        program = build(chosen.profiled)
    except profiled.NoMergerError as error:
        options.error(str(error))
    rates: dict[int, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        peers = installed(Path(folder), program)
        for flows in map(int, chosen.flows.split(",")):
            rates[flows] = {}
            for turn in range(chosen.rounds):
                for peer in peers:
                    # ns-3 is slow, and varies little beside its distance.
                    if peer.name != "ns-3" or (flows <= 256 and turn == 0):
                        rates[flows].setdefault(peer.name, []).append(peer.rate(flows))
                print(f"peers: {flows} flows, round {turn + 1} of {chosen.rounds}", file=sys.stderr)
    print(table(rates))
    if chosen.json:
        chosen.json.write_text(json.dumps(rates, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
