"""The effect of a larger initial window: the same file to one client, with one segment and with four."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Findings, Picture

if TYPE_CHECKING:
    from netspurt import _core

SHOWN = (1, 4)
"""The compared initial windows."""

SCENARIO = "page.toml"


def page(run: _core.Run) -> dict[str, np.ndarray]:
    """The segments of the only connection, as columns of equal length."""
    return {name: np.asarray(column) for name, column in run.segments().items() if name != "sack"}


class OneFile:
    """One picture."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """A file of the mean size over the empty path."""
        for window in SHOWN:
            yield Experiment(
                key=("one-file", window),
                scenario=SCENARIO,
                settings={"tcp.initial_window": f"{window} segments"},
                record=("segments",),
                measure=page,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The picture, if both runs exist."""
        seen = {window: samples.one(("one-file", window), dict) for window in SHOWN}
        flows = {f"IW {window}": segments for window, segments in seen.items() if segments is not None}
        if len(flows) < len(SHOWN):
            return Findings()
        from netspurt import plot

        return Findings(
            pictures=(
                Picture(
                    "rfc2415-one-file",
                    "One file over the empty path, with initial windows of one and four segments",
                    "A file of 14,600 bytes over its own connection: the larger initial window saves the round trips "
                    "in which slow start sends one, two and four segments.",
                    "Segments against time: four steps with one segment, two with four.",
                    partial(plot.sequence_charts, flows),
                ),
            )
        )
