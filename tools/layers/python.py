"""Checks that imports between the packages of python/netspurt run one way, without circles of modules.

The order: cli -> report, lab, notebook -> studies, comparing, plot, remedies -> inputs, sweeping, analysis, emulation,
probing, diagnosing, sockets, fitting, underload -> files and the modules at the top level (the public API). Within one
of these groups only SIDEWAYS allows imports.

An import counts at the top of a module, in a function and below TYPE_CHECKING. Imports below
TYPE_CHECKING are exempt from the check for circles, since they never run. ``netspurt/__init__.py`` and ``__main__.py``
are exempt from both rules: the package declares its children there. So are module names made at run
time (``import_module(f"netspurt.cli.commands.{name}")``): a package finds its own children that way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = "netspurt"

API = "the top level"

LAYERS: tuple[tuple[str, ...], ...] = (
    (API, "files"),
    (
        "inputs",
        "sweeping",
        "analysis",
        "emulation",
        "probing",
        "diagnosing",
        "sockets",
        "fitting",
        "underload",
    ),
    ("studies", "comparing", "plot", "remedies"),
    ("report", "lab", "notebook"),
    ("cli",),
)
"""From the bottom; a package may import those of all groups below its own. Add a new package here."""

SIDEWAYS: dict[str, frozenset[str]] = {
    "files": frozenset({API}),
    "sweeping": frozenset({"analysis"}),
    "diagnosing": frozenset({"analysis", "inputs"}),
    "emulation": frozenset({"analysis"}),
    "sockets": frozenset({"analysis", "diagnosing"}),
    "fitting": frozenset({"analysis", "diagnosing"}),
    "inputs": frozenset({"analysis", "sweeping", "probing"}),
    "comparing": frozenset({"plot"}),
    "lab": frozenset({"report"}),
    "studies": frozenset({"plot"}),
}
"""The packages of its own group that a package may import."""


@dataclass(frozen=True)
class Import:
    """One import between our modules."""

    file: Path
    line: int
    by: str
    of: str
    typing: bool
    """Whether the import is below TYPE_CHECKING."""


def violations(root: Path) -> list[str]:
    """Every import in the wrong direction, and every circle, as ``file:line: sentence``."""
    package = root / "python" / ROOT
    if not package.is_dir():
        return []
    modules = modules_of(package)
    imports = [found for name, file in modules.items() for found in imports_of(name, file, modules)]
    declared = [each for each in imports if each.by not in (ROOT, f"{ROOT}.__main__")]
    return [*wrong_ways(declared, modules, root), *circles(declared, modules, root)]


def modules_of(package: Path) -> dict[str, Path]:
    """Every module, by its dotted name; symbolic links are skipped, since their files are not the package's."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        inside = file.relative_to(package.parent)
        if any((package.parent / parent).is_symlink() for parent in inside.parents):
            continue
        parts = inside.with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(name: str, file: Path, modules: dict[str, Path]) -> Iterator[Import]:
    """The imports of our modules by one module."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node, typing in import_nodes(ast.parse(file.read_text(encoding="utf-8"))):
        for target in targets(node, package):
            of = target if target in modules else target.rpartition(".")[0]
            if of in modules and of != name and not (of == ROOT and target != ROOT and is_native(target)):
                yield Import(file, node.lineno, name, of, typing)


def is_native(target: str) -> bool:
    """Whether this is the native module, which is below all others."""
    return target == f"{ROOT}._core"


def import_nodes(tree: ast.AST, typing: bool = False) -> Iterator[tuple[ast.stmt | ast.Call, bool]]:
    """Import statements and calls of ``import_module``, each with whether it is below TYPE_CHECKING."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, typing
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for each in node.body:
                yield from import_nodes(ast.Module([each], []), True)
            for each in node.orelse:
                yield from import_nodes(ast.Module([each], []), typing)
        else:
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                yield node, typing
            yield from import_nodes(node, typing)


