"""How numbers and outcomes are put into words, in the terminal and in the report alike.

Lives here: formatting for people. Must not live here: formatting for programs (JSON and CSV keep full precision).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netspurt.studies.model import Cell, StudyResult, Table
from netspurt.studies.verdict import Verdict

ORDER: tuple[Verdict, ...] = ("exact", "within bar", "outside", "not comparable", "not run")
"""In which verdicts are counted up."""


def number(value: float | None, digits: int = 5) -> str:
    """A number with so many significant digits, or a dash."""
    if value is None:
        return "–"
    if value != value or value in (float("inf"), float("-inf")):
        return "∞" if value == float("inf") else "?"
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def printed(cell: Cell) -> str:
    """The published number, as the document prints it."""
    if cell.published is None:
        return "–"
    return number(cell.published) if cell.decimals is None else f"{cell.published:.{cell.decimals}f}"


def measured(cell: Cell) -> str:
    """The measured number, with one digit more than the document prints."""
    if cell.measured is None or cell.decimals is None or cell.measured in (float("inf"), float("-inf")):
        return number(cell.measured)
    return f"{cell.measured:.{cell.decimals + 1}f}"


def percent(fraction: float | None) -> str:
    """A deviation with its sign."""
    if fraction is None:
        return "–"
    return f"{100 * fraction:+.1f} %" if abs(fraction) >= 0.0005 else f"{100 * fraction:+.4f} %"


def interval(cell: Cell) -> str:
    """The 95 % interval of the mean."""
    return "–" if cell.interval is None else f"{number(cell.interval[0], 4)}–{number(cell.interval[1], 4)}"


def unit(name: str) -> str:
    """A unit as people write it."""
    return "µs" if name == "us" else name


def label(value: object) -> str:
    """The name of a row."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def line(table: Table, cell: Cell) -> dict[str, str]:
    """A cell's line of its table: text by head of column; the same heads for all cells of a table."""
    texts = {name.replace("_", " "): label(value) for name, value in cell.row.items()}
    if len({other.quantity for other in table.cells}) > 1:
        texts["quantity"] = cell.quantity.replace("_", " ")
    if table.kind == "beyond":
        simulated = "not run" if cell.measured is None else number(cell.measured)
        return texts | {"simulated": simulated, "unit": unit(cell.unit), "95 % interval": interval(cell)}
    return texts | {
        "published": printed(cell),
        "measured": measured(cell),
        "unit": unit(cell.unit),
        "off by": percent(cell.deviation),
        "95 % interval": interval(cell),
        "null": number(cell.null_model, 4),
        "role": cell.role,
        "bar": "–" if cell.bar is None else cell.bar.words,
        "verdict": cell.verdict,
    }


def counts(verdicts: Mapping[Verdict, int]) -> str:
    """Verdicts counted, such as ``20 exact, 2 outside``."""
    return ", ".join(f"{verdicts[name]} {name}" for name in ORDER if verdicts.get(name)) or "no cells"


def headline(result: StudyResult) -> str:
    """What came of a study, in one sentence."""
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
    """How many cells were fitted and how many predicted."""
    cells = [cell for table in tables if table.kind == "document" for cell in table.cells]
    fitted = sum(cell.role == "fitted" for cell in cells)
    return f"{fitted} cells were fitted, {len(cells) - fitted} predicted."
