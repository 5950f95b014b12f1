"""Cells, checks and verdicts of a study as text, identical on a terminal and in a report.

Lives here: text for readers. Must not live here: number formats (``formats``), or text for programs (JSON and
CSV keep full precision).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netspurt.analysis import formats
from netspurt.studies.model import Cell, StudyResult, Table
from netspurt.studies.verdict import Verdict

ORDER: tuple[Verdict, ...] = ("exact", "within bar", "outside", "not comparable", "not run")
"""The order of verdicts in counts."""


def printed(cell: Cell) -> str:
    """The published number, as the document prints it."""
    if cell.published is None:
        return "–"
    return formats.number(cell.published) if cell.decimals is None else f"{cell.published:.{cell.decimals}f}"


def measured(cell: Cell) -> str:
    """The measured number, with one digit more than the document prints."""
    if cell.measured is None or cell.decimals is None or cell.measured in (float("inf"), float("-inf")):
        return formats.number(cell.measured)
    return f"{cell.measured:.{cell.decimals + 1}f}"


def interval(cell: Cell) -> str:
    """The 95 % interval of the mean."""
    ends = cell.possible_interval
    return "–" if ends is None else f"{formats.number(ends[0], 4)}–{formats.number(ends[1], 4)}"


def line(table: Table, cell: Cell) -> dict[str, str]:
    """A cell as a line of its table: text by column heading; all cells of a table have the same headings."""
    texts = {name.replace("_", " "): formats.label(value) for name, value in cell.row.items()}
    if len({other.quantity for other in table.cells}) > 1:
        texts["quantity"] = cell.quantity.replace("_", " ")
    if table.kind == "beyond":
        simulated = "not run" if cell.measured is None else formats.number(cell.measured)
        return texts | {
            "simulated": simulated,
            "unit": formats.unit(cell.unit),
            "95 % interval": interval(cell),
        }
    if any(other.origin for other in table.cells):
        texts["origin"] = cell.origin
    return texts | {
        "published": printed(cell),
        "measured": measured(cell),
        "unit": formats.unit(cell.unit),
        "off by": formats.deviation(cell.deviation),
        "95 % interval": interval(cell),
        "null": formats.number(cell.null_model, 4),
        "role": cell.role,
        "bar": "–" if cell.bar is None else cell.bar.words,
        "verdict": cell.verdict,
    }


def counts(verdicts: Mapping[Verdict, int]) -> str:
    """The counts of verdicts, such as ``20 exact, 2 outside``."""
    return ", ".join(f"{verdicts[name]} {name}" for name in ORDER if verdicts.get(name)) or "no cells"


def verdict(result: StudyResult) -> str:
    """The outcome of a study in one sentence of plain words, for a reader who looks at nothing else."""
    found = result.counts()
    whole = sum(found[name] for name in ("exact", "within bar", "outside"))
    parts = [f"{found['exact']} are reproduced exactly"]
    if found["within bar"]:
        parts.append(f"{found['within bar']} within their bars")
    if found["outside"]:
        parts.append(f"{found['outside']} not")
    checks = result.findings.checks
    held = sum(check.holds is True for check in checks)
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"Of {whole} published numbers {listed}; {held} of {len(checks)} checks hold."


def headline(result: StudyResult) -> str:
    """The outcome of a study in one sentence."""
    checks = result.findings.checks
    held = sum(check.holds is True for check in checks)
    failed = sum(check.holds is False for check in checks)
    missing = len(checks) - held - failed
    sentence = f"Cells of the document: {counts(result.counts())}. Checks: {held} of {len(checks)} hold"
    if failed:
        sentence += f", {failed} fail"
    if missing:
        sentence += f", {missing} not run"
    return sentence + "."


def holds(value: bool | None) -> str:
    """The outcome of a check."""
    return {True: "holds", False: "fails", None: "not run"}[value]


def roles(tables: Sequence[Table]) -> str:
    """The numbers of fitted and of predicted cells."""
    cells = [cell for table in tables if table.kind == "document" for cell in table.cells]
    fitted = sum(cell.role == "fitted" for cell in cells)
    return f"{fitted} cells were fitted, {len(cells) - fitted} predicted."
