"""Checks the table of RFC requirements and writes docs/requirements.md.

`docs/requirements/*.toml` holds the table, one file per RFC. A row states one requirement in our own words. It also
names either the code that implements it (`kept`: a file and a text in that file) and a `test`, or the reason why there
is none: `not` (not implemented), `left` (a permission that is not used), `na` (does not apply here). Without arguments
the tool writes the page. With `--check` it fails if a line or a test no longer exists, if a line is only a comment, or
if the page is out of date.
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
STATES = {"kept": "implemented", "not": "not implemented", "left": "not used", "na": "does not apply"}
KEYS = {"id", "level", "at", "says", "test", *STATES}

HEAD = """\
# RFC requirements

Each requirement of the RFCs that netspurt implements, in our own words. A row states how a conforming TCP behaves,
also where the level is MUST NOT. It names the code that implements the requirement and a test, or says why it is not
implemented. Paths without a crate are in `crates/tcp/src`, those of tests in `crates/tcp`.

The page describes the profile `rfc`, or a mechanism that a scenario selects. Profiles of older systems follow the
documents of their time. The data is in `docs/requirements/`, and `python3 tools/requirements.py` writes this page.
`make lint` fails when a named line or test no longer exists, and when a named line is only a comment.
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
    """Reads one file of the table. Raises ValueError if it is invalid."""
    data = tomllib.loads(path.read_text())
    rows = []
    for n, row in enumerate(data["rows"], start=1):
        source = f"{path.name}, row {n} ({row.get('id', row.get('at', '?'))})"
        if unknown := set(row) - KEYS:
            raise ValueError(f"{source}: unknown keys {sorted(unknown)}; known keys are {sorted(KEYS)}")
        states = [state for state in STATES if state in row]
        if len(states) != 1:
            raise ValueError(f"{source}: exactly one of {', '.join(STATES)} is required, found {len(states)}")
        name = row.get("id", "")
        level = row.get("level") or LEVELS.get(name.split("-")[0])
        if level not in {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"}:
            raise ValueError(f"{source}: level {level!r} is not a level of RFC 2119")
        if states[0] == "left" and level != "MAY":
            raise ValueError(f"{source}: only a MAY can be `left`; use `not`")
        text, test = row[states[0]], row.get("test", "")
        rows.append(Row(source, name, level, row["at"], row["says"], states[0], text, test))
    return Document(data["rfc"], data["title"], data["scope"], tuple(rows))


def place(text: str, base: Path, source: str) -> tuple[Path, str]:
    """Splits `file: text` into the path and the text."""
    file, colon, wanted = text.partition(": ")
    if not colon:
        raise ValueError(f"{source}: {text!r} must be a file, a colon and a text")
    return (ROOT / file if file.startswith(("crates/", "python/")) else base / file), wanted


def is_comment(text: str, anchor: str) -> bool:
    """Whether all lines that contain the anchor are comments."""
    lines = [line.strip() for line in text.splitlines() if anchor in line]
    return bool(lines) and all(line.startswith(("//", "#")) for line in lines)


def faults(row: Row) -> list[str]:
    """Files, texts and tests that a row names and that do not exist, and texts that are only comments."""
    found = []
    if row.state == "kept":
        file, anchor = place(row.text, ROOT / "crates/tcp/src", row.source)
        if not file.is_file():
            found.append(f"{row.source}: {file.relative_to(ROOT)} does not exist")
        elif anchor not in file.read_text():
            found.append(f"{row.source}: {file.relative_to(ROOT)} does not contain {anchor!r}")
        elif is_comment(file.read_text(), anchor):
            found.append(
                f"{row.source}: {anchor!r} is only a comment in {file.relative_to(ROOT)}; name the code that "
                "implements the requirement"
            )
    if row.test:
        file, test = place(row.test, ROOT / "crates/tcp", row.source)
        if not file.is_file():
            found.append(f"{row.source}: {file.relative_to(ROOT)} does not exist")
        elif not re.search(rf"#\[test\]\s+(#\[[^\n]*\]\s+)*fn {re.escape(test)}\(", file.read_text()):
            found.append(f"{row.source}: {file.relative_to(ROOT)} has no test {test}")
    return found


def code(text: str) -> str:
    """Formats a file and a text for a table cell."""
    file, _, wanted = text.partition(": ")
    return f"`{file}`: `{wanted.replace('|', '&#124;')}`"


def cells(row: Row) -> str:
    """Formats one row of the page."""
    where = code(row.text) if row.state == "kept" else f"*{STATES[row.state]}*: {row.text}"
    name = f"{row.name}, " if row.name else ""
    test = code(row.test) if row.test else ""
    return f"| {name}{row.section} | {row.level} | {row.says} | {where} | {test} |"


def counts(document: Document) -> Counter[str]:
    """Number of rows in each state; `tested` counts the implemented ones with a test."""
    total = Counter(row.state for row in document.rows)
    total["tested"] = sum(row.state == "kept" and bool(row.test) for row in document.rows)
    return total


def page(documents: list[Document]) -> str:
    """Formats the whole page."""
    lines = [
        HEAD,
        "| RFC | title | rows | implemented | with a test | not implemented | not used | does not apply |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    total: Counter[str] = Counter()
    for document in documents:
        count = counts(document)
        total += count
        lines.append(f"| [{document.number}](#rfc-{document.number}) | {document.title} | {figures(count)} |")
    lines.append(f"| | all | {figures(total)} |")
    for document in documents:
        lines += ["", f"## RFC {document.number}", "", f"{document.title}. {document.scope}", ""]
        lines += [
            "| section | level | requirement | implemented by | test |",
            "| --- | --- | --- | --- | --- |",
            *map(cells, document.rows),
        ]
    return "\n".join(lines) + "\n"


def figures(count: Counter[str]) -> str:
    """Formats the numbers of one line of the overview."""
    rows = sum(count[state] for state in STATES)
    return " | ".join(
        str(n) for n in (rows, count["kept"], count["tested"], *(count[s] for s in ("not", "left", "na")))
    )


def main() -> int:
    """Writes or checks the page."""
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
        wrong.append("docs/requirements.md is out of date; run python3 tools/requirements.py")
    for fault in wrong:
        print(f"requirements: {fault}", file=sys.stderr)
    for document in documents:
        count = counts(document)
        rows = sum(count[state] for state in STATES)
        print(
            f"RFC {document.number}: {count['kept']} of {rows} implemented, {count['tested']} tested, "
            f"{count['not']} not implemented"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
