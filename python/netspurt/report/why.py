"""The report of a diagnosis: the budget of each connection, with pictures of those that lost most time.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from netspurt import plot
from netspurt.analysis import formats
from netspurt.analysis.capture import TABLES, Capture, read_capture
from netspurt.diagnosing.diagnosis import Diagnosis, main_direction
from netspurt.diagnosing.remedies_text import WHERE, advice
from netspurt.errors import RequestError
from netspurt.inputs.capture import Captured
from netspurt.inputs.recording import Recording
from netspurt.inputs.run import OneConnection
from netspurt.plot.chart import Chart
from netspurt.plot.palette import limit_colour
from netspurt.plot.runs.limits import chart_of
from netspurt.report.blocks import (
    Block,
    Budget,
    Facts,
    Files,
    Page,
    Section,
    Sentences,
    Share,
    Text,
    Tries,
    Zoomable,
    csv,
    parquet,
    table,
)
from netspurt.report.page import facts

COLUMNS = (
    *("connection", "client", "server", "bytes", "duration_s", "lost_s", "limit", "captured at"),
    "sentence",
)

MOST_ROWS = 200
"""The maximal number of rows of a table; the CSV file has all."""

TRANSFERS = (
    *(
        "transfer",
        "from_s",
        "duration_s",
        "request_bytes",
        "response_bytes",
        "limit",
        "shares",
        "first_packet",
    ),
    "last_packet",
)

MOST_DRAWN = 5
"""Connections with a section and pictures of their own."""

MOST_SEGMENTS = 2_000_000
"""The maximal number of segments for plots: with more, the page would be too large for a browser."""

ROOM = 0.25
"""Shown before and after an interval, as a share of it."""

LEAST_ROOM_S = 0.005

PICTURES: tuple[Callable[[object], Chart], ...] = (plot.time_sequence_chart,)
FURTHER: tuple[Callable[[object], Chart], ...] = (plot.windows_chart, plot.round_trips_chart)
"""Plots above and below the band of limits, in this order."""


@dataclass(frozen=True)
class Subject:
    """A diagnosis to be shown.

    Attributes:
        diagnosis: of a capture or of a simulated run.
        connections: the numbers of the connections to show, in this order.
        run: the simulated run, for its plots; None for a capture, which is read again.
    """

    diagnosis: Diagnosis
    connections: Sequence[int]
    run: Recording | None = None


MADE = "How it was made"
"""The title of the section with the command."""


def page_of(subjects: Sequence[Subject], command: str, name: str = "") -> Page:
    """The page of some diagnoses. One connection comes before the table of connections, several after it.

    Args:
        subjects: what is shown, in this order.
        command: the command line, for the page.
        name: what the diagnosis is of (default: the name of its file).
    """
    sections: list[Section] = []
    for number, subject in enumerate(subjects, 1):
        diagnosis, connections = subject.diagnosis, subject.connections
        prefix = f"{number}-" if len(subjects) > 1 else ""
        of = f" of {diagnosis.path.name}" if prefix else ""
        overview = Section(f"Connections{of}", _connections(diagnosis, connections, prefix))
        details = _details(subject, prefix, of)
        sections += [*details, overview] if len(connections) == 1 else [overview, *details]
    made = [*facts(command), ("files", ", ".join(str(each.diagnosis.path) for each in subjects))]
    sections.append(Section(MADE, [Facts(made)]))
    names = [name or each.diagnosis.path.name for each in subjects]
    title = names[0] if len(names) == 1 else f"{len(names)} files"
    lead = [_lead(each.diagnosis, each.connections, name) for each, name in zip(subjects, names, strict=True)]
    return Page("why", title, lead, sections, _headline(subjects[0]) if len(subjects) == 1 else None)


def _headline(subject: Subject) -> tuple[str, str] | None:
    """How long the worst connection took."""
    if not subject.connections:
        return None
    (row,) = subject.diagnosis.documents(subject.connections[:1])
    main = main_direction(row)
    seconds = main["duration_s"]
    rate = f", {formats.rate(8 * main['bytes'] / seconds)}" if seconds else ""
    return formats.span(seconds), f"for {formats.size(main['bytes'])}{rate}"


def _lead(diagnosis: Diagnosis, connections: Sequence[int], name: str) -> str:
    """The worst connection in one sentence."""
    if diagnosis.fault:
        return f"{diagnosis.fault}."
    if not connections:
        return f"{name}: no TCP connection to show."
    part = "" if diagnosis.within is None else f", {diagnosis.within.words}"
    worst = diagnosis.connections.filter(pl.col("connection") == connections[0]).row(0, named=True)
    return f"{name}{part}, {worst['client']} → {worst['server']}: {worst['sentence']}"


def _connections(diagnosis: Diagnosis, connections: Sequence[int], prefix: str) -> list[Block]:
    """The connections, those that lost most time first."""
    rows = diagnosis.connections.filter(pl.col("connection").is_in(connections))
    if rows.is_empty():
        return [Text("There is no connection to show.")]
    left = rows.height - MOST_ROWS
    shown = rows.head(MOST_ROWS).rename({"vantage": "captured at"}).to_dicts()
    note = (
        "Time is lost while the limit is neither bottleneck (the path is full) nor application (there is nothing to "
        "send)."
    )
    if left > 0:
        note += f" {formats.counted(left, 'more connection')} of the file {'is' if left == 1 else 'are'} not shown."
    files = Files(
        [
            csv(f"{prefix}connections.csv", rows.to_dicts()),
            parquet(f"{prefix}budget.parquet", diagnosis.budget, "budget.parquet"),
            parquet(f"{prefix}intervals.parquet", diagnosis.intervals, "intervals.parquet"),
            parquet(f"{prefix}transfers.parquet", diagnosis.transfers, "transfers.parquet"),
        ]
    )
    title = "Connections, those that lost most time first" if rows.height > 1 else "The connection"
    return [table(title, shown, COLUMNS, note=note), Text("All columns, full precision:"), files]


def _details(subject: Subject, prefix: str, name: str) -> list[Section]:
    """A section for each of the first connections."""
    diagnosis, numbers = subject.diagnosis, subject.connections[:MOST_DRAWN]
    if not numbers:
        return []
    recording_of = _recordings(subject, numbers)
    sections = []
    for row in diagnosis.documents(numbers):
        title = f"Connection {row['connection']}{name}: {row['client']} → {row['server']}"
        recording = recording_of(row["connection"])
        sections.append(Section(title, _detail(row, recording, f"{prefix}c{row['connection']}")))
    return sections


def _recordings(subject: Subject, numbers: Sequence[int]) -> Callable[[int], Recording | None]:
    """The recording of each of these connections; None if there is none for plots."""
    run, flows = subject.run, subject.diagnosis.flows
    if run is not None and flows is not None:
        return lambda number: _of_flow(run, flows[number])
    capture = _capture(subject.diagnosis, numbers)
    return lambda number: None if capture is None else _of_connection(capture, number)


def _of_flow(run: Recording, flow: Mapping[str, Any]) -> Recording:
    return OneConnection(run, flow["flow"], flow["index"], flow["flow_connection"])


def _capture(diagnosis: Diagnosis, numbers: Sequence[int]) -> Capture | None:
    """The packets of these connections; None of standard input, which cannot be read twice, and of too many."""
    if str(diagnosis.path) == "-":
        return None
    with contextlib.suppress(RequestError):
        capture = read_capture(diagnosis.path, TABLES, only=numbers)
        if capture.segments.height <= MOST_SEGMENTS:
            return capture
    return None


def _detail(row: Mapping[str, Any], recording: Recording | None, group: str) -> list[Block]:
    main = main_direction(row)
    bytes_sent = formats.count(main["bytes"])
    about = f"{bytes_sent} bytes from the {main['from']} in {formats.lasting(main['duration_s'])}. {main['sentence']}"
    blocks: list[Block] = [
        Text(about),
        Budget(f"{group}-budget", "Time budget", [_share(line, row) for line in main["budget"]], group),
    ]
    tried = [(f"{each.limit}, {WHERE[each.where]}", each.words, each.commands) for each in advice(main)]
    if tried:
        blocks += [Text("Worth trying:"), Tries(tried)]
    blocks += _transfers(row)
    if recording is None:
        blocks.append(
            Text(
                "There are no pictures of its packets: standard input, or more segments than a page can hold."
            )
        )
        return [*blocks, Zoomable(f"{group}-limits", chart_of(row), group)]
    charts = [*_drawn(PICTURES, recording), chart_of(row), *_drawn(FURTHER, recording)]
    return [*blocks, *(Zoomable(f"{group}-{chart.name}", chart, group) for chart in charts)]


def _transfers(row: Mapping[str, Any]) -> list[Block]:
    """The requests and responses of a persistent connection, in their order, and what was hidden."""
    hidden = [
        f"{each['limit']} held too during {formats.lasting(each['seconds'])} of {each['by']}."
        for each in main_direction(row)["masked"]
    ]
    blocks: list[Block] = [Sentences("Limits that another one hid", hidden)] if hidden else []
    found = row["transfers"]
    if not found:
        return blocks
    rows = [
        {
            **each,
            "shares": ", ".join(f"{line['limit']} {100 * line['share']:.0f} %" for line in each["budget"]),
            **dict(zip(("first_packet", "last_packet"), each["packets"], strict=True)),
        }
        for each in found[:MOST_ROWS]
    ]
    note = "A transfer is a request of the client and what the server sends for it."
    if len(found) > MOST_ROWS:
        note += f" {len(found) - MOST_ROWS} more are in the JSON document of netspurt why --json."
    return [*blocks, table("Transfers", rows, TRANSFERS, note=note, folded=len(rows) > 12)]


def _drawn(makers: Sequence[Callable[[object], Chart]], recording: Recording) -> list[Chart]:
    """The plots for which there is data."""
    charts = []
    for make in makers:
        with contextlib.suppress(RequestError, ValueError):
            charts.append(make(recording))
    return charts


def _of_connection(capture: Capture, number: int) -> Captured:
    """A capture with the rows of one connection only."""
    which = pl.col("connection") == number
    names = ("connections", "streams", *TABLES)
    tables = {name: getattr(capture, name).filter(which) for name in names}
    return Captured(Capture(capture.path, capture.tally, tables))


def _share(line: Mapping[str, Any], row: Mapping[str, Any]) -> Share:
    longest = max(
        (each for each in main_direction(row)["intervals"] if each["limit"] == line["limit"]),
        key=lambda each: each["until_s"] - each["from_s"],
    )
    room = max(ROOM * (longest["until_s"] - longest["from_s"]), LEAST_ROOM_S)
    first, last = line["evidence"].get("packets", (None, None))
    return Share(
        limit=line["limit"],
        seconds=formats.lasting(line["seconds"]),
        share=line["share"],
        colour=limit_colour(line["limit"]),
        sentence=line["sentence"],
        packets="" if first is None else f"Longest from packet {max(first, 1)} to packet {last}",
        begin=row["start_s"] + longest["from_s"] - room,
        end=row["start_s"] + longest["until_s"] + room,
    )
