"""The distribution of a sweep's quantity over all its runs, for each value of a varied path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from netspurt.plot.chart import Axis, Chart
from netspurt.plot.runs.distribution import distribution_chart
from netspurt.plot.swept import in_units, samples_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spread(
    what: object,
    quantity: str = "goodput_bps",
    by: str | None = None,
    where: Mapping[str, object] | None = None,
) -> Figure:
    """Cumulative distributions of a quantity over seeds and flows, one for each value of a varied path.

    Args:
        what: a sweep, or the path of its folder.
        quantity: a column of its flows or links.
        by: the path; by default the one with the fewest values, at least two.
        where: required values of some of the other paths.

    Raises:
        RequestError: no such data, or too many values for one plot.
    """
    return spread_chart(what, quantity, by, where).draw()


def spread_chart(
    what: object,
    quantity: str = "goodput_bps",
    by: str | None = None,
    where: Mapping[str, object] | None = None,
) -> Chart:
    """The same plot as data."""
    samples = samples_of(what, quantity, by, where)
    words, factor = in_units(quantity)
    scaled = {name: numbers * factor for name, numbers in samples.items()}
    return distribution_chart(scaled, Axis(words, quantity), f"Distribution of {words.split(' (')[0]}")
