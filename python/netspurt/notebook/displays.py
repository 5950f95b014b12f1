"""Notebook displays of a scenario and of a result: self-contained HTML.

Lives here: a drawing of the network from merged TOML, and short tables with a picture. Must not
live here: plots of events (``plot``), or simulation.
"""

from __future__ import annotations

import base64
import io
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats

if TYPE_CHECKING:
    import polars as pl

    from netspurt.analysis.capture import Capture
    from netspurt.comparing import Comparison
    from netspurt.scenario import Result, Scenario
    from netspurt.sweeping.outcome import Sweep
    from netspurt.underload import UnderLoad

ROWS = 12
"""The number of rows shown of a table; a note counts the others."""

FLOWS = (
    *("flow", "index", "from", "to", "bytes_delivered", "end_s", "goodput_bps", "retransmitted", "timeouts"),
    "completed",
)
CHANGES = ("name", "quantity", "a", "b", "change", "verdict")
STREAMS = (
    *("connection", "client", "server", "from", "bytes", "goodput_bps", "rtt_min_s", "rtt_median_s"),
    *("retransmitted", "reordered"),
)
UNITS = ("_bps", "_s", "_share")
"""Endings of the names of columns that are shown with their unit."""

LINKS = ("link", "direction", "packets", "bytes", "utilisation", "queue_mean_packets")

_STEP, _RISE, _EDGE = 190, 70, 60
"""Pixels between columns of nodes, between rows, and around the drawing."""


def of_scenario(scenario: Scenario) -> str:
    """The network as a drawing, and the flows over it."""
    tree = tomllib.loads(scenario.merged())
    flows = "".join(f"<li>{escape(_flow(flow))}</li>" for flow in tree.get("flow", []))
    text = escape(scenario.merged())
    return (
        f"<div><strong>{escape(scenario.name)}</strong>, {escape(str(tree.get('duration', '')))}"
        f"{network(scenario)}<ul>{flows}</ul><details><summary>the whole scenario</summary><pre>{text}</pre></details>"
        "</div>"
    )


def network(scenario: Scenario) -> str:
    """Nodes and links as an SVG element; a hub is a small node between its stations."""
    tree = tomllib.loads(scenario.merged())
    lines = [
        (*link["between"], f"{name}: {_link(link)}") for name, link in sorted(tree.get("link", {}).items())
    ]
    for name, hub in tree.get("hub", {}).items():
        lines += [(station, name, "") for station in hub["stations"]]
    places = _places([(a, b) for a, b, _ in lines])
    width = max((x for x, _ in places.values()), default=0) + 2 * _EDGE
    height = max((y for _, y in places.values()), default=0) + 2 * _EDGE
    drawn = [_line(places[a], places[b], words) for a, b, words in lines]
    drawn += [_node(name, place) for name, place in places.items()]
    label = escape(f"the network of {scenario.name}: {', '.join(places)}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="{-_EDGE} {-_EDGE} {width} {height}" font-family="sans-serif" font-size="11" '
        f'style="max-width:100%">{"".join(drawn)}</svg>'
    )


def of_result(result: Result) -> str:
    """Flows and links as short tables, and the time–sequence graph of the first flow if segments were recorded."""
    parts = [
        f"<strong>{escape(result.scenario.name)}</strong>, seed {result.seed}, digest {escape(result.digest)}",
        short_table(result.flows, FLOWS),
        short_table(result.links, LINKS),
    ]
    if "segments" in result.recorded and result.segments.height:
        from netspurt import plot

        flow = str(result.segments["flow"][0])
        words = f"time–sequence graph of {flow}"
        parts.append(picture(plot.time_sequence(result, flow), words))
    return f"<div>{''.join(parts)}</div>"


def of_comparison(comparison: Comparison) -> str:
    """The differences as a short table, and the first divergence."""
    import polars as pl

    sides = "".join(
        f"<div><strong>{letter}</strong>: {escape(name)}</div>"
        for letter, name in zip("AB", comparison.names, strict=True)
    )
    unlike = [row for row in comparison.rows if row.get("verdict") != "same"]
    rows = [
        row | {"change": None if row.get("relative") is None else formats.percent(row["relative"])}
        for row in unlike
    ]
    table = ""
    if rows:
        frame = pl.DataFrame(rows, infer_schema_length=None)
        table = short_table(frame, CHANGES, lambda name, row: row["quantity"] if name in ("a", "b") else name)
    judged = {row.get("sentence") for row in comparison.rows}
    sentences = "".join(f"<p>{escape(each)}</p>" for each in comparison.sentences if each not in judged)
    return f"<div>{sides}{table}{sentences}</div>"


def of_sweep(sweep: Sweep) -> str:
    """The number of completed runs, and the goodput over seeds of each point."""
    failed, missing = sweep.failed.height, sweep.missing
    ends = [f"{count} {what}" for count, what in ((failed, "failed"), (missing, "missing")) if count]
    counted = ", ".join(
        [
            formats.counted(sweep.tasks["point"].n_unique(), "point"),
            formats.counted(sweep.tasks.height, "task"),
            *ends,
        ]
    )
    means = sweep.summary()
    title = f"<strong>{escape(str(sweep.about['scenario']))}</strong>, {counted}"
    rows = short_table(
        means, means.columns, lambda name, _: "goodput_bps" if name in ("mean", "low", "high") else name
    )
    return f"<div>{title}<p>goodput, mean over seeds</p>{rows}</div>"


