"""Every picture, one function each: from a table to a matplotlib Figure.

Lives here: drawing. Must not live here: running anything, or deciding what a number means.

Pictures must be read in grey as well, so line style and marker tell apart what colour does; they hold a white
ground, so they look alike on a dark page; glyphs are drawn as outlines, so no font is needed to read them.
Nothing here touches ``pyplot`` or global state: figures are made in threads too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netspurt.scenario import Result
    from netspurt.studies.model import Cell

Floats = npt.NDArray[np.float64]

BLUE, ORANGE, GREEN, RED, VIOLET, GREY = "#0b5fa5", "#c45a00", "#1b7837", "#b2182b", "#762a83", "#666666"
"""Chosen to differ in lightness as well as in hue."""

STYLES = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, "-.", "^"), (VIOLET, ":", "D"))

DENSE = 4000
"""From so many points on, a scatter is stored as pixels inside the picture instead of as shapes."""

REASONS = {
    "fast-retransmit": (RED, "^", "resent: third duplicate ACK"),
    "partial-ack": (ORANGE, "v", "resent: partial ACK"),
    "sack-hole": (ORANGE, "D", "resent: SACK hole"),
    "sack-rescue": (ORANGE, "d", "resent: SACK rescue"),
    "rack-loss": (ORANGE, "P", "resent: overtaken in time"),
    "tail-probe": (BLUE, "X", "resent: tail loss probe"),
    "nak-resend": (GREEN, "D", "resent: NAK"),
    "timeout": (RED, "X", "resent: timeout"),
    "go-back-n": (VIOLET, "s", "resent: go back N"),
}
"""Colour, marker and words for each reason to send data again."""

_RC: dict[Any, Any] = {
    # At this size a picture is read on a phone, where it is drawn at two thirds of its width.
    "font.size": 10,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#333333",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "lines.linewidth": 1.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def _figure(width: float = 5.6, height: float = 3.9) -> tuple[Figure, Axes]:
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def _title(axes: Axes, text: str) -> None:
    """Flush left above the axes."""
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold", color="#222222")


def _legend(figure: Figure, axes: Axes, columns: int = 2) -> None:
    """Below the axes, where it hides no data."""
    handles, labels = axes.get_legend_handles_labels()
    _legend_of(figure, handles, labels, columns)


def _legend_of(figure: Figure, handles: Sequence[Any], labels: Sequence[str], columns: int) -> None:
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        fontsize=9,
        markerscale=1.2,
        frameon=False,
        columnspacing=1.4,
        handler_map={tuple: HandlerTuple(ndivide=None)},
    )


def svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element to stand inside a page.

    Args:
        figure: any.
        name: a word unique in the page; it keeps the element's inner references apart from those of others.
    """
    text = io.StringIO()
    with mpl.rc_context({**_RC, "svg.hashsalt": name}):
        # 150 dots an inch concern only what is stored as pixels.
        figure.savefig(text, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    whole = text.getvalue()
    whole = re.sub(r"<metadata>.*?</metadata>", "", whole, flags=re.DOTALL)
    whole = whole[whole.index("<svg") :]
    whole = re.sub(r'\bid="', f'id="{name}-', whole)
    whole = whole.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    whole = re.sub(r"\s*\n\s*", "\n", whole)
    return _shorten_numbers(whole).strip()


def _shorten_numbers(text: str) -> str:
    """Coordinates to a hundredth of a point: nobody sees more, and half of the file is digits.

    Only those of paths and places: the scale of a glyph is a small number that has to stay as it is.
    """
    return re.sub(
        r' (d|x|y)="[^"]*"',
        lambda attribute: re.sub(r"(\d\.\d{2})\d+", r"\1", attribute.group()),
        text,
    )


def rate_against_window(columns: Mapping[str, Sequence[Cell]], told: str) -> Figure:
    """Transfer rate against window for one error rate, with the published points (RFC 1106, section 7).

    Args:
        columns: the cells of each figure, by its title; rows named ``window`` as in ``"64K"``, KiB/s.
        told: the error rate in words.
    """
    figure, axes = _figure()
    null: dict[int, float] = {}
    handles: list[Any] = []
    for (_, cells), (colour, line, marker) in zip(columns.items(), STYLES, strict=False):
        done = [(int(str(cell.row["window"])[:-1]), cell) for cell in cells if cell.measured is not None]
        windows = [window for window, _ in done]
        (simulated,) = axes.plot(windows, [cell.measured or 0.0 for _, cell in done], line, color=colour)
        bands = [(window, cell.band) for window, cell in done if cell.band is not None]
        if bands:
            axes.fill_between(
                [window for window, _ in bands],
                [band[0] for _, band in bands],
                [band[1] for _, band in bands],
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
        (published,) = axes.plot(
            [int(str(cell.row["window"])[:-1]) for cell in cells],
            [np.nan if cell.published is None else cell.published for cell in cells],
            marker,
            color=colour,
            markerfacecolor="white",
            markeredgewidth=1.4,
            linestyle="none",
        )
        handles.append((simulated, published))
        null.update({window: cell.null_model for window, cell in done if cell.null_model is not None})
    handles += axes.plot(list(null), list(null.values()), ":", color=GREY, linewidth=1.2)
    axes.set(xlabel="window (KiB)", ylabel="transfer rate (KiB/s)")
    _title(axes, f"Transfer rate {told}")
    axes.set_ylim(bottom=0)
    names = [f"{title}: simulated, published" for title in (title.replace(":", ",") for title in columns)]
    _legend_of(figure, handles, [*names, "null model"], 1)
    return figure


def cwnd_growth(curves: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Congestion windows in time (terabit paper, figure 1).

    Args:
        curves: for each name, times in seconds and windows in segments, each shape (n,).
    """
    figure, axes = _figure()
    for (name, (time_s, segments)), (colour, line, _) in zip(curves.items(), STYLES, strict=False):
        axes.step(time_s * 1e6, segments, line, where="post", color=colour, label=name)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g}")
    axes.set(
        xlabel="time since the client's SYN (µs)",
        ylabel="congestion window (segments)",
    )
    _title(axes, "Congestion window at 1 Tbit/s")
    _legend(figure, axes, 1)
    return figure


def goodput_against_error_rate(
    curves: Mapping[str, Sequence[tuple[float, float, float, float]]], lossless: Mapping[str, float]
) -> Figure:
    """Goodput against packet error rate (terabit paper, figure 2).

    Args:
        curves: for each line rate, points of (packet error rate, mean, low, high), in Gbit/s.
        lossless: goodput without loss for each line rate, Gbit/s.
    """
    figure, axes = _figure()
    for (name, points), (colour, line, marker) in zip(curves.items(), STYLES, strict=False):
        rates, means, lows, highs = (np.array(column) for column in zip(*points, strict=True))
        spread = [np.maximum(means - lows, 0.0), np.maximum(highs - means, 0.0)]
        axes.errorbar(
            rates, means, yerr=spread, fmt=marker + line, color=colour, markersize=5, capsize=3, label=name
        )
        axes.axhline(lossless[name], linestyle=":", linewidth=1, color=colour)
    axes.set_xscale("log")
    axes.set(xlabel="packet error rate", ylabel="goodput (Gbit/s)")
    _title(axes, "Goodput of 8 MB files, with scaling")
    axes.set_ylim(bottom=0)
    _legend(figure, axes)
    return figure


def against_window(
    panels: Mapping[str, Mapping[str, Sequence[float | None]]],
    windows: Sequence[int],
    quantity: str,
    marks: Mapping[str, Mapping[str, Sequence[float | None]]],
) -> Figure:
    """A quantity against the initial window, a panel for each load and a line for each of its variants (RFC 2415).

    Args:
        panels: for each panel and line, the values, shape (windows,), None where nothing was run.
        windows: initial windows in segments.
        quantity: what the vertical axis shows, with its unit.
        marks: published values of the same shape, for the lines that have some.
    """
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(7.6, 3.7), layout="constrained")
        all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (panel, lines) in zip(all_axes, panels.items(), strict=True):
        for (name, values), (colour, line, marker) in zip(lines.items(), STYLES, strict=False):
            known = [(w, value) for w, value in zip(windows, values, strict=True) if value is not None]
            if known:
                axes.plot(*zip(*known, strict=True), line, color=colour, label=name)
            published = marks.get(panel, {}).get(name)
            if published:
                axes.plot(windows, published, marker, color=colour, markersize=5, mfc="white", mew=1.3)
        axes.set(xlabel="initial window (segments)", xticks=list(windows))
        _title(axes, panel)
    all_axes[0].set_ylabel(quantity)
    handles, labels = all_axes[0].get_legend_handles_labels()
    _legend_of(figure, handles, labels, len(STYLES))
    return figure


def bars_by_policy(rows: Sequence[tuple[str, str, float, float]], unit: str = "requests a second") -> Figure:
    """Bars in groups, one for each pair of hosts and one bar in it for each policy, with published marks.

    Args:
        rows: pair, policy, published and measured number (NaN where not run), in the order of the picture.
        unit: of the numbers.
    """
    pairs = list(dict.fromkeys(pair for pair, *_ in rows))
    policies = list(dict.fromkeys(policy for _, policy, *_ in rows))
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(6.4, 0.8 + 0.62 * len(pairs)), layout="constrained")
        axes = figure.add_subplot()
    height = 0.8 / len(policies)
    for number, (policy, (colour, _, _)) in enumerate(zip(policies, STYLES, strict=False)):
        own = [(pairs.index(pair), told, found) for pair, name, told, found in rows if name == policy]
        places = [at + (number - (len(policies) - 1) / 2) * height for at, _, _ in own]
        hatch = ("", "///", "...", "xxx")[number]
        axes.barh(
            places,
            [found for *_, found in own],
            0.9 * height,
            color=colour,
            alpha=0.75,
            hatch=hatch,
            edgecolor="white",
            label=policy,
        )
        label = "published" if number == 0 else None
        axes.plot([told for _, told, _ in own], places, "|", color="black", markersize=9, label=label)
    axes.set_yticks(range(len(pairs)), pairs)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel=unit)
    _legend(figure, axes, len(policies) + 1)
    return figure


def time_sequence(
    result: Result, flow: str | None = None, begin_s: float = 0.0, end_s: float | None = None
) -> Figure:
    """The time–sequence graph of one flow: segments, retransmissions by reason, ACK line, window line, NAKs.

    Args:
        result: of any run. If it did not record ``"segments"`` it is repeated to do so: the same seed gives the same.
        flow: which; by default the first that sent anything.
        begin_s: first second of virtual time to show.
        end_s: last one; by default the end.

    Raises:
        ValueError: no segment of this flow was sent.
    """
    recorded = result.native.segments()
    if len(recorded["time_s"]) == 0:
        recorded = result.scenario.run(result.seed, record=["segments"]).native.segments()
    columns = {name: np.asarray(column) for name, column in recorded.items() if name != "sack"}
    if columns["time_s"].size == 0:
        raise ValueError("no segment was sent in this run")
    seen = (columns["time_s"] >= begin_s) & (columns["time_s"] <= (np.inf if end_s is None else end_s))
    chosen = columns["flow"] == (columns["flow"][0] if flow is None else flow)
    if not chosen.any():
        raise ValueError(f"no segment of a flow '{flow}' was sent")
    return time_sequence_of({name: column[seen & chosen] for name, column in columns.items()})


def time_sequence_of(segments: Mapping[str, npt.NDArray[Any]], title: str = "Time–sequence graph") -> Figure:
    """The time–sequence graph of the columns of one flow, each shape (n,); see ``Result.segments``.

    The direction that carries more bytes is drawn; the other one gives the ACK line, the window line and NAKs.
    """
    figure, axes = _figure(5.6, 4.6)
    _draw_sequence(axes, segments)
    _title(axes, title)
    _legend(figure, axes)
    return figure


def time_sequences(flows: Mapping[str, Mapping[str, npt.NDArray[Any]]]) -> Figure:
    """Time–sequence graphs side by side with axes in common: the same transfer under different rules.

    Args:
        flows: for each title the columns of one flow, as for ``time_sequence_of``.
    """
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(4.8 * len(flows), 4.2), layout="constrained")
        panels = figure.subplots(1, len(flows), sharex=True, sharey=True, squeeze=False)[0]
        named: dict[str, Any] = {}
        for axes, (title, segments) in zip(panels, flows.items(), strict=True):
            _draw_sequence(axes, segments)
            _title(axes, title)
            handles, labels = axes.get_legend_handles_labels()
            # A count would tell the panels' entries apart that mean the same.
            named.update(
                (label.split(" (")[0], handle) for handle, label in zip(handles, labels, strict=True)
            )
        for axes in panels[1:]:
            axes.set(ylabel="")
        _legend_of(figure, list(named.values()), list(named), 3)
    return figure


def _draw_sequence(axes: Axes, segments: Mapping[str, npt.NDArray[Any]]) -> None:
    from_client = segments["from_client"].astype(bool)
    length = segments["length"].astype(np.int64)
    sender = from_client == bool(length[from_client].sum() >= length[~from_client].sum())
    _draw_data(axes, {name: column[sender & (length > 0)] for name, column in segments.items()})
    _draw_acks(axes, {name: column[~sender] for name, column in segments.items()})
    axes.set(xlabel="time (s)", ylabel="place in the stream (KiB)")
    axes.set_ylim(bottom=0)


def _draw_data(axes: Axes, data: Mapping[str, npt.NDArray[Any]]) -> None:
    reason = data["reason"].astype(str)
    place = data["seq"] / 1024
    new = ~np.isin(reason, list(REASONS))
    # One broken line instead of a shape for each segment: a tenth of the file, and true to the segments' length.
    time_s = np.repeat(data["time_s"][new], 3)
    strokes = np.stack([place[new], place[new] + data["length"][new] / 1024, np.full(new.sum(), np.nan)])
    axes.plot(
        time_s,
        strokes.T.ravel(),
        "-",
        color=BLUE,
        linewidth=1.4,
        label="new data",
        rasterized=bool(new.sum() > DENSE),
    )
    for name, (colour, marker, words) in REASONS.items():
        these = reason == name
        if these.any():
            axes.plot(
                data["time_s"][these],
                place[these],
                marker,
                color=colour,
                markersize=5.5,
                markeredgecolor="white",
                markeredgewidth=0.5,
                label=f"{words} ({int(these.sum())})",
                rasterized=bool(these.sum() > DENSE),
                zorder=3,
            )


def _draw_acks(axes: Axes, acks: Mapping[str, npt.NDArray[Any]]) -> None:
    known = acks["ack"] >= 0
    time_s, ack, window = acks["time_s"][known], acks["ack"][known], acks["window"][known]
    if time_s.size == 0:
        return
    turns = _corners(ack)
    axes.step(
        time_s[turns], ack[turns] / 1024, where="post", color="black", linewidth=1, label="acknowledged"
    )
    edge = ack + window
    turns = _corners(edge)
    axes.step(
        time_s[turns],
        edge[turns] / 1024,
        "--",
        where="post",
        color="#999999",
        linewidth=1,
        label="window's edge",
    )
    nak = acks["nak"][known] if "nak" in acks else np.full(time_s.shape, -1)
    asked = nak >= 0
    if asked.any():
        axes.plot(
            time_s[asked],
            nak[asked] / 1024,
            "x",
            color=RED,
            markersize=6,
            label=f"NAK sent ({int(asked.sum())})",
            zorder=4,
        )


def _corners(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Marks where a staircase changes, and its ends: between them it needs no points."""
    changed = np.ones(values.shape, dtype=bool)
    changed[1:-1] = np.diff(values)[:-1] != 0
    return changed
