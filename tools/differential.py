#!/usr/bin/env python3
"""Plays random scripts against the running kernel and the profile `linux`, and compares every segment that leaves.

The kernel's side runs in a network namespace of its own, through a TUN device. Build the other side first:

    cargo build --release -p netspurt-packetdrill

A script that differs is played again, alone or nearly so, before it counts. The differences are sorted into classes
by what differs first; those that `against_kernel/known/` explains are listed apart.

Exit status: 0 if all differences are explained, 1 if not, 77 if this machine does not permit the test.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import platform
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from against_kernel.compare import Difference, difference
from against_kernel.generate import LEVELS, generate
from against_kernel.kernel import (
    QUICK_RESPONSE_NS,
    RESPONSE_NS,
    Kernel,
    NotPermittedError,
    Run,
    enter_namespace,
    happened,
    stamp_phase,
)
from against_kernel.known import reason
from against_kernel.ours import TICKS, Clock, Ours, Played
from against_kernel.packets import lines_of
from against_kernel.scripts import Script
from against_kernel.shrink import shrink
from against_kernel.states import timeline
from against_kernel.tcp_info import field_of

ROOT = Path(__file__).parents[1]
JIFFY_NS = 4_000_000
LINES_BEFORE = 30
SHORTEST_PAUSE_NS = 190_000_000
BEFORE_NS = 500_000
CYCLE_PHASES = (0, 129, 497, 866, 1234, 1603, 1972)
"""Initial sequence numbers with which our BBR begins its cycle in each of the seven phases."""


@dataclass(frozen=True)
class Choice:
    """What a run of the kernel does not show."""

    isn: int | None
    """Our initial sequence number, where it chooses the phase of BBR's cycle. The kernel's phase is random."""
    response: int
    """Nanoseconds after which a segment counts as that of a timer, and not as an answer to the event before it."""
    ticks: int
    """By how many ticks a timer of the kernel is late that sends nothing."""


@dataclass(frozen=True)
class Differs:
    """A script that differs, as it was played last."""

    run: Run
    ours: Played
    difference: Difference
    choice: Choice

    @property
    def kind(self) -> str:
        """Its class."""
        return reason(self.run, self.difference) or self.difference.kind


def main() -> int:
    """Plays the scripts and prints the classes of differences."""
    options = parse()
    print(f"kernel {platform.release()} {platform.version()}")
    try:
        enter_namespace()
        kernel = Kernel(samples=options.states > 0)
    except NotPermittedError as error:
        print(f"differential: not permitted here: {error}", file=sys.stderr)
        return 77
    with Ours(options.program, JIFFY_NS) as ours:
        scripts = read(options.scripts) if options.scripts else write_scripts(options, ours)
        print(f"{len(scripts)} scripts, {sum(len(script.events) for script in scripts)} events", flush=True)
        found = play(kernel, ours, scripts, options.at_once, options.again)
        if options.save:
            different = {one.run.script.seed for one in found}
            save(options.save, (script for script in scripts if script.seed not in different))
        unexplained = report(found, len(scripts), options)
        for one in unexplained[: options.states]:
            print(f"\nseed {one.run.script.seed}, {one.kind}:\n{states(ours, one)}")
        if options.shrink:
            for one in unexplained[: options.shrink]:
                small = shrink(one.run.script, one.kind, lambda script: first_kind(kernel, ours, script))
                print(f"\nshrunk, {one.kind}:\n{small.text()}")
    return 1 if unexplained else 0


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seeds", default="0:200", help="write the scripts of these seeds, FIRST:END (default %(default)s)"
    )
    parser.add_argument("--scripts", type=Path, help="play the scripts of this file instead")
    parser.add_argument("--algorithms", nargs="+", default=["cubic", "reno", "bbr"])
    parser.add_argument("--level", choices=LEVELS, default="all", help="what happens in the scripts")
    parser.add_argument("--at-once", type=int, default=100, help="scripts played at the same time")
    parser.add_argument("--again", type=int, default=3, help="times a script that differs is played again")
    parser.add_argument("--show", type=int, default=1, help="examples of each class")
    parser.add_argument("--segments", action="store_true", help="print all segments of the examples")
    parser.add_argument(
        "--states",
        type=int,
        default=0,
        help="print TCP_INFO of both sides over time of that many unexplained scripts",
    )
    parser.add_argument("--shrink", type=int, default=0, help="shrink that many unexplained scripts")
    parser.add_argument("--save", type=Path, help="save the scripts that do not differ")
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "release" / "netspurt-replay")
    return parser.parse_args()


def write_scripts(options: argparse.Namespace, ours: Ours) -> list[Script]:
    """The scripts of the seeds."""
    first, end = (int(number) for number in options.seeds.split(":"))
    level = LEVELS[options.level]
    return [generate(seed, ours, options.algorithms, level) for seed in range(first, end)]


def play(kernel: Kernel, ours: Ours, scripts: list[Script], at_once: int, again: int) -> list[Differs]:
    """Plays the scripts; those that differ are played again, fewer at once. Returns those that always differ."""
    found: list[Differs] = []
    for attempt in range(1 + again):
        found = []
        for run in kernel.play(scripts, at_once if attempt == 0 else max(at_once // 10, 1)):
            one = compare(ours, run)
            if one is not None:
                found.append(one)
        scripts = [one.run.script for one in found]
        print(f"attempt {attempt + 1}: {len(scripts)} differ", flush=True)
        if not scripts:
            break
    return found


def compare(ours: Ours, run: Run) -> Differs | None:
    """How our play differs from the kernel's, with the choice that agrees longest."""
    phases: tuple[int | None, ...] = CYCLE_PHASES if run.script.algorithm == "bbr" else (None,)
    best: Differs | None = None
    for ticks, response, isn in itertools.product(TICKS, (RESPONSE_NS, QUICK_RESPONSE_NS), phases):
        choice = Choice(isn, response, ticks)
        played = replay(ours, run, choice)
        one = difference(run, played, JIFFY_NS)
        if one is None:
            return None
        if best is None or _agreement(one) > _agreement(best.difference):
            best = Differs(run, played, one, choice)
    assert best is not None
    return replace(best, difference=replace(best.difference, timeouts=timeouts(ours, best)))


