"""Notebook display of a diagnosis: self-contained HTML.

Lives here: the worst connections with their budgets as bars. Must not live here: the budgets themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.diagnosing.contents import contents
from netspurt.diagnosing.diagnosis import main_direction
from netspurt.notebook.displays import picture
from netspurt.plot.palette import limit_colour

if TYPE_CHECKING:
    from netspurt.diagnosing import Diagnosis

SHOWN = 8
"""The number of connections shown; a note counts the others."""

CELL = "padding:.1em .7em"


def of_diagnosis(diagnosis: Diagnosis) -> str:
    """The connections that lost most time, each with its sentence and its budget."""
    numbers = diagnosis.connections["connection"].to_list()
    parts = [f"<strong>{escape(str(diagnosis.path))}</strong>: {escape(contents(diagnosis))}"]
    if diagnosis.fault:
        parts.append(f"<p>{escape(diagnosis.fault)}</p>")
    shown = diagnosis.documents(numbers[:SHOWN])
    parts += map(_connection, shown)
    if shown:
        from netspurt.plot.runs.limits import chart_of

        words = f"limits over time of connection {shown[0]['connection']}"
        # Behind the budget of the first connection, which it shows.
        parts.insert(2 if not diagnosis.fault else 3, picture(chart_of(shown[0]).draw(), words))
    if len(numbers) > SHOWN:
        parts.append(f"<p>and {len(numbers) - SHOWN} more</p>")
    return f"<div>{''.join(parts)}</div>"


def _connection(row: Mapping[str, Any]) -> str:
    main = main_direction(row)
    lines = "".join(_line(line) for line in main["budget"])
    head = f"{row['connection']}: {row['client']} → {row['server']}"
    return (
        f"<p><strong>{escape(head)}</strong><br>{escape(main['sentence'])}</p>"
        f'<div style="overflow-x:auto"><table style="font-size:.85em"><tbody>{lines}</tbody></table></div>'
    )


def _line(line: Mapping[str, Any]) -> str:
    width = f"{100 * line['share']:.2f}%"
    bar = f'<div style="background:{limit_colour(line["limit"])};width:{width};height:.8em"></div>'
    title = escape(line["sentence"], quote=True)
    return (
        f'<tr title="{title}"><td style="text-align:left;{CELL}">{escape(line["limit"])}</td>'
        f'<td style="text-align:right;{CELL}">{formats.lasting(line["seconds"])}</td>'
        f'<td style="text-align:right;{CELL}">{100 * line["share"]:.1f} %</td>'
        f'<td style="min-width:16em;{CELL}">{bar}</td></tr>'
    )
