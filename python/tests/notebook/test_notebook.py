"""The example notebook: every cell runs, and what its last line shows can be shown."""

from __future__ import annotations

import ast
import json
import linecache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "examples"
CELLS = [
    cell
    for cell in json.loads((FOLDER / "satellite.ipynb").read_text())["cells"]
    if cell["cell_type"] == "code"
]


def _run(source: str, names: dict[str, Any]) -> Any:
    """As a notebook does: the value of the last line, if it is an expression."""
    # So that a traceback, or a hash of a class, finds its lines.
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    tree = ast.parse(source)
    end = tree.body[-1]
    last = end if isinstance(end, ast.Expr) else None
    tree.body = tree.body[:-1] if last else tree.body
    exec(compile(tree, name, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_the_notebook_runs_and_shows_tables_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("netspurt._core", reason="the native module is not built")
    monkeypatch.chdir(FOLDER)
    names: dict[str, Any] = {"__name__": "notebook_of_examples"}
    shown = []
    for cell in CELLS:
        assert not cell["outputs"], "the notebook is kept without what came out"
        value = _run("".join(cell["source"]), names)
        shown.append("" if value is None else value._repr_html_())
    assert "<svg" in shown[0]
    assert "data:image/png" in shown[1]
    assert all("<table" in html for html in shown[1:])