def replay(ours: Ours, run: Run, choice: Choice, samples: Iterable[int] = ()) -> Played:
    """Our play of what happened in a run of the kernel; TCP_INFO is recorded at `samples`."""
    events, clock = happened(run, choice.response), Clock(choice.isn, stamp_phase(run), choice.ticks)
    return ours.replay(run.script, events, run.played.sent, run.end, clock, samples)


def _agreement(one: Difference) -> tuple[bool, int]:
    """How long two plays agree. Windows are compared where all else agrees."""
    return one.kind.startswith("window of "), one.at


def timeouts(ours: Ours, one: Differs) -> tuple[tuple[int, int], ...]:
    """Our retransmission timeouts at the ends of the pauses before a difference."""
    run = one.run
    data = [sent.at for sent in run.played.sent if sent.segment.length and sent.at <= one.difference.at]
    ends = [later for at, later in itertools.pairwise(data) if later - at >= SHORTEST_PAUSE_NS]
    if not ends:
        return ()
    played = replay(ours, run, one.choice, [at - BEFORE_NS for at in ends])
    # Without a connection there is no TCP_INFO.
    known = [(end, info) for end, (_, info) in zip(ends, played.infos, strict=False) if info]
    return tuple((end, field_of(info, "rto") * 1000) for end, info in known)


def states(ours: Ours, one: Differs) -> str:
    """The state of both sides before the difference."""
    run = one.run
    samples = [at for at, _ in run.played.infos]
    played = replay(ours, run, one.choice, samples)
    return timeline(run, played, one.difference.at, LINES_BEFORE)


def first_kind(kernel: Kernel, ours: Ours, script: Script) -> str | None:
    """The class of a script's difference, if it differs three times."""
    found = play(kernel, ours, [script], 1, 2)
    return found[0].kind if found else None


def report(found: list[Differs], total: int, options: argparse.Namespace) -> list[Differs]:
    """Prints the classes, the explained ones last. Returns the scripts that are not explained."""
    classes: dict[str, list[Differs]] = defaultdict(list)
    for one in found:
        classes[one.kind].append(one)
    explained = {one.kind for one in found if reason(one.run, one.difference)}
    unexplained = [one for one in found if one.kind not in explained]
    print(
        f"{total - len(found)} agree, {len(found) - len(unexplained)} are explained, {len(unexplained)} are not"
    )
    for kind, members in sorted(classes.items(), key=lambda item: (item[0] in explained, -len(item[1]))):
        seeds = " ".join(str(one.run.script.seed) for one in members[:12])
        print(f"\n{'explained' if kind in explained else 'class'}: {kind}: {len(members)}, seeds {seeds}")
        for one in members[: options.show]:
            script = one.run.script
            if options.segments:
                print(script.text())
                print("kernel:", *lines_of(one.run.played.sent), sep="\n  ")
                print("ours:", *lines_of(one.ours.sent), sep="\n  ")
            print(f"seed {script.seed}, {script.algorithm}, segment {one.difference.index}")
            print(one.difference.text)
    return unexplained


def read(file: Path) -> list[Script]:
    """The scripts of a file, one a line, compressed."""
    with gzip.open(file, "rt") as lines:
        return [Script.loads(line) for line in lines]


def save(file: Path, scripts: Iterable[Script]) -> None:
    """Writes a file of scripts. The same scripts give the same bytes."""
    text = "".join(script.dumps() + "\n" for script in scripts)
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
