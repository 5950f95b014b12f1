"""Generates the pages of the studies from their READMEs and the numbers of the last ``netspurt reproduce``.

Lives here: the conversion of README files and ``report/reproduce.json`` to Markdown. Must not live here: any number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NAMES = ("terabit", "rfc1106", "rfc2415", "doupnik", "rfc889", "today")

Document = Mapping[str, Any]


def pages(root: Path) -> dict[str, str]:
    """Returns a page for each study, by its place in the site.

    Raises:
        FileNotFoundError: ``report/reproduce.json`` does not exist yet.
    """
    from netspurt.studies import find

    results = root / "report" / "reproduce.json"
    if not results.is_file():
        raise FileNotFoundError(f"there is no {results}: run 'make reproduce' first")
    whole = json.loads(results.read_text(encoding="utf-8"))
    found = {study["study"]: study for study in whole["studies"]}
    return {
        f"studies/{name}.md": (root / "studies" / name / "README.md").read_text(encoding="utf-8")
        + _results(found.get(name), find(name).question, whole)
        for name in NAMES
    }


def _results(study: Document | None, question: str, whole: Document) -> str:
    if study is None:
        return "\n## Measured results\n\nNot part of the last `netspurt reproduce`.\n"
    kind = "a quick run, with fewer seeds than a full one" if whole["quick"] else "a full run, all seeds"
    heading = f"Results of `netspurt reproduce` with netspurt {whole['netspurt']}: {kind}."
    lines = ["", "## Measured results", "", heading, ""]
    lines += [f"> Question of the document: {question}", ""]
    for check in study["checks"]:
        mark = {True: "holds", False: "**fails**", None: "not run"}[check["holds"]]
        lines.append(f"* {mark}: {check['check']}")
    for picture in study.get("pictures", []):
        image = f"![{picture['alt']}](../../report/pictures/{picture['name']}.svg)"
        lines += ["", f"### {picture['title']}", "", image, "", f"*{picture['caption']}*"]
    for table in study["tables"]:
        title, rows = table.get("title", table["table"]), _table(table["cells"])
        if table.get("kind") == "beyond":
            lines += [
                "",
                f'??? note "{title.replace(chr(34), chr(39))}"',
                "",
                *(f"    {row}" for row in rows),
            ]
        else:
            lines += ["", f"### {title}", "", *rows]
    return "\n".join(lines) + "\n"


def _table(cells: Sequence[Document]) -> list[str]:
    names = list(dict.fromkeys(name for cell in cells for name in cell["row"]))
    compared = any(cell["published"] is not None for cell in cells)
    several = len({cell["quantity"] for cell in cells}) > 1
    heads = [
        *names,
        *(["quantity"] if several else []),
        *(["published"] if compared else []),
        "measured",
        "unit",
    ]
    heads += ["role", "verdict"] if compared else []
    lines = [_line(head.replace("_", " ") for head in heads), _line("---" for _ in heads)]
    for cell in cells:
        texts = [_text(cell["row"].get(name)) for name in names]
        texts += [cell["quantity"].replace("_", " ")] if several else []
        texts += [_text(cell["published"])] if compared else []
        texts += [_text(cell["measured"]), cell["unit"] or ""]
        texts += [cell["role"], cell["verdict"]] if compared else []
        lines.append(_line(texts))
    return lines


def _line(texts: Any) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.5g}"
    return "–" if value is None else str(value)