def targets(node: ast.stmt | ast.Call, package: str) -> Iterator[str]:
    """The dotted names of our modules in an import: for ``from a import b`` it is ``a.b``."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        names = [f"{base}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        names = [str(node.args[0].value)]
    return (name for name in names if name == ROOT or name.startswith(f"{ROOT}."))


def wrong_ways(imports: list[Import], modules: dict[str, Path], root: Path) -> Iterator[str]:
    """Imports that the table does not allow."""
    level = {name: number for number, names in enumerate(LAYERS) for name in names}
    packages = {name for name, file in modules.items() if file.name == "__init__.py"} - {ROOT}
    for each in imports:
        by, of = package_of(each.by, packages), package_of(each.of, packages)
        place = f"{each.file.relative_to(root)}:{each.line}"
        unknown = next((name for name in (by, of) if name not in level), None)
        if unknown is not None:
            yield (
                f"{place}: the package `{unknown}` is missing in the table of layers; add it in "
                "tools/layers/python.py and in ARCHITECTURE.md"
            )
        elif by != of and level[of] >= level[by] and of not in SIDEWAYS.get(by, ()):
            below = [name for names in LAYERS[: level[by]] for name in names]
            may = ", ".join([*below, *sorted(SIDEWAYS.get(by, ()))]) or "none of our modules"
            yield f"{place}: `{by}` imports `{each.of}`, but it may import {may}"


def package_of(module: str, packages: set[str]) -> str:
    """The top-level package of a module."""
    first = ".".join(module.split(".")[:2])
    return first.removeprefix(f"{ROOT}.") if first in packages else API


def circles(imports: list[Import], modules: dict[str, Path], root: Path) -> Iterator[str]:
    """Circles of imports of any length; one sentence for each group of modules."""
    running = [each for each in imports if not each.typing]
    after: dict[str, set[str]] = {}
    for each in running:
        after.setdefault(each.by, set()).add(each.of)
    for group in components(after):
        first = group[0]
        way = " -> ".join(round_trip(first, set(group), after))
        line = next(each.line for each in running if each.by == first and each.of in group)
        place = f"{modules[first].relative_to(root)}:{line}"
        yield f"{place}: a circle of {len(group)} modules: {way}; move their common part below both"


def components(after: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected groups of more than one node. Each group and the list are sorted."""
    reached = {node: reach(node, after) for node in after}
    groups = {
        tuple(sorted(other for other in found if node in reached.get(other, ())))
        for node, found in reached.items()
        if node in found
    }
    return [list(group) for group in sorted(groups)]


def reach(node: str, after: dict[str, set[str]]) -> set[str]:
    """All nodes that are reachable in at least one step."""
    found: set[str] = set()
    waiting = list(after.get(node, ()))
    while waiting:
        here = waiting.pop()
        if here not in found:
            found.add(here)
            waiting += after.get(here, ())
    return found


def round_trip(first: str, group: set[str], after: dict[str, set[str]]) -> list[str]:
    """A shortest cycle through a node."""
    ways = [[first]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        for step in sorted(after.get(way[-1], set()) & group):
            if step == first:
                return [*way, first]
            if step not in seen:
                seen.add(step)
                ways.append([*way, step])
    return [first]


TYPING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"

SELF_TEST = {
    "__init__.py": "from netspurt import cli\n",
    "__main__.py": "from netspurt.cli import main\n",
    "errors.py": "from netspurt import _core\n\n\ndef f():\n    import netspurt.plot.chart\n",
    "files/__init__.py": "import json\nfrom netspurt.errors import Error\n",
    "analysis/__init__.py": "",
    "analysis/tables.py": "from . import capture\nfrom ..files import x\nfrom netspurt.cli import options\n",
    "analysis/capture.py": "def f():\n    from netspurt.analysis.tables import x\n",
    "probing/__init__.py": f"{TYPING}    from netspurt.analysis import tables\n",
    "plot/__init__.py": "import importlib\nimportlib.import_module(f'netspurt.plot.{1}')\n",
    "plot/chart.py": f"{TYPING}    from netspurt.plot.drawing import draw\n",
    "plot/drawing.py": "from netspurt.plot.chart import Chart\nfrom netspurt.analysis import tables\n",
    "comparing/__init__.py": "from netspurt.comparing.pairs import pairs\nimport netspurt.plot\n",
    "comparing/pairs.py": "from netspurt.comparing.sides import side\n",
    "comparing/sides.py": "import importlib\nimportlib.import_module('netspurt.comparing')\n",
    "attic/__init__.py": "from netspurt.errors import Error\n",
    "cli/__init__.py": "from netspurt import comparing, errors\n",
    "cli/arguments/options.py": "",
}
"""Files of an artificial package: one violation of each kind, and one valid example of each kind."""

EXPECTED = [
    "python/netspurt/analysis/capture.py:2",
    "python/netspurt/analysis/tables.py:3",
    "python/netspurt/attic/__init__.py:1",
    "python/netspurt/comparing/__init__.py:1",
    "python/netspurt/errors.py:5",
    "python/netspurt/probing/__init__.py:3",
]
"""Two circles, three imports that the table forbids, and a package that is missing in the table."""