def of_capture(capture: Capture) -> str:
    """The direction with more bytes of each connection, the largest first."""
    largest = capture.streams.sort("bytes", descending=True).unique(
        "connection", keep="first", maintain_order=True
    )
    rows = largest.join(capture.connections.select("connection", "client", "server"), on="connection")
    counts = [formats.counted(capture.tally[f"{name}s"], name) for name in ("packet", "connection")]
    fault = f"<p>{escape(capture.fault)}</p>" if capture.fault else ""
    return (
        f"<div><strong>{escape(str(capture.path))}</strong>: {', '.join(counts)}{fault}"
        f"{short_table(rows, STREAMS)}</div>"
    )


def of_under_load(found: UnderLoad) -> str:
    """The goodput of both directions, and the round trips without and with the load."""
    import polars as pl

    rates = f"download {formats.rate(found.download_bps)}, upload {formats.rate(found.upload_bps)}"
    rows = [
        {"round trip": name, **asdict(each), "per_minute": each.per_minute}
        for name, each in (("idle", found.idle), ("under load", found.loaded))
    ]
    title = f"<strong>{escape(found.result.scenario.name)}</strong>: {rates}"
    return f"<div>{title}{short_table(pl.DataFrame(rows), rows[0])}</div>"


def _flow(flow: Mapping[str, Any]) -> str:
    app = flow["app"]
    kind = app if isinstance(app, str) else app.get("kind", "")
    more = [f"{key} {value}" for key, value in app.items() if key != "kind"] if isinstance(app, dict) else []
    count = f", {flow['count']} times" if flow.get("count", 1) != 1 else ""
    return f"{flow['from']} → {flow['to']}: {' '.join([kind, *more[:3]])}{count}"


def _link(link: Mapping[str, Any]) -> str:
    values = (link[key] for key in ("rate", "delay") if key in link)
    return ", ".join(" / ".join(value) if isinstance(value, list) else str(value) for value in values)


def _places(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Column and row of each node: its distance from the first node of its component, and the order of discovery."""
    near: dict[str, list[str]] = {}
    for a, b in pairs:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    distance: dict[str, int] = {}
    for first in near:
        reached = [] if first in distance else [first]
        distance.setdefault(first, 0)
        while reached:
            here = reached.pop(0)
            for there in near[here]:
                if there not in distance:
                    distance[there] = distance[here] + 1
                    reached.append(there)
    places: dict[str, tuple[int, int]] = {}
    for column, names in groupby(sorted(distance, key=distance.__getitem__), key=distance.__getitem__):
        places |= {name: (column * _STEP, row * _RISE) for row, name in enumerate(names)}
    return places


def _line(a: tuple[int, int], b: tuple[int, int], words: str) -> str:
    x, y = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
    return (
        f'<line x1="{a[0]}" y1="{a[1]}" x2="{b[0]}" y2="{b[1]}" stroke="#808080" stroke-width="1.5"/>'
        f'<text x="{x:g}" y="{y - 14:g}" text-anchor="middle" fill="#808080" '
        f'textLength="{min(6 * len(words), _STEP - 30)}" lengthAdjust="spacingAndGlyphs">{escape(words)}</text>'
    )


def _node(name: str, place: tuple[int, int]) -> str:
    return (
        f'<circle cx="{place[0]}" cy="{place[1]}" r="9" fill="#2f6db3"/>'
        f'<text x="{place[0]}" y="{place[1] + 24}" text-anchor="middle" fill="currentColor">{escape(name)}</text>'
    )


def short_table(
    table: pl.DataFrame,
    wanted: Iterable[str],
    quantity: Callable[[str, Mapping[str, Any]], str] = lambda name, _: name,
) -> str:
    """The wanted columns of the first rows as HTML.

    Args:
        table: the rows.
        wanted: names of columns, in this order.
        quantity: the quantity in a column of a row, whose name ends in the unit; by default the column.
    """
    columns = [name for name in wanted if name in table.columns]
    styles = [
        f'style="text-align:{"right" if table[name].dtype.is_numeric() else "left"};padding:.2em .7em"'
        for name in columns
    ]
    head = "".join(f"<th {style}>{escape(name)}</th>" for name, style in zip(columns, styles, strict=True))
    rows = [
        "<tr>"
        + "".join(
            f"<td {style}>{escape(_cell(quantity(name, row), row[name]))}</td>"
            for name, style in zip(columns, styles, strict=True)
        )
        + "</tr>"
        for row in table.head(ROWS).iter_rows(named=True)
    ]
    more = f"<p>and {table.height - ROWS} more</p>" if table.height > ROWS else ""
    return (
        '<div style="overflow-x:auto"><table style="font-size:.85em">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{more}"
    )


def _cell(quantity: str, value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and (quantity.endswith(UNITS) or quantity == "utilisation" or quantity.startswith("bytes")):
        return formats.quantity(quantity, value)  # type: ignore[arg-type]  # checked above
    return formats.arrows(formats.text(value, 4))


def picture(figure: Any, words: str) -> str:
    """A figure as an embedded PNG: an SVG of a long run would be many megabytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=144, bbox_inches="tight")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return (
        f'<img alt="{escape(words, quote=True)}" style="max-width:100%" src="data:image/png;base64,{data}">'
    )
