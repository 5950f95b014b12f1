#!/usr/bin/env python3
"""Plays random scripts against the running kernel and against the profile `linux`, and compares every segment that leaves.

The kernel's side runs in a network namespace of its own, through a TUN device. Build the other side first:

    cargo build --release -p netspurt-packetdrill

Exit status: 0 if no script differs in a way that is not listed, 1 if one does, 77 if this machine does not permit the test.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from against_kernel.compare import Difference, difference
from against_kernel.generate import LEVELS, generate
from against_kernel.kernel import Kernel, NotPermitted, Run, enter_namespace, happened
from against_kernel.ours import Ours
from against_kernel.packets import flags_of
from against_kernel.scripts import Script

ROOT = Path(__file__).parents[1]
JIFFY_NS = 4_000_000


def main() -> int:
    """Plays the scripts and prints the classes of differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:200", help="FIRST:END (default %(default)s)")
    parser.add_argument("--algorithms", nargs="+", default=["cubic", "reno", "bbr"])
    parser.add_argument("--level", choices=LEVELS, default="all")
    parser.add_argument("--at-once", type=int, default=200, help="scripts played at the same time")
    parser.add_argument("--again", type=int, default=2, help="times a script that differs is played again")
    parser.add_argument("--show", type=int, default=1, help="examples of each class")
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "release" / "netspurt-replay")
    options = parser.parse_args()
    first, end = (int(number) for number in options.seeds.split(":"))
    print(f"kernel {platform.release()} {platform.version()}")
    try:
        enter_namespace()
        kernel = Kernel()
    except NotPermitted as error:
        print(f"differential: not permitted here: {error}", file=sys.stderr)
        return 77
    classes: dict[str, list[tuple[Script, Difference, Run, Ours]]] = defaultdict(list)
    with Ours(options.program, JIFFY_NS) as ours:
        scripts = [generate(seed, ours, options.algorithms, LEVELS[options.level]) for seed in range(first, end)]
        print(f"{len(scripts)} scripts, {sum(len(s.events) for s in scripts)} events", flush=True)
        total = len(scripts)
        for attempt in range(1 + options.again):
            classes.clear()
            at_once = options.at_once if attempt == 0 else 20
            for run in kernel.play(scripts, at_once):
                played = ours.replay(run.script, happened(run), run.end)
                found = difference(run, played, JIFFY_NS)
                if found is not None:
                    classes[found.kind].append((run.script, found, run, played))
            scripts = [one[0] for found in classes.values() for one in found]
            print(f"attempt {attempt + 1}: {len(scripts)} differ", flush=True)
    for kind, found in sorted(classes.items(), key=lambda item: -len(item[1])):
        print(f"\n== {len(found)} of {total}: {kind}: seeds {' '.join(str(one[0].seed) for one in found[:12])}")
        for script, one, run, played in found[: options.show]:
            if os.environ.get("VERBOSE"):
                print(script.text())
                print("kernel:", *flags_of(run.played.sent), sep="\n  ")
                print("ours:", *flags_of(played.sent), sep="\n  ")
            print(f"seed {script.seed}, {script.algorithm}, at segment {one.index}, late {run.late / 1e6:.1f} ms\n{one.text}")
    return 1 if classes else 0


if __name__ == "__main__":
    sys.exit(main())
