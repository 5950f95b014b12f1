#!/usr/bin/env python3
"""Compiles netspurt for the most speed: as one unit, and arranged by which code real work runs through.

The compiler builds the benchmark program with counters, the program runs the scenarios of bench/training and
examples/gallery and diagnoses a capture, and the counts are merged into target/training/netspurt.profdata. None of this
work is published as a figure. `make bench PROFILED=1` and `make wheel-portable` compile with the counts.

    tools/profiled.py            prints the settings of such a build, as NAME=VALUE; five minutes

Counts belong to the functions of one compiler with the same settings, so a build that uses them needs all of these.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring import ROOT

FOLDER = ROOT / "target" / "training"
COUNTS = FOLDER / "netspurt.profdata"
SETTINGS = {"CARGO_PROFILE_RELEASE_LTO": "fat", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1"}
"""What takes longer to compile than users of a checkout want to wait."""

MERGER = "llvm-profdata"
HELP = "compile the program as portable wheels are, with counts of other work (see tools/profiled.py)"


class NoMergerError(Exception):
    """The compiler's program that merges counts is not installed."""

    def __init__(self) -> None:
        super().__init__(f"{MERGER} is not installed: rustup component add llvm-tools")


def rustc(*words: str) -> str:
    """What the compiler prints."""
    run = subprocess.run(["rustc", *words], check=True, stdout=subprocess.PIPE, text=True)
    return run.stdout.strip()


def target() -> str:
    """The platform of this machine."""
    return next(line for line in rustc("-vV").splitlines() if line.startswith("host: ")).removeprefix(
        "host: "
    )


def merger() -> Path:
    """The program of this compiler that merges counts."""
    program = Path(rustc("--print", "target-libdir")).parent / "bin" / MERGER
    if not program.exists():
        raise NoMergerError
    return program


def compile_program(folder: Path, flag: str) -> Path:
    """Builds the benchmark program in a folder of its own with this flag; returns its path."""
    # Naming the platform keeps the flag away from build scripts.
    command = ["cargo", "build", "--release", "--quiet", "-p", "netspurt-bench", "--target", target()]
    environment = {**os.environ, **SETTINGS, "RUSTFLAGS": flag}
    subprocess.run([*command, "--target-dir", str(folder)], cwd=ROOT, check=True, env=environment)
    return folder / target() / "release" / "netspurt-bench"


def scenarios() -> list[Path]:
    """The scenarios that are counted work."""
    folders = (ROOT / "bench" / "training", ROOT / "examples" / "gallery")
    return sorted(file for folder in folders for file in folder.glob("*.toml"))


def record() -> Path:
    """Builds the program with counters, runs the work, and merges the counts; returns their file."""
    merge = merger()
    raw = FOLDER / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for old in raw.iterdir():
        old.unlink()
    program = compile_program(FOLDER, f"-Cprofile-generate={raw}")
    work = [["scenario", str(file)] for file in scenarios()]
    work.append(["why", str(ROOT / "examples" / "slow-download.pcapng.gz")])
    for number, words in enumerate(work, 1):
        print(f"profiled: {number} of {len(work)}: {Path(words[-1]).name}", file=sys.stderr)
        subprocess.run([str(program), *words], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([str(merge), "merge", "-o", str(COUNTS), str(raw)], check=True)
    return COUNTS


def use(counts: Path) -> str:
    """The flag of the compiler that uses the counts."""
    return f"-Cprofile-use={counts}"


def build() -> Path:
    """Builds the benchmark program with new counts; returns its path."""
    return compile_program(ROOT / "target" / "profiled", use(record()))


def main() -> int:
    """Records, and prints the settings."""
    try:
        settings = {**SETTINGS, "RUSTFLAGS": use(record())}
        print(*(f"{name}={value}" for name, value in settings.items()))
    except NoMergerError as error:
        print(f"profiled: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"profiled: {error.cmd[0]} failed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
