"""Checks which requirements of which RFC are kept where, and writes docs/requirements.md.

`docs/requirements/*.toml` says it, one file for each RFC. A row names what is asked, in our own words, and either the
line that keeps it (`kept`, a file and a text that stands in it) with a `test`, or why there is none: `not` (it is not
kept), `left` (a permission that is not used), `na` (it asks something of somebody else). Without arguments the page is
written; `--check` fails if a line or a test is not there any more, or if the page is out of date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "requirements"
PAGE = ROOT / "docs" / "requirements.md"

LEVELS = {"MUST": "MUST", "SHLD": "SHOULD", "REC": "SHOULD", "MAY": "MAY"}
STATES = {"kept": "kept", "not": "not kept", "left": "not used", "na": "does not apply"}
KEYS = {"id", "level", "at", "says", "test", *STATES}

HEAD = """\
# What the standards ask for

Each requirement of the RFCs that are implemented here, in our own words: the line that keeps it and a test of it, or
why it is not kept. Files without a crate are in `crates/tcp/src`, tests in `crates/tcp`. Profiles older than a document
keep what their time knew; this page speaks of the profile `rfc`, or of the mechanism once it is chosen. `make lint`
fails when a line or a test named here is gone. The data are in `docs/requirements/`; `python3 tools/requirements.py`
writes this page.
"""


@dataclass(frozen=True)
class Row:
    """One requirement."""

    source: str
    name: str
    level: str
    section: str
    says: str
    state: str
    text: str
    test: str


@dataclass(frozen=True)
class Document:
    """One RFC."""

    number: int
    title: str
    scope: str
    rows: tuple[Row, ...]


def read(path: Path) -> Document:
    """One file of the list; raises ValueError in one sentence if it is not as it should be."""
    data = tomllib.loads(path.read_text())
    rows = []
    for n, row in enumerate(data["rows"], start=1):
        source = f"{path.name}, row {n} ({row.get('id', row.get('at', '?'))})"
        if unknown := set(row) - KEYS:
            raise ValueError(f"{source}: unknown keys {sorted(unknown)}, possible are {sorted(KEYS)}")
        states = [state for state in STATES if state in row]
        if len(states) != 1:
            raise ValueError(f"{source}: one of {', '.join(STATES)} is needed, there are {len(states)}")
        name = row.get("id", "")
        level = row.get("level") or LEVELS.get(name.split("-")[0])
        if level not in {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"}:
            raise ValueError(f"{source}: level {level!r} is none of RFC 2119's")
        if states[0] == "left" and level != "MAY":
            raise ValueError(f"{source}: only what is permitted can be left; say not")
        text, test = row[states[0]], row.get("test", "")
        rows.append(Row(source, name, level, row["at"], row["says"], states[0], text, test))
    return Document(data["rfc"], data["title"], data["scope"], tuple(rows))


def place(text: str, base: Path, source: str) -> tuple[Path, str]:
    """A file and what is looked for in it."""
    file, colon, wanted = text.partition(": ")
    if not colon:
        raise ValueError(f"{source}: {text!r} is not a file, a colon and a text")
    return (ROOT / file if file.startswith(("crates/", "python/")) else base / file), wanted


def faults(row: Row) -> list[str]:
    """What a row names that is not there."""
    found = []
    if row.state == "kept":
        file, anchor = place(row.text, ROOT / "crates/tcp/src", row.source)
        if not file.is_file():
            found.append(f"{row.source}: there is no {file.relative_to(ROOT)}")
        elif anchor not in file.read_text():
            found.append(f"{row.source}: {file.relative_to(ROOT)} does not hold {anchor!r}")
    if row.test:
        file, test = place(row.test, ROOT / "crates/tcp", row.source)
        if not file.is_file():
            found.append(f"{row.source}: there is no {file.relative_to(ROOT)}")
        elif not re.search(rf"#\[test\]\s+(#\[[^\n]*\]\s+)*fn {re.escape(test)}\(", file.read_text()):
            found.append(f"{row.source}: {file.relative_to(ROOT)} has no test {test}")
    return found


def code(text: str) -> str:
    """A file and a text as they stand in a cell."""
    file, _, wanted = text.partition(": ")
    return f"`{file}`: `{wanted.replace('|', '&#124;')}`"


def cells(row: Row) -> str:
    """A row of the page."""
    where = code(row.text) if row.state == "kept" else f"*{STATES[row.state]}*: {row.text}"
    name = f"{row.name}, " if row.name else ""
    test = code(row.test) if row.test else ""
    return f"| {name}{row.section} | {row.level} | {row.says} | {where} | {test} |"


def counts(document: Document) -> Counter[str]:
    """How many rows are in which state; `tested` of those that are kept."""
    total = Counter(row.state for row in document.rows)
    total["tested"] = sum(row.state == "kept" and bool(row.test) for row in document.rows)
    return total


def page(documents: list[Document]) -> str:
    """The page."""
    lines = [HEAD, "| RFC | | rows | kept | with a test | not kept | not used | does not apply |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    total: Counter[str] = Counter()
    for document in documents:
        count = counts(document)
        total += count
        lines.append(f"| [{document.number}](#rfc-{document.number}) | {document.title} | {figures(count)} |")
    lines.append(f"| | all | {figures(total)} |")
    for document in documents:
        lines += ["", f"## RFC {document.number}", "", f"{document.title}. {document.scope}", ""]
        lines += ["| | | | kept by | test |", "| --- | --- | --- | --- | --- |", *map(cells, document.rows)]
    return "\n".join(lines) + "\n"


def figures(count: Counter[str]) -> str:
    """The cells of one line of the overview."""
    rows = sum(count[state] for state in STATES)
    return " | ".join(
        str(n) for n in (rows, count["kept"], count["tested"], *(count[s] for s in ("not", "left", "na")))
    )


def main() -> int:
    """Writes the page, or checks it."""
    try:
        documents = sorted((read(path) for path in DATA.glob("*.toml")), key=lambda d: d.number)
        wrong = [fault for document in documents for row in document.rows for fault in faults(row)]
    except (ValueError, KeyError, tomllib.TOMLDecodeError) as error:
        print(f"requirements: {error}", file=sys.stderr)
        return 1
    text = page(documents)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
    elif not PAGE.is_file() or PAGE.read_text() != text:
        wrong.append("docs/requirements.md is out of date: python3 tools/requirements.py writes it")
    for fault in wrong:
        print(f"requirements: {fault}", file=sys.stderr)
    for document in documents:
        count = counts(document)
        rows = sum(count[state] for state in STATES)
        print(
            f"RFC {document.number}: {count['kept']} of {rows} kept, {count['tested']} tested, {count['not']} not kept"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
