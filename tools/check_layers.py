#!/usr/bin/env python3
"""Checks that imports between our crates run one way: from python down to tcp, as the table `ALLOWED` says.

The packages of python/netspurt also have an order, see tools/layers/python.py, and so have the folders inside each
crate, see tools/layers/rust_modules.py.

Reads every dependency table of crates/*/Cargo.toml (plain, dev, build and per-platform alike) and every path
that names one of our crates in the Rust sources. Exits 1 and prints file and line of each import in the wrong
direction.

    tools/check_layers.py [ROOT]      check the repository (default: the one of this file)
    tools/check_layers.py --self-test check on a small artificial repository that each kind of violation is found
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layers import python, rust_modules

# The crates of ours that each crate may import. Add a new crate here and in ARCHITECTURE.md.
ALLOWED: dict[str, frozenset[str]] = {
    "tcp": frozenset(),
    "budget": frozenset({"tcp"}),
    "sim": frozenset({"tcp", "budget"}),
    "scenario": frozenset({"tcp", "sim"}),
    "trace": frozenset({"tcp", "budget"}),
    "live": frozenset({"tcp", "budget", "sim", "trace"}),
    "observe": frozenset({"tcp", "budget", "sim", "scenario", "trace"}),
    "packetdrill": frozenset({"tcp"}),
    "bench": frozenset({"tcp", "sim", "scenario", "trace", "live"}),
    "python": frozenset({"tcp", "budget", "sim", "scenario", "trace", "live", "observe"}),
}

PREFIX = "netspurt"
IMPORT = re.compile(rf"\b{PREFIX}_({'|'.join(ALLOWED)})\s*(?:::|;|as\b)")
COMMENT = re.compile(r"//.*")


def violations(root: Path) -> list[str]:
    """Every import in the wrong direction, as `file:line: sentence`."""
    found: list[str] = []
    renames = workspace_renames(root)
    for crate in sorted(path.parent for path in root.glob("crates/*/Cargo.toml")):
        if crate.name not in ALLOWED:
            known = ", ".join(ALLOWED)
            found.append(
                f"crates/{crate.name}/Cargo.toml:1: `{crate.name}` is missing in the table of layers "
                f"({known}); add it in tools/check_layers.py and in ARCHITECTURE.md"
            )
            continue
        may = ", ".join(sorted(ALLOWED[crate.name])) or "none of our crates"
        for file, line, other in [*manifest_imports(crate, renames), *source_imports(crate)]:
            if other != crate.name and other not in ALLOWED[crate.name]:
                place = f"{file.relative_to(root)}:{line}"
                found.append(f"{place}: `{crate.name}` imports `{other}`, but it may import {may}")
    return [*found, *python.violations(root), *rust_modules.violations(root)]


def workspace_renames(root: Path) -> dict[str, str]:
    """The workspace's dependency names, each with its package."""
    manifest = root / "Cargo.toml"
    if not manifest.exists():
        return {}
    tables = tomllib.loads(manifest.read_text()).get("workspace", {}).get("dependencies", {})
    return {name: package_of(name, spec, {}) for name, spec in tables.items()}


def package_of(name: str, spec: Any, renames: dict[str, str]) -> str:
    """The package of the dependency named `name`."""
    if isinstance(spec, dict):
        if spec.get("workspace"):
            return renames.get(name, name)
        return str(spec.get("package", name))
    return name


def manifest_imports(crate: Path, renames: dict[str, str]) -> Iterator[tuple[Path, int, str]]:
    """Our crates among the dependencies of one manifest: file, line, crate."""
    file = crate / "Cargo.toml"
    text = file.read_text()
    manifest = tomllib.loads(text)
    for table in [manifest, *manifest.get("target", {}).values()]:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, spec in table.get(kind, {}).items():
                prefix, _, other = package_of(name, spec, renames).partition("-")
                if prefix == PREFIX and other:
                    yield file, line_of(text, name), other


def line_of(text: str, name: str) -> int:
    """The first line that gives `name` a value, as a key or as a table."""
    key = re.compile(rf'^\s*(?:\[.*\b)?"?{re.escape(name)}"?\s*[.=\]]')
    return next((number for number, line in enumerate(text.splitlines(), 1) if key.match(line)), 1)


def source_imports(crate: Path) -> Iterator[tuple[Path, int, str]]:
    """Our crates in the Rust sources of one crate, without comments: file, line, crate."""
    for file in sorted(crate.rglob("*.rs")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for match in IMPORT.finditer(COMMENT.sub("", line)):
                yield file, number, match.group(1)


def self_test() -> None:
    """Builds a repository with one violation of each kind, and one valid example of each kind."""
    files = {
        "Cargo.toml": '[workspace.dependencies]\nworld = { package = "netspurt-sim" }\n',
        "crates/tcp/Cargo.toml": "[package]\nname = 'tcp'\n[dev-dependencies]\nworld.workspace = true\n",
        "crates/tcp/src/lib.rs": "//! netspurt_sim::engine drives this.\n\nuse netspurt_sim::Engine;\n",
        "crates/sim/Cargo.toml": '[dependencies]\nnetspurt-tcp.workspace = true\nnetspurt-live = "1"\n',
        "crates/sim/src/lib.rs": "use netspurt_tcp::Time;\nuse netspurt_sim::Engine;\n",
        "crates/trace/Cargo.toml": "[target.'cfg(unix)'.dependencies.netspurt-sim]\npath = \"../sim\"\n",
        "crates/live/Cargo.toml": '[dependencies]\nnetspurt-sim = "1"\nnetspurt-trace = "1"\n',
        "crates/attic/Cargo.toml": "",
        **{f"python/netspurt/{name}": text for name, text in python.SELF_TEST.items()},
    }
    expected = [
        "crates/attic/Cargo.toml:1",
        "crates/sim/Cargo.toml:3",
        "crates/tcp/Cargo.toml:4",
        "crates/tcp/src/lib.rs:3",
        "crates/trace/Cargo.toml:1",
        *python.EXPECTED,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        found = sorted(message.split(": ")[0] for message in violations(Path(folder)))
    if found != expected:
        sys.exit(f"check_layers: self-test found {found}, expected {expected}")
    print(f"check_layers: self-test found all {len(expected)} violations and nothing else")


def main(arguments: list[str]) -> int:
    """Runs the check; returns the exit status."""
    if arguments == ["--self-test"]:
        self_test()
        rust_modules.self_test()
        return 0
    if any(argument.startswith("-") for argument in arguments) or len(arguments) > 1:
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = violations(root)
    for message in found:
        print(message, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
