#!/usr/bin/env python3
"""Compares our TCP with the kernel's, and our simulation with our TCP on real devices: `tools/agreement.py --help`.

It simulates and emulates the same transfers with the same losses: with `netspurt host`'s TCP at both ends,
with the kernel's, or with one of each. It prints a table of goodputs; exit status 1 if one differs by more than 5 %.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import get_args

sys.path.insert(0, str(File(__file__).parents[1] / "python"))

from netspurt.emulation.agreement import SIMULATED, Ends, Outcome, Row, compare, rows
from netspurt.emulation.emulating import NotPossible
from netspurt.emulation.paths import Path

KB, MB = 1000, 1_000_000

PATHS = (
    Path(1, 2, 20, 0, 500 * KB, 2),
    Path(1, 40, 100, 0.01, 400 * KB, 12),
    Path(1, 300, 50, 0, 500 * KB, 2),
    Path(2, 100, 30, 0.005, 600 * KB, 25),
    Path(5, 20, 10, 0, 4 * MB, 2),
    Path(5, 300, 200, 0.01, 500 * KB, 12),
    Path(10, 10, 100, 0, 8 * MB, 2),
    Path(10, 50, 20, 0, 8 * MB, 2),
    Path(10, 100, 100, 0.001, 4 * MB, 30),
    Path(10, 300, 400, 0, 10 * MB, 2),
    Path(20, 30, 50, 0.005, 2 * MB, 12),
    Path(20, 150, 100, 0, 15 * MB, 2),
    Path(50, 20, 100, 0.001, 8 * MB, 4),
    Path(50, 100, 300, 0.0005, 8 * MB, 4),
    Path(100, 2, 30, 0, 40 * MB, 2),
    Path(100, 20, 200, 0, 40 * MB, 3),
    Path(100, 60, 800, 0.0002, 30 * MB, 6),
)
"""Rate, RTT, queue, loss, bytes, repeats."""

SLOW = tuple(path for path in PATHS if path.rate_mbps <= 5)
"""Where a packet takes milliseconds, the jitter of a machine does not change the order of packets."""

WITHIN = 0.05

SINGLE_WITHIN = 0.03
"""The goal for each single transfer."""

MSS = 1448


def random_paths(count: int, seed: int) -> list[Path]:
    """Random paths of 1 Mbit/s to 1 Gbit/s and 2 to 300 ms, half with losses; one transfer of seconds on each."""
    draw = random.Random(seed)

    def spread(least: float, most: float) -> float:
        """Every factor is as likely as any other."""
        return float(f"{math.exp(draw.uniform(math.log(least), math.log(most))):.3g}")

    paths = []
    for _ in range(count):
        rate_mbps, rtt_ms = spread(1, 1000), spread(2, 300)
        loss = spread(1e-4, 1e-2) if draw.random() < 0.5 else 0.0
        product = rate_mbps * rtt_ms * 1e3 / 8 / (MSS + 52)
        queue = max(10, round(product * draw.uniform(0.3, 2)))
        # What a transfer with these losses reaches (Mathis et al. 1997) says how much takes some seconds.
        reached = min(rate_mbps, 1.22 * MSS * 8e-3 / rtt_ms / math.sqrt(loss)) if loss else rate_mbps
        octets = round(min(max(reached * 0.5 * MB, 200 * KB), 40 * MB))
        paths.append(Path(rate_mbps, rtt_ms, queue, loss, octets, 1))
    return paths


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tcp", nargs="+", default=["reno", "cubic"], choices=["reno", "cubic", "bbr"])
    parser.add_argument(
        "--ends", nargs="+", default=["ours", "kernel", "kernel to ours"], choices=get_args(Ends)
    )
    parser.add_argument("--slow", action="store_true", help="only paths of at most 5 Mbit/s")
    parser.add_argument("--paths", type=int, nargs="+", help="only the paths with these numbers, from 1")
    parser.add_argument(
        "--random",
        type=int,
        nargs=2,
        metavar=("COUNT", "SEED"),
        help="random paths with one transfer each, and how many of them are within 3 %%",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--repeats", type=int, help="number of repeats of each path, instead of its own number"
    )
    parser.add_argument(
        "--tries",
        type=int,
        default=1,
        help="maximal number of attempts if a packet or program was late; the attempt with the least lateness counts",
    )
    parser.add_argument(
        "--option", action="append", default=[], help="an option for netspurt emulate; may be repeated"
    )
    parser.add_argument(
        "--divergences",
        action="store_true",
        help="say of each transfer where emulation and simulation first differ, and why",
    )
    options = parser.parse_args()
    paths: Sequence[Path] = SLOW if options.slow else PATHS
    if options.random:
        paths = random_paths(*options.random)
    if options.paths:
        paths = [PATHS[number - 1] for number in options.paths]
    if options.repeats:
        paths = [replace(path, repeats=options.repeats) for path in paths]
    good = True
    print(
        "| path | TCP | ends | simulated Mbit/s | emulated Mbit/s | ratio | 95 % interval | same segments "
        "| largest lateness |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for tcp in options.tcp:
        try:
            outcomes = compare(
                paths,
                tcp,
                options.ends,
                seed=options.seed,
                words=options.option,
                tries=options.tries,
                report=_report,
            )
        except NotPossible as reason:
            print(f"agreement: skipped: {reason}", file=sys.stderr)
            return 0
        for world in options.ends:
            for row in rows(outcomes, world):
                print(_line(row), flush=True)
                good &= row.agrees(WITHIN)
            if options.random:
                print(_singles(outcomes, world), flush=True)
            if options.divergences:
                _divergences(outcomes, world)
    return 0 if good else 1


def _singles(outcomes: Sequence[Outcome], world: str) -> str:
    """How many single transfers are within the goal, and the others."""

    def differs(outcome: Outcome) -> float:
        return abs(outcome.goodput_bps(world) / outcome.goodput_bps(SIMULATED) - 1)

    punctual = [outcome for outcome in outcomes if not outcome.spoiled(world)]
    near = sum(differs(outcome) <= SINGLE_WITHIN for outcome in outcomes)
    near_punctual = sum(differs(outcome) <= SINGLE_WITHIN for outcome in punctual)
    return (
        f"\n{outcomes[0].lane.tcp}, {world}: {near} of {len(outcomes)} transfers within {SINGLE_WITHIN:.0%}; "
        f"where nothing was more than 2 ms late {near_punctual} of {len(punctual)}\n"
    )


def _report(words: str) -> None:
    print(f"agreement: {words}", file=sys.stderr)


def _line(row: Row) -> str:
    interval = "–" if row.interval is None else f"{row.interval[0]:.3f} to {row.interval[1]:.3f}"
    numbers = f"{row.simulated_bps / 1e6:.3f} | {row.measured_bps / 1e6:.3f} | {row.ratio:.3f} | {interval}"
    same = f"{row.same} of {row.path.repeats} | {row.latest_s * 1e3:.1f} ms"
    return f"| {row.path.name} | {row.tcp} | {row.world} | {numbers} | {same} |"


def _divergences(outcomes: Sequence[Outcome], world: str) -> None:
    for outcome in outcomes:
        found = outcome.divergence(world)
        if found is not None:
            one, other = outcome.worlds[SIMULATED], outcome.worlds[world]
            print(
                f"  lane {outcome.lane.number} ({outcome.lane.path.name}), {world}: {one.seconds:.4f} s, {one.resent} "
                f"resent | {other.seconds:.4f} s, {other.resent} resent; {found.cause} at {found.at_s:.6f} s, number "
                f"{found.number}: {found.one} | {found.other}; before that at most {found.apart_s * 1e3:.3f} ms apart",
                file=sys.stderr,
            )


if __name__ == "__main__":
    sys.exit(main())
