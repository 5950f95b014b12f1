"""Installs the wheel of dist/ in an empty environment, and uses it as a newcomer would.

The environment holds the wheel and what it declares to need, no more. By default these packages are taken from the
environment that runs this tool, so that no network is needed; with --pip, pip fetches them. The source distribution is
checked as well: it must hold every file that a build needs, and nothing that was built.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent

MANYLINUX = re.compile(r"manylinux_2_(\d+)_\w+\.whl$")

SHORT = {"MPLBACKEND": "agg", "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
"""What little of the surroundings a command sees."""


class WheelError(Exception):
    """What the wheel or the source distribution lacks, in a sentence."""


def only(pattern: str) -> Path:
    """The one file of dist/ of this version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    found = sorted((ROOT / "dist").glob(pattern.format(version)))
    if not found:
        raise WheelError(f"there is no {pattern.format(version)} in dist/: run 'make wheel'")
    return max(found, key=lambda path: path.stat().st_mtime)


def check_source(archive: Path) -> str:
    """Compares the source distribution with the files that git knows."""
    with tarfile.open(archive) as tar:
        held = {name.partition("/")[2] for name in tar.getnames()}
        with tempfile.TemporaryDirectory() as folder:
            tar.extractall(folder, filter="data")
            (unpacked,) = Path(folder).iterdir()
            command = ["cargo", "metadata", "--offline", "--format-version", "1", "--no-deps"]
            made = subprocess.run(command, cwd=unpacked, capture_output=True, check=True)
    members = [Path(each["manifest_path"]).parent.name for each in json.loads(made.stdout)["packages"]]
    places = [
        "pyproject.toml",
        "README.md",
        "Cargo.lock",
        "python/netspurt",
        *(f"crates/{m}" for m in members),
    ]
    listed = subprocess.run(
        ["git", "ls-files", *places], cwd=ROOT, capture_output=True, text=True, check=True
    )
    known = [name for name in listed.stdout.splitlines() if not (ROOT / name).is_symlink()]
    links = {"python/netspurt/studies/data": "studies", "python/netspurt/lab/examples": "examples"}
    for link, target in links.items():
        inside = subprocess.run(
            ["git", "ls-files", target], cwd=ROOT, capture_output=True, text=True, check=True
        )
        known += [link + name.removeprefix(target) for name in inside.stdout.splitlines()]
    missing = [name for name in known if name not in held]
    if missing:
        raise WheelError(f"{archive.name} lacks {len(missing)} files, the first is {missing[0]}")
    built = [name for name in held if name.endswith((".so", ".pyc", ".rlib")) or name.startswith("target/")]
    if built:
        raise WheelError(f"{archive.name} holds what was built: {built[0]}")
    size = archive.stat().st_size / 1e6
    return f"{archive.name}: {len(held)} files, {size:.1f} MB, all {len(known)} that a build needs"


def check_platform(wheel: Path, at_most: int | None) -> str:
    """The oldest glibc that the wheel runs with is in its name; maturin has compared it with the symbols."""
    found = MANYLINUX.search(wheel.name)
    if found is None:
        raise WheelError(f"{wheel.name} names no glibc: maturin could not check what it is linked with")
    if at_most is not None and int(found[1]) > at_most:
        raise WheelError(f"{wheel.name} needs glibc 2.{found[1]}, and 2.{at_most} is the oldest that must do")
    return f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, runs with glibc 2.{found[1]} and newer"


