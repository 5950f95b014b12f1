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
    "nak-resend": (GREEN, "D", "resent: NAK"),
    "timeout": (RED, "X", "resent: timeout"),
    "go-back-n": (VIOLET, "s", "resent: go back N"),
}
"""Colour, marker and words for each reason to send data again."""

_RC: dict[Any, Any] = {
    "font.size": 9,
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


def _figure(width: float = 7.0, height: float = 4.0) -> tuple[Figure, Axes]:
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def _legend(figure: Figure) -> None:
    """Below the axes, where it hides no data."""
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, markerscale=1.4, frameon=False)


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
    for (title, cells), (colour, line, marker) in zip(columns.items(), STYLES, strict=False):
        done = [(int(str(cell.row["window"])[:-1]), cell) for cell in cells if cell.measured is not None]
        windows = [window for window, _ in done]
        axes.plot(
            windows,
            [cell.measured or 0.0 for _, cell in done],
            line,
            color=colour,
            label=f"{title}, simulated",
        )
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
        axes.plot(
            [int(str(cell.row["window"])[:-1]) for cell in cells],
            [np.nan if cell.published is None else cell.published for cell in cells],
            marker,
            color=colour,
            markerfacecolor="white",
            markeredgewidth=1.4,
            linestyle="none",
            label=f"{title}, published",
        )
        null.update({window: cell.null_model for window, cell in done if cell.null_model is not None})
    axes.plot(list(null), list(null.values()), ":", color=GREY, label="null model")
    axes.set(xlabel="window (KiB)", ylabel="transfer rate (KiB/s)", title=f"Transfer rate {told}")
    axes.set_ylim(bottom=0)
    _legend(figure)
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
        title="Growth of the congestion window at 1 Tbit/s",
    )
    _legend(figure)
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
    axes.set(
        xlabel="packet error rate", ylabel="goodput (Gbit/s)", title="Goodput of 8 MB files, with scaling"
    )
    axes.set_ylim(bottom=0)
    _legend(figure)
    return figure


def time_sequence(
    result: Result, flow: str | None = None, begin_s: float = 0.0, end_s: float | None = None
) -> Figure:
    """The time–sequence graph of one flow: segments, retransmissions by reason, ACK line, window line, NAKs.

    Args:
        result: of a run that recorded ``"segments"``.
        flow: which; by default the first that sent anything.
        begin_s: first second of virtual time to show.
        end_s: last one; by default the end.

    Raises:
        ValueError: no segments were recorded, or none of this flow.
    """
    columns = {
        name: np.asarray(column) for name, column in result.native.segments().items() if name != "sack"
    }
    if columns["time_s"].size == 0:
        raise ValueError('no segments were recorded: run the scenario with record=["segments"]')
    seen = (columns["time_s"] >= begin_s) & (columns["time_s"] <= (np.inf if end_s is None else end_s))
    chosen = columns["flow"] == (columns["flow"][0] if flow is None else flow)
    if not chosen.any():
        raise ValueError(f"no segment of a flow '{flow}' was recorded")
    return time_sequence_of({name: column[seen & chosen] for name, column in columns.items()})


def time_sequence_of(segments: Mapping[str, npt.NDArray[Any]]) -> Figure:
    """The time–sequence graph of the columns of one flow, each shape (n,); see ``Result.segments``.

    The direction that carries more bytes is drawn; the other one gives the ACK line, the window line and NAKs.
    """
    figure, axes = _figure(7.0, 5.0)
    from_client = segments["from_client"].astype(bool)
    length = segments["length"].astype(np.int64)
    sender = from_client == bool(length[from_client].sum() >= length[~from_client].sum())
    _draw_data(axes, {name: column[sender & (length > 0)] for name, column in segments.items()})
    _draw_acks(axes, {name: column[~sender] for name, column in segments.items()})
    axes.set(xlabel="time (s)", ylabel="place in the stream (KiB)", title="Time–sequence graph")
    _legend(figure)
    return figure


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
        linewidth=1,
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
                markersize=4,
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
        time_s[turns], edge[turns] / 1024, "--", where="post", color=GREY, linewidth=1, label="window's edge"
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
