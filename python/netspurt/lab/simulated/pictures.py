"""The data of a run for the page: one connection's segments and series, all queues, and every flow's numbers.

Columns are thinned to what a screen can show; every extreme, every retransmission and every loss
stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from netspurt import _core
from netspurt.lab.simulated.reasons import SENT
from netspurt.lab.simulated.verdict import verdict

Floats = npt.NDArray[np.float64]
Columns = dict[str, npt.NDArray[Any]]

RECORD = (
    *("cwnd", "ssthresh", "flight", "window", "srtt", "rto", "rtt"),
    *("queue", "segments", "arrivals", "drops", "limits"),
)

MOST_POINTS = 20_000
"""The maximal number of points of a series: four for each dot of a very wide screen."""

MOST_SEGMENTS = 250_000
MOST_CONNECTIONS = 200
"""The maximal number of connections in the list, the largest ones."""

MOST_QUEUES = 4
BINS = 160
"""The number of bins of throughput over the life of a connection."""

CODES = {name: code for code, name in enumerate(SENT)}

Key = tuple[str, int, int]
"""Flow, index, connection."""

Queue = tuple[str, str]
"""Link and direction."""


def pictures(run: _core.Run, wanted: Key | None = None) -> tuple[dict[str, Any], Columns]:
    """The header and columns of a message.

    Args:
        run: recorded with ``RECORD``.
        wanted: the connection to show; by default, or if it does not exist, the one that carried the most.
    """
    document = json.loads(run.json())
    segments = run.segments()
    keys, of = _connections(segments)
    carried, order = _by_bytes(segments, keys, of)
    order = order[:MOST_CONNECTIONS]
    chosen = keys.index(wanted) if wanted in keys else int(order[0]) if len(keys) else -1
    head: dict[str, Any] = {
        "seed": document["seed"],
        "digest": document["digest"],
        "active_s": document["active_s"],
        "flows": document["flows"],
        "links": document["links"],
        "connections": [
            {"flow": keys[place][0], "index": keys[place][1], "connection": keys[place][2]}
            | {"bytes": int(carried[place])}
            for place in order
        ],
        "chosen": keys[chosen] if keys else None,
    }
    columns: Columns = {}
    if keys:
        mine = np.flatnonzero(of == chosen)
        whole = _segments(run, segments, mine, keys[chosen], head)
        columns |= _thinned_segments(whole) | _throughput(whole) | _series(run, keys[chosen], head)
        head["verdict"], band = verdict(run, keys[chosen])
        columns |= band
    columns |= _queues(run, head)
    return head, columns


def _connections(rows: Mapping[str, Any]) -> tuple[list[Key], npt.NDArray[np.int64]]:
    """All connections in rows, and for each row the index of its connection."""
    names = list(dict.fromkeys(rows["flow"]))
    numbers = {name: number for number, name in enumerate(names)}
    count = len(rows["flow"])
    flow = np.fromiter(map(numbers.__getitem__, rows["flow"]), np.int64, count)
    index, connection = np.asarray(rows["index"]), np.asarray(rows["connection"])
    if not count:
        return [], flow
    wide = (int(index.max()) + 1, int(connection.max()) + 1)
    found, of = np.unique((flow * wide[0] + index) * wide[1] + connection, return_inverse=True)
    keys = [
        (names[key // wide[1] // wide[0]], int(key // wide[1] % wide[0]), int(key % wide[1])) for key in found
    ]
    return keys, of


def chosen_of(segments: Mapping[str, Any], wanted: Key | None) -> Key | None:
    """The wanted connection, or else the one that carried the most; None without connections."""
    keys, of = _connections(segments)
    if not keys or wanted in keys:
        return wanted if keys else None
    _, order = _by_bytes(segments, keys, of)
    return keys[int(order[0])]


def _by_bytes(
    segments: Mapping[str, Any], keys: Sequence[Key], of: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The bytes that each connection carried, and the indices of the connections, the largest first."""
    carried = np.bincount(of, weights=np.asarray(segments["length"]), minlength=len(keys))
    return carried, np.argsort(-carried, kind="stable")