def needed(wheel: Path, extra: str = "") -> list[str]:
    """The distributions that the wheel needs, with theirs, by the metadata of what is installed here."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (each for each in packed.namelist() if each.endswith(".dist-info/METADATA"))
        declared = Parser().parsestr(packed.read(name).decode()).get_all("Requires-Dist", [])
    names: list[str] = []
    waiting = [(Requirement(text), extra) for text in declared]
    while waiting:
        requirement, chosen = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": chosen}):
            continue
        found = importlib.metadata.distribution(requirement.name)
        if not requirement.specifier.contains(found.version, prereleases=True):
            raise WheelError(f"the wheel needs {requirement}, and {found.version} is what is tested")
        if found.name in names:
            continue
        names.append(found.name)
        for text in found.requires or []:
            waiting += [(Requirement(text), extra) for extra in ("", *requirement.extras)]
    return names


def link(names: list[str], packages: Path) -> None:
    """Gives an environment the installed files of these distributions."""
    for name in names:
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or []:
            if ".." in file.parts or "__pycache__" in file.parts:
                continue
            source, target = Path(str(distribution.locate_file(file))), packages / file
            if target.exists() or not source.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)


def run(words: list[str], here: Path, status: int = 0) -> str:
    """Runs a command of the environment; returns what it prints."""
    environment = SHORT | {"HOME": str(here), "MPLCONFIGDIR": str(here / ".matplotlib")}
    environment["PATH"] = f"{Path(words[0]).parent}:{os.defpath}"
    done = subprocess.run(words, cwd=here, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != status:
        shown = " ".join([Path(words[0]).name, *words[1:]])
        raise WheelError(
            f"'{shown}' ended with status {done.returncode}, not {status}: {done.stderr or done.stdout}"
        )
    return done.stdout + done.stderr


def use(netspurt: str, here: Path) -> Iterator[str]:
    """What a newcomer types first."""
    yield run([netspurt, "--version"], here)
    table = run([netspurt, "run", "--rate", "10mbit", "--delay", "40ms", "--bytes", "20MB"], here)
    if "20 MB" not in table or "yes" not in table:
        raise WheelError(f"the transfer of 20 MB is not complete: {table}")
    yield "netspurt run --rate 10mbit --delay 40ms --bytes 20MB: complete"
    run([netspurt, "reproduce", "--quick", "terabit", "--out", "report"], here)
    if not (here / "report" / "index.html").stat().st_size:
        raise WheelError("netspurt reproduce left no report")
    yield "netspurt reproduce --quick terabit: all as published"
    for shell in ("bash", "zsh"):
        script = here / f"completion.{shell}"
        script.write_text(run([netspurt, "completion", shell], here))
        if (program := shutil.which(shell)) is not None:
            run([program, "-n", str(script)], here)
    yield "netspurt completion: read by the shell"
    run([netspurt, "run", "--rate", "10mbit", "--delay", "40ms", "-t", "2s", "--pcap", "x.pcapng"], here)
    run([netspurt, "why", "x.pcapng"], here)
    run([netspurt, "plot", "x.pcapng", "--out", "x.svg"], here)
    yield "netspurt why and netspurt plot: read the capture of a run"


def use_lab(netspurt: str, here: Path) -> str:
    """Serves the page of the lab, fetches it, and simulates the first scenario."""
    environment = SHORT | {"HOME": str(here)}
    words = [netspurt, "lab", "--no-browser", "--port", "0", "--json"]
    with subprocess.Popen(words, cwd=here, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            with urllib.request.urlopen(address, timeout=30) as answer:
                page = answer.read().decode()
        finally:
            server.send_signal(signal.SIGINT)
        server.wait(timeout=30)
    if "<title>" not in page:
        raise WheelError("the page of the lab is empty")
    return f"netspurt lab: a page of {len(page)} characters"


def main() -> int:
    """Prints a line for each thing that works, or the first that does not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pip", action="store_true", help="let pip fetch the packages that the wheel needs")
    parser.add_argument(
        "--glibc", type=int, metavar="MINOR", help="newest glibc that may be needed, 28 for 2.28"
    )
    options = parser.parse_args()
    try:
        wheel = only("netspurt-{}-*.whl")
        print(check_platform(wheel, options.glibc))
        print(check_source(only("netspurt-{}.tar.gz")))
        with tempfile.TemporaryDirectory(prefix="netspurt-wheel-") as folder:
            _in_an_empty_environment(wheel, Path(folder), from_pip=options.pip)
    except WheelError as fault:
        print(f"wheel-test: {fault}", file=sys.stderr)
        return 1
    return 0


def _in_an_empty_environment(wheel: Path, folder: Path, *, from_pip: bool) -> None:
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python, netspurt = environment / "bin" / "python", str(environment / "bin" / "netspurt")
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install"]
    (packages,) = environment.glob("lib/python*/site-packages")
    here = folder / "home"
    here.mkdir()
    if from_pip:
        subprocess.run([*pip, str(wheel)], check=True)
    else:
        subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
        link(needed(wheel), packages)
    for line in use(netspurt, here):
        print(line.strip())
    said = run([netspurt, "lab", "--no-browser"], here, status=2)
    if "pip install 'netspurt[lab]'" not in said:
        raise WheelError(f"without its extra the lab must name it: {said}")
    if from_pip:
        subprocess.run([*pip, f"{wheel}[lab]"], check=True)
    else:
        link(needed(wheel, "lab"), packages)
    print(use_lab(netspurt, here))


if __name__ == "__main__":
    sys.exit(main())
