"""Tables of a study in the terminal, published and measured side by side.

Lives here: printing with rich. Must not live here: the wording of numbers (``words``), shared with the report.
"""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from netspurt.studies import words
from netspurt.studies.model import StudyResult, Table

WIDE = 130
"""Columns of text that a whole table needs."""

COLOURS = {
    "exact": "bold green",
    "within bar": "green",
    "outside": "bold red",
    "not comparable": "dim",
    "not run": "yellow",
}


def show(console: Console, result: StudyResult) -> None:
    """Prints the tables of the document, the checks and the notes."""
    console.rule(f"[bold]{escape(result.study)}[/]: {escape(result.title)}")
    for table in result.findings.tables:
        if table.kind == "document":
            _show_table(console, table)
    for check in result.findings.checks:
        colour = {True: "green", False: "bold red", None: "yellow"}[check.holds]
        found = f" [dim]({escape(check.found)})[/]" if check.found else ""
        console.print(
            f"[{colour}]{words.holds(check.holds):>7}[/]  {escape(check.check)}{found}", highlight=False
        )
    for note in result.findings.notes:
        console.print(f"[dim]{escape(note)}[/]", highlight=False)
    live = f", {result.live_seconds:.1f} s of them live" if result.live_seconds else ""
    console.print(
        f"{words.headline(result)} {result.runs} runs in {result.seconds:.1f} s{live}.", highlight=False
    )
    console.print()


def _show_table(console: Console, table: Table) -> None:
    if not table.cells:
        return
    heads = [head for head in words.line(table, table.cells[0]) if head not in _left_out(console)]
    grid = RichTable(title=escape(table.title), title_justify="left", box=None, pad_edge=False)
    for head in heads:
        numeric = head in ("published", "measured", "off by", "95 % interval", "null")
        grid.add_column(head, justify="right" if numeric else "left", no_wrap=True)
    for cell in table.cells:
        line = words.line(table, cell)
        colour = COLOURS[cell.verdict]
        texts = [escape(line[head]) for head in heads]
        grid.add_row(*texts[:-1], f"[{colour}]{texts[-1]}[/]")
    console.print(grid)
    bars = dict.fromkeys(cell.bar.words for cell in table.cells if cell.bar is not None)
    console.print(f"[dim]{words.counts(table.counts())}; bars: {'; '.join(bars)}[/]", highlight=False)
    console.print()


def _left_out(console: Console) -> tuple[str, ...]:
    """Columns that a terminal has no room for; the report has them all. Bars stand below the table."""
    return ("bar",) if console.width >= WIDE else ("bar", "null", "role", "origin", "95 % interval")
