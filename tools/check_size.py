#!/usr/bin/env python3
"""Checks that files, functions and folders stay small enough for one reading.

A Rust or Python file over 600 lines gives a note, one over 700 is an error; so is a Python function over 80 lines
(clippy's `too_many_lines` checks the Rust ones). A folder of sources with more than 17 entries is an error, unless
`LISTS` names it with the reason.

    tools/check_size.py [ROOT]        check the repository (default: the one of this file)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("crates", "python", "studies", "examples", "benches", "fuzz", "tools")
NOT_OURS = {"target", "corpus", "artifacts", "node_modules", "__pycache__", "vendor"}
FILE_LINES_NEAR = 600
FILE_LINES_MOST = 700
FUNCTION_LINES_MOST = 80
ENTRIES_MOST = 17
LISTS = {
    "python/netspurt": "the public API and the packages below it, in the order of tools/layers/python.py",
    "python/netspurt/cli/commands": "one file for each command, with its name",
    "python/tests": "one folder for each package, and the tests of the public API",
    "python/tests/cli": "one file for each command or option that is tested",
    "python/tests/emulation": "one file for each part that is tested",
    "tools": "one program for each file",
}


def sources(root: Path) -> Iterator[Path]:
    """Our own .rs and .py files, in order."""
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".rs", ".py") and NOT_OURS.isdisjoint(file.relative_to(root).parts):
                yield file


def full_folders(root: Path) -> Iterator[tuple[str, int]]:
    """Folders of sources with more entries than a reader can take in: name, number of entries."""
    entries: dict[Path, set[str]] = {}
    for file in sources(root):
        path = file.relative_to(root)
        for below, folder in zip((path, *path.parents), path.parents, strict=False):
            entries.setdefault(folder, set()).add(below.name)
    for folder, names in sorted(entries.items()):
        if len(names) > ENTRIES_MOST and folder.as_posix() not in LISTS:
            yield folder.as_posix(), len(names)


def long_functions(text: str) -> Iterator[tuple[int, str, int]]:
    """Python functions over the limit: first line, name, length without the docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if length > FUNCTION_LINES_MOST:
                yield node.lineno, node.name, length


def main(arguments: list[str]) -> int:
    """Runs the check; returns the exit status."""
    if any(argument.startswith("-") for argument in arguments) or len(arguments) > 1:
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    failed = False
    for file in sources(root):
        name, text = file.relative_to(root), file.read_text()
        lines = text.count("\n")
        if lines > FILE_LINES_MOST:
            failed = True
            complain(f"{name}:1: {lines} lines, at most {FILE_LINES_MOST}: split it")
        elif lines > FILE_LINES_NEAR:
            complain(f"{name}:1: note: {lines} lines, the aim is at most {FILE_LINES_NEAR}")
        for line, function, length in long_functions(text) if file.suffix == ".py" else ():
            failed = True
            complain(f"{name}:{line}: `{function}` has {length} lines, at most {FUNCTION_LINES_MOST}")
    for folder, entries in full_folders(root):
        failed = True
        complain(f"{folder}: {entries} entries, at most {ENTRIES_MOST}: sort them into folders")
    return 1 if failed else 0


def complain(message: str) -> None:
    """Prints a message to standard error, like a compiler."""
    print(message, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
