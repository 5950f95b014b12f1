"""The report of a run, or of one scenario with several seeds.

Lives here: the content of its page. Must not live here: the style of a page.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import plot
from netspurt.analysis import formats
from netspurt.errors import RequestError
from netspurt.inputs.recording import RECORDS, Recording, choose
from netspurt.inputs.run import Simulated
from netspurt.plot.chart import Axis, Chart
from netspurt.plot.palette import MANY
from netspurt.report.blocks import (
    Block,
    Code,
    Facts,
    File,
    Files,
    Page,
    Section,
    Table,
    Text,
    Zoomable,
    csv,
    table,
)
from netspurt.report.page import facts

if TYPE_CHECKING:
    from netspurt.scenario import Result, Scenario

Document = Mapping[str, Any]

FLOWS = (
    *("flow", "index", "from", "to", "bytes_delivered", "start_s", "end_s", "goodput_bps"),
    *("segments_sent", "retransmitted", "timeouts", "rtt_mean_s", "completed"),
)
GROUPS = (
    *("flow", "flows", "pages", "page_delay_median_s", "page_delay_p95_s", "transfers"),
    *("transfer_time_median_s", "connections", "bytes_delivered", "goodput_bps"),
)
ARRIVALS = (
    *("flow", "flows", "arrivals", "transfers", "page_delay_median_s", "slowdown_mean", "slowdown_p99"),
    *("small_time_median_s", "small_time_p99_s", "small_slowdown_p99"),
    *("large_time_median_s", "large_time_p99_s", "large_slowdown_p99"),
)
VIDEOS = (
    *("flow", "flows", "video_segments", "video_rate_bps", "quality_switches", "video_start_s"),
    *("stalls", "stalled_s", "stalled_share"),
)
DATAGRAMS = (
    *("flow", "flows", "datagrams_sent", "datagrams_lost", "datagram_loss", "goodput_bps"),
    *("delay_median_s", "delay_p95_s", "delay_p99_s", "jitter_s", "mouth_to_ear_s", "r_factor", "mos"),
)
CHANGES = ("time_s", "path", "value")

LINKS = (
    "link",
    "direction",
    "packets",
    "bytes",
    "drops",
    "utilisation",
    "queue_mean_packets",
    "queue_max_packets",
)

MOST_ROWS = 200
"""The maximal number of rows of a table; the CSV file has all."""

OF_STREAM = (plot.windows_chart, plot.time_sequence_chart, plot.round_trips_chart)
"""Plots of one stream, the same for all."""

OF_ALL = (plot.throughput_chart, plot.queues_chart)
"""Plots of all streams; they share the time axis of the plots of one stream and zoom with them."""


def page_of(
    scenario: Scenario,
    results: Sequence[Result],
    command: str,
    settings: Mapping[str, str],
    *,
    streams: bool = True,
) -> Page:
    """The page of runs of one scenario.

    Args:
        scenario: the scenario of the runs.
        results: one for each seed, at least one; plots show the first.
        command: the command line, for the page.
        settings: overrides of the command line.
        streams: whether the page has the plots of one stream; another page may show them already.
    """
    documents = [json.loads(result.json()) for result in results]
    made = [
        *facts(command),
        ("scenario", scenario.name + "".join(f", {path} = {value}" for path, value in settings.items())),
        ("seed" if len(results) == 1 else "seeds", ", ".join(str(result.seed) for result in results)),
        ("digest", ", ".join(result.digest for result in results[:4]) + (" …" if len(results) > 4 else "")),
    ]
    sections = [Section("Results", _tables(documents))]
    if len(results) > 1:
        sections.insert(0, Section("Over all seeds", _over_seeds(documents)))
    which = "Plots" if len(results) == 1 else f"Plots of seed {results[0].seed}"
    sections.append(Section(which, pictures(Simulated.of(results[0]), streams=streams)))
    sections.append(Section("How it was made", [Facts(made), *_source(scenario)]))
    several = "" if len(results) == 1 else f", {len(results)} seeds"
    name = Path(scenario.name).name + several
    return Page("run", name, [_lead(documents)], sections, _headline(documents[0]["flows"]))


def _headline(flows: Sequence[Document]) -> tuple[str, str]:
    """The time of a single transfer, or the goodput of all flows."""
    moved, rate = (sum(flow[name] for flow in flows) for name in ("bytes_delivered", "goodput_bps"))
    (flow, *others) = flows
    if others or flow["end_s"] is None:
        return formats.rate(rate), f"goodput of {len(flows)} flows" if others else "goodput"
    words = f"for {formats.size(moved)}, {formats.rate(rate)}"
    return formats.span(flow["end_s"] - flow["start_s"]), words


def _lead(documents: Sequence[Document]) -> str:
    """The outcome in one sentence."""
    flows = documents[0]["flows"]
    moved = sum(flow["bytes_delivered"] for flow in flows) / 1e6
    resent = sum(flow["retransmitted"] for flow in flows)
    timeouts = sum(flow["timeouts"] for flow in flows)
    who = f"Flow {flows[0]['flow']}" if len(flows) == 1 else formats.counted(len(flows), "flow")
    sentence = f"{who} delivered {moved:.4g} MB"
    if len(flows) == 1:
        sentence += f" at {flows[0]['goodput_bps'] / 1e6:.4g} Mbit/s"
    lost = sum(sum(link["drops"].values()) for link in documents[0]["links"])
    counted = ((lost, "lost packet"), (resent, "retransmitted segment"), (timeouts, "timeout"))
    sentence += f"; {', '.join(formats.counted(count, name) for count, name in counted)}"
    return sentence + (" (of the first seed)." if len(documents) > 1 else ".")


def _tables(documents: Sequence[Document]) -> list[Block]:
    several = len(documents) > 1
    blocks: list[Block] = []
    files: list[File] = []
    for name, title, columns, needs in (
        ("flows", "Flows", FLOWS, "flow"),
        ("groups", "Groups", GROUPS, "pages"),
        ("groups", "Transfers that arrive", ARRIVALS, "arrivals"),
        ("groups", "Videos", VIDEOS, "video_segments"),
        ("groups", "Datagrams", DATAGRAMS, "datagrams_sent"),
        ("links", "Links", LINKS, "link"),
        ("changes", "Changes", CHANGES, "path"),
    ):
        # The scenario says what changes, and no seed.
        sources = documents[:1] if name == "changes" else documents
        rows = [{"seed": whole["seed"], **row} for whole in sources for row in whole.get(name, [])]
        if rows and title in ("Flows", "Groups", "Links"):
            files.append(csv(f"{name}.csv", rows))
        rows = [row for row in rows if needs in row]
        if not rows:
            continue
        numbered = any(row.get("index") for row in rows)
        shown = [column for column in columns if numbered or column != "index"]
        blocks.append(_shortened(title, rows, ["seed", *shown] if several else shown))
    return [*blocks, Text("All columns, full precision:"), Files(files)]


def _shortened(title: str, rows: Sequence[Document], columns: Sequence[str]) -> Table:
    left = len(rows) - MOST_ROWS
    note = f"{left} more rows in the CSV file." if left > 0 else ""
    return table(title, rows[:MOST_ROWS], columns, note=note, folded=len(rows) > 12)


def _over_seeds(documents: Sequence[Document]) -> list[Block]:
    from netspurt.analysis.over_seeds import over_seeds

    rows = [
        {**row, "low": (row["interval"] or (None,))[0], "high": (row["interval"] or (None,))[-1]}
        for row in over_seeds(documents)
    ]
    rates: dict[str, list[float]] = {}
    for whole in documents:
        for flow in whole["flows"]:
            rates.setdefault(flow["flow"], []).append(flow["goodput_bps"] / 1e6)
    columns = ("flow", "index", "quantity", "mean", "low", "high", "runs")
    blocks: list[Block] = [
        table("Means and their 95 % intervals", rows, columns, folded=len(rows) > 12),
        Files([csv("summary.csv", [{name: row[name] for name in columns} for row in rows])]),
    ]
    if len(rates) <= len(MANY):
        chart = plot.distribution_chart(
            rates, Axis("goodput (Mbit/s)", "goodput_mbps"), "Goodput over all seeds"
        )
        blocks.insert(0, Zoomable("goodput", chart))
    return blocks


def pictures(source: Recording, prefix: str = "", *, streams: bool = True) -> list[Block]:
    """The plots of one run for which it has data; with ``streams`` also those of the stream that sent most."""
    source.prepare(RECORDS)
    segments = source.segments()
    stream = choose(segments, None, "length")["stream"][0] if segments.height else None
    makers: list[Callable[[], Chart]] = [
        *(partial(make, source, stream) for make in (OF_STREAM if streams else ())),
        *(partial(make, source) for make in OF_ALL),
    ]
    blocks: list[Block] = []
    for make in makers:
        # A plot without data (no segments, no queue, no samples) is omitted.
        with contextlib.suppress(RequestError, ValueError):
            chart = make()
            blocks.append(Zoomable(f"{prefix}{chart.name}", chart, f"{prefix}time"))
    with contextlib.suppress(RequestError, ValueError):
        blocks.append(Zoomable(f"{prefix}distribution", plot.round_trip_distribution_chart(source)))
    return blocks


def _source(scenario: Scenario) -> list[Block]:
    merged = scenario.merged()
    return [
        Code("The complete scenario with all defaults", merged),
        Files([File("scenario.toml", "scenario.toml", "application/toml", merged.encode())]),
    ]
