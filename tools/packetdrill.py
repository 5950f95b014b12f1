#!/usr/bin/env python3
"""Tests our TCP with packetdrill: runs a folder of scripts against the shared object of crates/packetdrill.

packetdrill and its scripts are not part of this project. Fetch github.com/google/packetdrill, build it (gcc, flex,
bison; ./configure && make in gtests/net/packetdrill), and give its path:

    cargo build --release -p netspurt-packetdrill
    tools/packetdrill.py --packetdrill DIR/gtests/net/packetdrill/packetdrill DIR/gtests/net/tcp

Each script runs in its own network namespace with an idle tun0, so its sysctls and queues
affect nothing else; that needs root, unshare and ip. The tool prints a table, one line per directory, and then each
failed script with packetdrill's message. The exit status is 0 if every script ran, whatever the verdicts;
with --expect FILE (a list of names, one a line) it is 1 if one of those fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "libnetspurt_packetdrill.so"
ADDRESSES = [
    "--ip_version=ipv4",
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
]
# The variables that google's scripts expect from their runner, for IPv4.
DEFINITIONS = {
    "TFO_COOKIE": "3021b9d889017eeb",
    "CODE": "host_unreachable",
    "CMSG_LEVEL_IP": "SOL_IP",
    "CMSG_TYPE_RECVERR": "IP_RECVERR",
}
NAMESPACE = 'ip link set lo up; ip tuntap add dev tun0 mode tun; ip link set tun0 up; exec "$@"'


@dataclass(frozen=True)
class Verdict:
    """The outcome of one script."""

    directory: str
    name: str
    passed: bool
    cause: str


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    text = (__doc__ or "").split("\n\n", 1)
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=text[0], epilog=text[1], formatter_class=form)
    parser.add_argument("folder", type=Path, help="a folder of *.pkt scripts, or one of them")
    parser.add_argument("--packetdrill", type=Path, required=True, help="the program")
    parser.add_argument(
        "--library", type=Path, help=f"the shared object (default: the newest {LIBRARY} in target/)"
    )
    parser.add_argument("--profile", default="linux", help="profile of the tested TCP (default: linux)")
    parser.add_argument("--only", default="", help="comma-separated directories below the folder")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="scripts at once (default: number of processors)",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a script (default: 60)")
    parser.add_argument("--expect", type=Path, help="names of scripts, one a line, that must pass")
    return parser.parse_args(words)


def newest_library() -> Path | None:
    """The newest shared object."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = sorted(target.glob(f"*/{LIBRARY}"), key=lambda path: path.stat().st_mtime)
    return built[-1] if built else None


def scripts(folder: Path, only: str) -> list[Path]:
    """The scripts for IPv4 in a folder and below, in their order."""
    if folder.is_file():
        return [folder]
    wanted = {name for name in only.split(",") if name}
    found = (path for path in sorted(folder.rglob("*.pkt")) if not path.name.endswith("v6.pkt"))
    return [path for path in found if not wanted or path.relative_to(folder).parts[0] in wanted]


def addresses(script: Path) -> list[str]:
    """The address options, except those that the script sets: packetdrill would prefer ours."""
    own = {word.split("=")[0] for word in script.read_text().split() if word.startswith("--")}
    return [word for word in ADDRESSES if word.split("=")[0] not in own]


def judge(script: Path, folder: Path, options: argparse.Namespace, library: Path) -> Verdict:
    """Runs one script."""
    command = ["unshare", "--net", "sh", "-c", NAMESPACE, "sh", "env", f"LD_PRELOAD={library}"]
    command += [str(options.packetdrill.resolve()), *addresses(script)]
    command += [word for key, value in DEFINITIONS.items() for word in ("-D", f"{key}={value}")]
    command += [
        f"--so_filename={library}",
        f"--so_flags=profile={options.profile},local=192.168.0.1",
        script.name,
    ]
    path = script.relative_to(folder) if script != folder else Path(script.name)
    directory = str(path.parent)
    try:
        run = subprocess.run(
            command,
            cwd=script.parent,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=options.seconds,
        )
    except subprocess.TimeoutExpired:
        return Verdict(directory, path.stem, False, f"the script did not end within {options.seconds:g} s")
    return Verdict(directory, path.stem, run.returncode == 0, cause_of(run))


def cause_of(run: subprocess.CompletedProcess[str]) -> str:
    """Packetdrill's message on one line."""
    lines = [line.strip() for line in (run.stderr + run.stdout).splitlines() if line.strip()]
    named = [number for number, line in enumerate(lines) if re.search(r"\.pkt:\d+|error|assert|Error", line)]
    chosen = lines[named[0] : named[0] + 4] if named else lines[-2:]
    signal = f"killed by signal {-run.returncode}; " if run.returncode < 0 else ""
    return signal + " | ".join(chosen)[:400]


def table(verdicts: list[Verdict]) -> str:
    """One line per directory, and their sum."""
    by_directory: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_directory[verdict.directory].append(verdict)
    width = max([9, *map(len, by_directory)])
    lines = [f"{'directory':{width}}  passed   of"]
    for name, group in [*sorted(by_directory.items()), ("all", verdicts)]:
        lines.append(f"{name:{width}}  {sum(verdict.passed for verdict in group):6}  {len(group):3}")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Runs the scripts; returns the exit status."""
    options = arguments(words)
    library = options.library or newest_library()
    if library is None or not library.exists():
        print(
            "there is no shared object; build it: cargo build --release -p netspurt-packetdrill",
            file=sys.stderr,
        )
        return 2
    folder = options.folder.resolve()
    found = scripts(folder, options.only)
    if not found:
        print(f"{options.folder}: the folder has no scripts (*.pkt)", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda path: judge(path, folder, options, library.resolve()), found))
    print(table(verdicts))
    failed = [verdict for verdict in verdicts if not verdict.passed]
    for verdict in failed:
        print(f"\n{verdict.directory}/{verdict.name}\n    {verdict.cause}")
    expected = set(options.expect.read_text().split()) if options.expect else set()
    return 1 if expected & {f"{verdict.directory}/{verdict.name}" for verdict in failed} else 0


if __name__ == "__main__":
    sys.exit(main())
