"""The report of captures: their connections, and plots of the stream that carries most.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netspurt.analysis import formats
from netspurt.analysis.capture_lines import CAUSES, COLUMNS, document, line
from netspurt.inputs.capture import Captured
from netspurt.report.blocks import Block, Facts, Files, Page, Section, Text, csv, table
from netspurt.report.page import facts
from netspurt.report.run import pictures

if TYPE_CHECKING:
    from netspurt.analysis.capture import Capture

SHOWN = [name for name in COLUMNS if name not in ("from", "start")]

MOST_ROWS = 200
"""The maximal number of rows of a table; the CSV file has all."""

MOST_SEGMENTS = 2_000_000
"""The maximal number of segments for plots: with more, the page would be too large for a browser."""


def page_of(captures: Sequence[Capture], command: str) -> Page:
    """The page of some captures; ``command`` is the command line."""
    sections = []
    for number, capture in enumerate(captures, 1):
        prefix = f"{number}-" if len(captures) > 1 else ""
        name = f" of {capture.path.name}" if prefix else ""
        sections.append(Section(f"Connections{name}", _connections(capture, prefix)))
        sections.append(Section(f"Pictures{name}", _pictures(capture, prefix)))
    made = [*facts(command), ("captures", ", ".join(str(capture.path) for capture in captures))]
    sections.append(Section("How it was made", [Facts(made)]))
    names = [capture.path.name for capture in captures]
    title = names[0] if len(names) == 1 else f"{len(names)} captures"
    return Page("capture", title, [_lead(capture) for capture in captures], sections)


def _lead(capture: Capture) -> str:
    """A summary in one or two sentences."""
    tally, streams = capture.tally, capture.streams
    resent = sum(int(streams[f"retransmitted_{cause}"].sum()) for cause in CAUSES)
    summary = (
        f"{capture.path.name}: {formats.counted(tally['packets'], 'packet')}, "
        f"{formats.counted(tally['connections'], 'TCP connection')}, "
        f"{formats.counted(resent, 'retransmitted segment')}."
    )
    return f"{summary} {capture.fault}." if capture.fault else summary


def _connections(capture: Capture, prefix: str) -> list[Block]:
    """The connections, those that carried most first."""
    rows = document(capture)["connections"]
    carried = sorted(rows, key=lambda row: -row[f"from_{row['sender']}"]["acknowledged_bytes"])
    shown = [line(row) for row in carried[:MOST_ROWS]]
    left = len(rows) - len(shown) + capture.tally["unlisted"]
    note = f"{formats.counted(left, 'more connection')}." if left else ""
    title = "Connections, those that carried most first" if len(rows) > 1 else "The connection"
    files = Files(
        [
            csv(f"{prefix}connections.csv", capture.connections.to_dicts()),
            csv(f"{prefix}streams.csv", capture.streams.to_dicts()),
        ]
    )
    return [table(title, shown, SHOWN, note=note), Text("All columns, full precision:"), files]


def _pictures(capture: Capture, prefix: str) -> list[Block]:
    if not capture.tally["segments"]:
        return []
    if capture.tally["segments"] > MOST_SEGMENTS:
        words = f"A page cannot hold plots of {capture.tally['segments']} segments: "
        return [Text(f"{words}'netspurt plot {capture.path} --begin … --end …' draws a part.")]
    return pictures(Captured(capture), prefix)
