"""One transfer at the high error rate without and with NAKs, segment by segment: the reason for the different rates."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Findings, Picture
from netspurt.studies.rfc1106.setting import FIGURE1, FIGURE2, HIGH, SCENARIO, Figure, settings

if TYPE_CHECKING:
    from netspurt import _core

WINDOW_KIB = 100
SEEN_S = 40.0
"""The part of the transfer that the picture shows, in seconds from the SYN."""


def opening(run: _core.Run) -> dict[str, np.ndarray]:
    """The segments sent in the first ``SEEN_S`` seconds, as columns of equal length."""
    columns = {name: np.asarray(column) for name, column in run.segments().items() if name != "sack"}
    seen = columns["time_s"] <= SEEN_S
    return {name: column[seen] for name, column in columns.items()}


class TimeSequence:
    """Two pictures."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """The same window, error rate and seed, without and with NAKs."""
        for figure in (FIGURE1, FIGURE2):
            yield Experiment(
                key=("time-sequence", figure.name),
                scenario=SCENARIO,
                settings=settings(WINDOW_KIB, HIGH, figure.profile),
                record=("segments",),
                measure=opening,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """The pictures whose runs exist."""
        pictures = []
        for figure, kind in ((FIGURE1, "without NAKs"), (FIGURE2, "with NAKs")):
            segments = samples.one(("time-sequence", figure.name), dict)
            if segments is not None:
                pictures.append(_picture(figure, kind, segments))
        return Findings(pictures=tuple(pictures))


def _picture(figure: Figure, kind: str, segments: dict[str, np.ndarray]) -> Picture:
    from netspurt import plot

    return Picture(
        name=f"rfc1106-time-sequence-{figure.name}",
        title=f"Time–sequence graph {kind}",
        caption=(
            f"The first {SEEN_S:.0f} s of one transfer {kind}: window {WINDOW_KIB}K, error rate {HIGH.name}, seed 1. "
            "The lower line is the acknowledged data, the upper one the edge of the window. The segments lie between "
            "them, and marks show retransmissions by their reason."
        ),
        alt=f"Sequence numbers against time {kind}: segments climb between the ACK line and the window line.",
        make=partial(plot.sequence_charts, {"Time–sequence graph": segments}),
    )
