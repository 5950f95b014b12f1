"""``tools/requirements.py``: a row names the code that implements its requirement, not a comment."""

import dataclasses
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("requirements", ROOT / "tools" / "requirements.py")
assert spec is not None
assert spec.loader is not None
requirements = importlib.util.module_from_spec(spec)
sys.modules["requirements"] = requirements  # dataclasses look their module up
spec.loader.exec_module(requirements)

FILE = "crates/tcp/src/wire/seq.rs"
COMMENT = "//! "
CODE = "pub struct Seq("


@pytest.fixture
def row() -> object:
    document = requirements.read(ROOT / "docs" / "requirements" / "rfc9293.toml")
    return next(each for each in document.rows if each.state == "kept" and each.test)


def test_every_row_names_code_and_a_test_that_exist() -> None:
    documents = [requirements.read(path) for path in requirements.DATA.glob("*.toml")]
    assert len(documents) > 20
    assert [
        fault for document in documents for row in document.rows for fault in requirements.faults(row)
    ] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": f"{FILE}: {COMMENT}"}, "is only a comment"),
        ({"text": f"{FILE}: no such text"}, "does not contain"),
        ({"text": "crates/tcp/src/none.rs: text"}, "does not exist"),
        ({"test": "tests/none.rs: name"}, "does not exist"),
        ({"test": f"{FILE}: no_such_test"}, "has no test"),
    ],
)
def test_a_row_that_names_no_code_is_rejected(change: dict[str, str], message: str, row: object) -> None:
    (fault,) = requirements.faults(dataclasses.replace(row, **change))  # type: ignore[type-var]
    assert message in fault


def test_code_that_repeats_the_text_of_a_comment_is_accepted(row: object) -> None:
    assert CODE in (ROOT / FILE).read_text()
    changed = dataclasses.replace(row, text=f"{FILE}: {CODE}")  # type: ignore[type-var]
    assert requirements.faults(changed) == []
    assert not requirements.is_comment("// let x = 1;\nlet x = 1;\n", "let x = 1;")