def belongs(rows: Mapping[str, Any], key: Key) -> npt.NDArray[np.bool_]:
    """The rows of one connection."""
    flow, index, connection = key
    named = np.fromiter((name == flow for name in rows["flow"]), np.bool_, len(rows["flow"]))
    mine: npt.NDArray[np.bool_] = (
        named & (np.asarray(rows["index"]) == index) & (np.asarray(rows["connection"]) == connection)
    )
    return mine


def _segments(
    run: _core.Run, rows: Mapping[str, Any], mine: npt.NDArray[np.int64], key: Key, head: dict[str, Any]
) -> Columns:
    """The segments of one connection; ``data_way`` is 1 for those of the end that sends more."""
    from_client, length = np.asarray(rows["from_client"])[mine], np.asarray(rows["length"])[mine]
    head["client_sends"] = client_sends = sends_more(from_client, length)
    reasons = rows["reason"]
    columns: Columns = {
        "time": np.asarray(rows["time_s"])[mine],
        "arrives": np.asarray(rows["arrives_s"])[mine],
        "seq": np.asarray(rows["seq"])[mine].astype(np.float64),
        "length": length.astype(np.int32),
        "ack": np.asarray(rows["ack"])[mine].astype(np.float64),
        "window": np.asarray(rows["window"])[mine].astype(np.float64),
        "nak": np.asarray(rows["nak"])[mine].astype(np.float64),
        "reason": np.fromiter((CODES[reasons[row]] for row in mine), np.uint8, len(mine)),
        "data_way": (from_client == client_sends).astype(np.uint8),
    }
    columns["cause"] = _causes(run, key, columns, client_sends, head)
    head["segments"] = len(mine)
    return columns


