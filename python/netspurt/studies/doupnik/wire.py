"""The segments on the wire under each policy: one reply, compared with the policy's own rule.

This module implements the rule a second time, from the documents and in a few lines, for a reply during which no
acknowledgment arrives and no window closes. The simulation has to send exactly these segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from netspurt.settings import Value
from netspurt.studies.doupnik.setting import HEADERS, LAN, PIECE, REPLIES, Reply
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Table
from netspurt.studies.verdict import PrintedDigits

if TYPE_CHECKING:
    from netspurt import _core

MSS = 1460
CLUSTER = 2048

POLICIES = (
    "nodelay",
    "nagle-strict",
    "nagle-liberal",
    "minshall",
    "linux22",
    "doupnik",
    "doupnik-liberal",
)
HANDOVERS = ("whole", "clusters", "segments")

EXCHANGES = 4
"""The last exchange is evaluated: at that time the congestion window is wide open."""

_SETTINGS: dict[str, Value] = {
    "link.lan.rate": "100 Gbit/s",
    "link.lan.delay": "10 ms",
    "flow.0.app.exchanges": EXCHANGES,
}


def writes(reply: Reply) -> list[int]:
    """The server's writes: two headers, then the file."""
    left = reply.bytes - sum(HEADERS)
    whole, rest = divmod(left, PIECE)
    return [*HEADERS, *[PIECE] * whole, *([rest] if rest else [])]


def rule(policy: str, reply: Reply, handover: str) -> list[int]:
    """The segments that a policy sends; those that it holds until the reply is acknowledged are last."""
    sent: list[int] = []
    waiting = 0
    for length in writes(reply):
        for part, ends in _parts(length, handover, waiting):
            waiting += part
            full = waiting // MSS
            sent += [MSS] * full
            waiting -= full * MSS
            if waiting and _leaves(policy, waiting, sent, behind_full=full > 0, ends=ends):
                sent.append(waiting)
                waiting = 0
    return sent + ([waiting] if waiting else [])


def _parts(length: int, handover: str, waiting: int) -> Iterator[tuple[int, bool]]:
    """The parts after which TCP looks for segments to send; in Linux, none in a write behind a waiting segment."""
    size = {"whole": length, "clusters": CLUSTER, "segments": length if waiting else MSS}[handover]
    for begin in range(0, length, size):
        yield min(size, length - begin), begin + size >= length


def _leaves(policy: str, tail: int, sent: Sequence[int], *, behind_full: bool, ends: bool) -> bool:
    """Whether a tail leaves at once; everything in ``sent`` is unacknowledged."""
    idle = not sent
    match policy:
        case "nodelay":
            return True
        case "nagle-strict":
            return idle
        case "nagle-liberal":
            return idle or behind_full
        case "minshall":
            return all(length == MSS for length in sent)
        case "linux22":
            return idle or tail >= MSS // 2
        case "doupnik":
            return ends
        case _:
            return ends or behind_full


def sizes(run: _core.Run) -> tuple[int, ...]:
    """Lengths of the data segments that the server sent in the last exchange."""
    segments = run.segments()
    from_client = np.asarray(segments["from_client"], dtype=bool)
    length = np.asarray(segments["length"], dtype=np.int64)
    last = np.flatnonzero(from_client & (length > 0))[-1]
    data = length[last:][~from_client[last:]]
    return tuple(int(value) for value in data[data > 0])


def _key(policy: str, handover: str, reply: Reply) -> Key:
    return ("wire", policy, handover, reply.name)


_ROWS = [(policy, handover, reply) for reply in REPLIES for handover in HANDOVERS for policy in POLICIES]


class OnTheWire:
    """Two replies, passed to TCP in three ways, under each policy."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """A few exchanges each, over a link so long that no acknowledgment returns during the writes of a reply."""
        for policy, handover, reply in _ROWS:
            yield Experiment(
                key=_key(policy, handover, reply),
                scenario=LAN,
                settings={
                    **_SETTINGS,
                    "host.server.tcp.transmit": policy,
                    "host.server.handover": handover,
                    "flow.0.app.response.size": f"{reply.bytes} B",
                },
                record=("segments",),
                measure=sizes,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """A table of counts, and one check that every list of segments follows the rule."""
        cells, wrong, missing = [], [], False
        for policy, handover, reply in _ROWS:
            found = samples.one(_key(policy, handover, reply), tuple)
            expected = rule(policy, reply, handover)
            missing |= found is None
            if found is not None and list(found) != expected:
                wrong.append(f"{policy}, {handover}, {reply.name}: {list(found)} instead of {expected}")
            cells.append(
                Cell(
                    {"policy": policy, "handover": handover, "file": reply.name},
                    "segments",
                    "segments",
                    float(len(expected)),
                    None if found is None else float(len(found)),
                    decimals=0,
                    bar=PrintedDigits(0),
                )
            )
        table = Table(
            "beyond_wire",
            "Segments of one reply by policy and by how its writes are passed to TCP",
            tuple(cells),
            kind="beyond",
            note="The column of published numbers contains the prediction of the policy's rule.",
        )
        words = "segment counts and sizes on the wire are those of each policy's rule"
        found_words = "; ".join(wrong[:3]) if wrong else f"{len(_ROWS)} lists"
        return Findings(tables=(table,), checks=(Check(words, None if missing else not wrong, found_words),))
