"""Writes a software bill of materials as CycloneDX 1.6 JSON, from the lock files alone.

It lists every crate of `Cargo.lock` and `fuzz/Cargo.lock` and every package of the Python requirement files. It needs
no network and no installed package. The same lock files give the same text: there is no date and no random number.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

CARGO = {"Cargo.lock": "required", "fuzz/Cargo.lock": "excluded"}
"""Lock files of crates, and the scope of what they name: "excluded" is needed for development only."""

PYTHON = {
    "requirements.txt": "required",
    "requirements-dask.txt": "optional",
    "requirements-docs.txt": "excluded",
    "requirements-build.txt": "excluded",
    "requirements-dev.txt": "excluded",
    "requirements-wheel.txt": "excluded",
}
"""The same for the requirement files."""

PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)")


def crates(lock: dict[str, Any], scope: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The crates of a lock file that come from a registry, and the edges between all of its crates."""
    packages = lock["package"]
    versions: dict[str, list[str]] = {}
    for package in packages:
        versions.setdefault(package["name"], []).append(package["version"])

    def reference(words: str) -> str:
        # A lock file names the version only where there are several.
        name, *version = words.split()
        return f"pkg:cargo/{name}@{version[0] if version else versions[name][0]}"

    components, edges = [], []
    for package in packages:
        purl = reference(f"{package['name']} {package['version']}")
        depends = sorted({reference(words) for words in package.get("dependencies", [])})
        edges.append({"ref": purl, "dependsOn": depends})
        component = {
            "type": "library",
            "bom-ref": purl,
            "name": package["name"],
            "version": package["version"],
        }
        component |= {"scope": scope, "purl": purl}
        if "checksum" in package:
            component["hashes"] = [{"alg": "SHA-256", "content": package["checksum"]}]
        components.append(component)
    return components, edges


def pinned(text: str, scope: str) -> list[dict[str, Any]]:
    """The packages of a requirement file. Their hashes are those of several files each, so they are left out."""
    components = []
    for line in text.splitlines():
        if found := PINNED.match(line):
            name = re.sub(r"[-_.]+", "-", found[1]).lower()
            purl = f"pkg:pypi/{name}@{found[2]}"
            components.append(
                {
                    **{"type": "library", "bom-ref": purl, "name": name, "version": found[2]},
                    **{"scope": scope, "purl": purl},
                }
            )
    return components


def bill(root: Path) -> dict[str, Any]:
    """The whole document. What several files name has the scope of the first one."""
    components: dict[str, dict[str, Any]] = {}
    edges: dict[str, dict[str, Any]] = {}
    for file, scope in CARGO.items():
        found, between = crates(tomllib.loads((root / file).read_text()), scope)
        for component in found:
            components.setdefault(component["bom-ref"], component)
        for edge in between:
            edges.setdefault(edge["ref"], edge)
    for file, scope in PYTHON.items():
        for component in pinned((root / file).read_text(), scope):
            components.setdefault(component["bom-ref"], component)
    version = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "netspurt", "version": version}},
        "components": [components[ref] for ref in sorted(components)],
        "dependencies": [edges[ref] for ref in sorted(edges)],
    }


def main() -> None:
    """Writes the document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the file to write")
    out: Path = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(bill(ROOT), indent=1) + "\n")
    print(f"{out}: {len(bill(ROOT)['components'])} components")


if __name__ == "__main__":
    main()
