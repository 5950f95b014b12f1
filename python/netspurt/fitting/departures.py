"""The queue of a path whose packets were captured at the receiver.

Such a capture shows when packets arrived, and which ones never did. It does not show when they were sent, so the queue
cannot be replayed from it. A simulation that loses the very same packets supplies the times of sending.

Lives here: that simulation, and what its queue says about the losses. Must not live here: the replay (``replay``).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as File

import numpy as np
import numpy.typing as npt

from netspurt.errors import RequestError
from netspurt.fitting.facts import Counts, Facts, read
from netspurt.fitting.path import Path
from netspurt.fitting.replay import replay
from netspurt.scenario import Scenario

Mask = npt.NDArray[np.bool_]


def relocated(path: Path, flows: Sequence[Facts], scripted: Scenario) -> Path | None:
    """The path with the queue that the losses show; None if they show none, or other connections were simulated.

    Args:
        path: the path as the receiver's capture shows it.
        flows: connections, captured away from the sender.
        scripted: a fit that loses the very packets that the capture lost, and whose queue never overflows.
    """
    sent = _at_sender(scripted, flows[0].sender)
    if len(sent) != len(flows):
        return None
    # A connection that begins earlier has the lower port in the simulation, and the lower number.
    by_start = sorted(range(len(flows)), key=lambda place: flows[place].start_s)
    own = dict(zip(by_start, sorted(sent, key=lambda facts: facts.start_s), strict=True))
    simulated = [own[place] for place in range(len(flows))]
    found = replay(simulated, path.rate_bps, path.queue_packets)
    if found.limit is None:
        return None
    full = tuple(
        _same(facts, ours, mask) for facts, ours, mask in zip(flows, simulated, found.full, strict=True)
    )
    overflowed = sum(int(mask.sum()) for mask in full)
    lost = sum(int(facts.lost.sum()) for facts in flows)
    held = found.limit if overflowed else found.most
    packet_s = 8 * (flows[0].segment + flows[0].header) / path.rate_bps
    return replace(
        path,
        queue_packets=held,
        queue_s=held * packet_s,
        full=full,
        overflows=overflowed,
        stray=lost - overflowed,
        replayed=overflowed > 0,
    )


def _at_sender(scenario: Scenario, node: str) -> list[Facts]:
    """The connections of a simulation, captured at the sender of the data."""
    with tempfile.TemporaryDirectory(prefix="netspurt-fit-") as folder:
        file = File(folder) / "sender.pcapng"
        scenario.run(seed=1, pcap=file, capture=[node], snaplen=128)
        try:
            return read(file, least=1)[0]
        except RequestError:
            return []


def _same(facts: Facts, simulated: Facts, full: Mask) -> Mask:
    """Which packets of the capture are those that the simulation lost at a full queue."""
    dropped = {key for key, over in zip(_keys(simulated.sent[1]), full, strict=True) if over}
    keys = _keys(facts.sent[1])
    return np.array([lost and key in dropped for lost, key in zip(facts.lost, keys, strict=True)], dtype=bool)


def _keys(offsets: Counts) -> list[tuple[int, int]]:
    """For each packet its offset, and how often that was sent before."""
    before: dict[int, int] = {}
    found = []
    for offset in offsets.tolist():
        found.append((offset, before.get(offset, 0)))
        before[offset] = before.get(offset, 0) + 1
    return found
