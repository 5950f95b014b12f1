"""Bars for each pair of hosts and transmission policy, with published marks."""
# 14~requests a second~requests per second

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from netspurt.plot.looks import RC, legend
from netspurt.plot.palette import STYLES


def bars_by_policy(rows: Sequence[tuple[str, str, float, float]], unit: str = "requests a second") -> Figure:
    """Grouped bars, one group for each pair of hosts and one bar for each policy, with published marks.

    Args:
        rows: pair, policy, published and measured number (NaN if not run), in the order of the plot.
        unit: unit of the numbers.
    """
    pairs = list(dict.fromkeys(pair for pair, *_ in rows))
    policies = list(dict.fromkeys(policy for _, policy, *_ in rows))
    with mpl.rc_context(RC):
        figure = Figure(figsize=(6.4, 0.8 + 0.62 * len(pairs)), layout="constrained")
        axes = figure.add_subplot()
    height = 0.8 / len(policies)
    for number, (policy, (colour, _, _)) in enumerate(zip(policies, STYLES, strict=False)):
        own = [
            (pairs.index(pair), published, found) for pair, name, published, found in rows if name == policy
        ]
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
        axes.plot(
            [published for _, published, _ in own], places, "|", color="black", markersize=9, label=label
        )
    axes.set_yticks(range(len(pairs)), pairs)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel=unit)
    legend(figure, axes, len(policies) + 1)
    return figure
