#!/usr/bin/env python3
"""What a data packet of *bulk* costs, by cost centre: instructions and cache misses, counted by callgrind.

Two lengths of the same run are counted and subtracted, so that setting up does not count. The compiler inlines most of
the simulator into two functions, so instructions are given to the source file that they come from. Code of the standard
library that was inlined is a row of its own. Cache misses are of a simulated first-level cache of 32 KiB and a last
level of 1 MiB: the same on every machine.

    tools/costs.py [--flows 1,16,256,1000,10000] [--profiles newreno,linux] [--out FILE.md]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench import build
from benchmarks.measuring import number

SECONDS = (2, 4)
"""Simulated seconds of the two runs: the flows are in equilibrium in between."""

CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")

EVENTS = ("Ir", "D1mr", "D1mw", "DLmr", "DLmw")
"""Instructions; misses of the first and of the last level when data is read and written."""

CENTRES = (
    ("event queue", "/sim/src/engine/"),
    ("links: queue, transmission, delay", "/sim/src/network/channel"),
    ("links: queue, transmission, delay", "/sim/src/network/ring"),
    ("packets", "/sim/src/network/packet"),
    ("network: routes, fans, the rest", "/sim/src/network/"),
    ("digest, counters, records", "/sim/src/record/"),
    ("applications and endpoints", "/sim/src/host/"),
    ("main loop", "/sim/src/"),
    ("TCP: arrival and prediction", "/tcp/src/connection/"),
    ("TCP: receiver", "/tcp/src/receive/"),
    ("TCP: sender", "/tcp/src/send/"),
    ("TCP: congestion control", "/tcp/src/congestion/"),
    ("TCP: loss recovery", "/tcp/src/recovery/"),
    ("TCP: the rest", "/tcp/src/"),
    ("standard library", "/rustc/"),
    ("standard library", "/library/"),
)
"""Cost centres, and what the path of a source file holds; the first that fits counts."""

OTHER = "allocator, memory copies, the rest"


def centre(file: str) -> str:
    """The cost centre of a source file."""
    return next((name for name, part in CENTRES if part in file), OTHER)


def counted(
    program: Path, flows: int, profile: str, seconds: int, folder: Path
) -> tuple[float, dict[str, Counter[str]]]:
    """The data packets of one run, and what each cost centre took of each event."""
    out = folder / f"{flows}-{profile}-{seconds}"
    command = ["valgrind", "--tool=callgrind", *CACHES, f"--callgrind-out-file={out}", str(program)]
    run = subprocess.run(
        [*command, "bulk", str(flows), str(seconds), profile], capture_output=True, text=True, check=True
    )
    return number(r"data packets (\d+)", run.stdout), parse(out.read_text(errors="replace"))


def parse(text: str) -> dict[str, Counter[str]]:
    """Costs of a callgrind file by cost centre, without those of calls, which their own functions have."""
    names: dict[str, str] = {}
    found: dict[str, Counter[str]] = {}
    columns: list[str] = []
    here, is_call = OTHER, False
    for line in text.splitlines():
        if line.startswith("events:"):
            columns = line.split()[1:]
        elif match := re.match(r"(?:fl|fi|fe)=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2]
            here = centre(names[match[1]])
        elif match := re.match(r"cfi?l?=\((\d+)\) (.*)", line):
            names[match[1]] = match[2]
        elif line.startswith("calls="):
            is_call = True
        elif line[:1] in "0123456789+-*":
            if not is_call:
                costs = map(int, line.split()[1:])
                found.setdefault(here, Counter()).update(dict(zip(columns, costs, strict=False)))
            is_call = False
    return found


def costs(program: Path, flows: int, profile: str) -> dict[str, dict[str, float]]:
    """What a data packet costs in each centre: of each event."""
    with tempfile.TemporaryDirectory() as folder:
        (few, less), (many, more) = (counted(program, flows, profile, each, Path(folder)) for each in SECONDS)
    packets = many - few
    return {
        name: {event: (more[name][event] - less.get(name, Counter())[event]) / packets for event in EVENTS}
        for name in more
    }


def table(
    runs: dict[tuple[str, int], dict[str, dict[str, float]]], events: tuple[str, ...], digits: int
) -> str:
    """A row for each cost centre and the sum, a column for each run."""
    names = dict.fromkeys([*(name for name, _ in CENTRES), OTHER])
    lines = [
        "| cost centre | " + " | ".join(f"{profile}, {flows}" for profile, flows in runs) + " |",
        "| --- |" + " ---: |" * len(runs),
    ]
    for name in [*names, "sum"]:
        cells = []
        for run in runs.values():
            rows = run.values() if name == "sum" else [run.get(name, {})]
            cells.append(f"{sum(row.get(event, 0.0) for row in rows for event in events):.{digits}f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Prints the tables."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--flows", default="1,16,256,1000,10000", help="numbers of flows (default: %(default)s)"
    )
    options.add_argument("--profiles", default="newreno,linux", help="TCP profiles (default: %(default)s)")
    options.add_argument("--program", type=Path, help="netspurt-bench of another build, to compare with")
    options.add_argument("--out", type=Path, help="write the tables there as well")
    chosen = options.parse_args()
    program = chosen.program or build()
    runs: dict[tuple[str, int], dict[str, dict[str, float]]] = {}
    for profile in chosen.profiles.split(","):
        for flows in map(int, chosen.flows.split(",")):
            print(f"costs: {profile}, {flows} flows", file=sys.stderr)
            runs[profile, flows] = costs(program, flows, profile)
    parts = [
        ("Instructions of a data packet", ("Ir",), 0),
        ("Misses of the first-level cache", ("D1mr", "D1mw"), 1),
        ("Misses of a last-level cache of 1 MiB", ("DLmr", "DLmw"), 1),
    ]
    text = "\n\n".join(f"### {title}\n\n{table(runs, events, digits)}" for title, events, digits in parts)
    print(text)
    if chosen.out:
        chosen.out.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