def _thinned_segments(columns: Columns) -> Columns:
    """For very many segments, every n-th, and all retransmissions and lost segments."""
    count = len(columns["time"])
    if count <= MOST_SEGMENTS:
        return columns
    keep = np.isnan(columns["arrives"]) | ~np.isin(columns["reason"], _ORDINARY)
    keep[:: -(-count // MOST_SEGMENTS)] = True
    return {name: column[keep] for name, column in columns.items()}


_ORDINARY = [CODES[name] for name in ("new-data", "ack", "delayed-ack")]


def _causes(
    run: _core.Run, key: Key, columns: Columns, client_sends: bool, head: dict[str, Any]
) -> npt.NDArray[Any]:
    """For each segment an index into ``head["causes"]``, the place and cause of its loss; 0 for all others.

    Among segments of equal length and direction the first sent is the first lost, as in a network without reordering.
    """
    drops = run.drops()
    causes = ["", "the end of the simulation"]
    cause = np.where(np.isnan(columns["arrives"]), 1, 0).astype(np.uint8)
    lost = {
        (way, length): iter(
            np.flatnonzero((cause == 1) & (columns["data_way"] == way) & (columns["length"] == length))
        )
        for way in (0, 1)
        for length in np.unique(columns["length"])
    }
    for row in np.flatnonzero(belongs(drops, key)):
        way = int(bool(drops["from_client"][row]) == client_sends)
        segment = next(lost.get((way, drops["length"][row]), iter(())), None)
        words = (
            f"{drops['cause'][row]} on {drops['link'][row]}, {drops['direction'][row].replace('->', ' → ')}"
        )
        if words not in causes:
            causes.append(words)
        if segment is not None and causes.index(words) < 256:
            cause[segment] = causes.index(words)
    head["causes"] = causes
    return cause


def _series(run: _core.Run, key: Key, head: dict[str, Any]) -> Columns:
    """The series of the end that sends more."""
    columns: Columns = {}
    for name in ("cwnd", "ssthresh", "flight", "window", "srtt", "rto", "rtt"):
        time, value = thinned(*series_of(run, name, key, head["client_sends"]))
        columns[f"{name}_time"], columns[f"{name}_value"] = time, value
    return columns


def series_of(run: _core.Run, name: str, key: Key, client: bool) -> tuple[Floats, Floats]:
    """Times and values of a series of one end of a connection: of the client, or of the server."""
    rows = run.series(name)
    end = "client" if client else "server"
    ends = np.fromiter((each == end for each in rows["end"]), np.bool_, len(rows["end"]))
    mine = belongs(rows, key) & ends
    return np.asarray(rows["time_s"])[mine], np.asarray(rows["value"], np.float64)[mine]


def sends_more(from_client: npt.NDArray[np.bool_], length: npt.NDArray[Any]) -> bool:
    """Whether the client sends at least as many bytes as the server."""
    return bool(length[from_client].sum() >= length[~from_client].sum())


def queues_of(run: _core.Run, wanted: Sequence[Queue] | None = None) -> dict[Queue, tuple[Floats, Floats]]:
    """Times and lengths of some queues; by default of the longest ones, the longest first."""
    rows = run.series("queue")
    time, value = np.asarray(rows["time_s"]), np.asarray(rows["value"], np.float64)
    names = list(dict.fromkeys(zip(rows["link"], rows["direction"], strict=True)))
    numbers = {name: number for number, name in enumerate(names)}
    of = np.fromiter(map(numbers.__getitem__, zip(rows["link"], rows["direction"], strict=True)), np.int64)
    if wanted is None:
        longest = sorted(
            ((float(value[of == number].max()), -number) for number in numbers.values()), reverse=True
        )
        wanted = [names[-number] for most, number in longest[:MOST_QUEUES] if most > 0]
    return {
        name: (time[of == numbers[name]], value[of == numbers[name]]) for name in wanted if name in numbers
    }


def _queues(run: _core.Run, head: dict[str, Any]) -> Columns:
    """The longest queues, each direction of a link separately."""
    columns: Columns = {}
    found = queues_of(run)
    for place, (time, value) in enumerate(found.values()):
        columns[f"queue{place}_time"], columns[f"queue{place}_value"] = thinned(time, value)
    head["queues"] = [f"{link}, {direction.replace('->', ' → ')}" for link, direction in found]
    return columns


def _throughput(columns: Columns) -> Columns:
    """Data sent, and data that arrived at the receiver, in bits per second, in equal bins over the connection's life.

    What arrived crossed the links one packet after the other, so it does not exceed their rates; what was sent may,
    and waits in a queue.
    """
    time, ours = columns["time"], columns["data_way"] == 1
    begin, end = float(time[0]), float(time[-1])
    if end <= begin:
        return {}
    edges = np.linspace(begin, end, BINS + 1)
    sent, _ = np.histogram(time[ours], edges, weights=columns["length"][ours])
    came = ours & ~np.isnan(columns["arrives"])
    delivered, _ = np.histogram(columns["arrives"][came], edges, weights=columns["length"][came])
    width = edges[1] - edges[0]
    return {
        "rate_time": edges[:-1] + width / 2,
        "rate_sent": sent * 8 / width,
        "rate_delivered": delivered * 8 / width,
    }


def thinned(time: Floats, value: Floats, most: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """A series with at most ``most`` points: of each bin its first, minimum, maximum and last point."""
    if len(time) <= most:
        return time, value
    size = -(-len(time) // (most // 4))
    whole = len(time) // size * size
    blocks = value[:whole].reshape(-1, size)
    begin = np.arange(0, whole, size)
    rows = np.concatenate(
        [
            begin,
            begin + blocks.argmin(1),
            begin + blocks.argmax(1),
            begin + size - 1,
            np.arange(whole, len(time)),
        ]
    )
    rows = np.unique(rows)
    return time[rows], value[rows]
