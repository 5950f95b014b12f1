"""The time of a transfer by the kernel, from a capture of it.

Lives here: which transfers a capture times, and the time. Must not live here: running anything.

A program that starts, and waits for a processor, adds tens of milliseconds to its own time: much of a short transfer.
"""

from __future__ import annotations

from pathlib import Path

from netspurt.fitting.checking import measure
from netspurt.fitting.facts import read
from netspurt.remedies.quantities import number
from netspurt.remedies.situation import Situation


def by_capture(situation: Situation) -> bool:
    """Whether a capture shows the time: of one transfer it does, of exchanges with pauses the program knows it."""
    app = situation.app
    return app["kind"] == "bulk" or (app["kind"] == "request-response" and app.get("exchanges") == 1)


def seconds(capture: Path, situation: Situation) -> float:
    """From the first packet to the last acknowledgment of data of the flow in question.

    Of several flows, its connections are those with the most similar size, and of these the nearest start.

    Raises:
        RequestError: no data was captured.
    """
    found = read(capture, least=1)[0]
    if len(situation.tree["flow"]) > 1:
        octets = number(situation.app.get("bytes")) or 0.0
        start = number(situation.entry.get("start")) or 0.0
        first = min(facts.start_s for facts in found)
        found.sort(key=lambda facts: (abs(facts.size - octets), abs(facts.start_s - first - start)))
        found = found[: int(situation.entry.get("count", 1))]
    return measure(found).duration_s
