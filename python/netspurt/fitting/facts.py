"""The facts about the fitted connections in a capture: packets, acknowledgments, RTT samples and losses as arrays.

Lives here: reading, and the choice of connections. Must not live here: estimates of the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netspurt.analysis.capture import Capture, read_capture
from netspurt.diagnosing import Diagnosis, why
from netspurt.errors import RequestError
from netspurt.fitting import unseen

if TYPE_CHECKING:
    import polars as pl

LEAST_PACKETS = 50
"""Fewer data packets show too little."""

TUNNELS = {655: "tinc", 1194: "OpenVPN", 5555: "SoftEther VPN"}
"""Ports of tunnels over TCP."""

SETTLED = 0.8
"""So many of the ACKs announce the same window if it is constant but for the beginning."""

SYN = -1
"""The offset of a SYN."""

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    """One direction of a connection: the one with more data. Times are seconds since the capture's first packet.

    Attributes:
        number: of the connection in the capture.
        sender: the end that sends the data, "client" or "server".
        vantage: where the capture was taken: "sender", "receiver", "between" or "unknown".
        start_s: the first packet of the connection.
        duration_s: to the last acknowledgment of data.
        size: bytes of data acknowledged.
        asked: bytes of data in the other direction.
        shares: of the time budget, by limit.
        header: bytes of the IP and TCP headers of a data packet.
        segment: bytes of data of the largest packet on the wire.
        options: columns of the capture's table of streams, of the sender and of the receiver.
        sent: time, offset and length of each packet of the sender, those without data among them.
        lost: whether that packet was lost.
        doubtful: packets of a connection without SACK that may have arrived or not: lost ones at which no
            acknowledgment stopped, because they were sent again before the one in front of them was repaired,
            superfluous retransmissions, and the retransmissions before these.
        acks: time, acknowledged offset, window, first SACK block (two columns) of each packet of the receiver.
        samples: time of sending, RTT and length of each RTT sample of data.
        handshake_s: the RTT of the handshake; None if the capture does not show it.
        retransmitted: packets.
        spurious: packets whose retransmission was superfluous.
        offload: whether packets were captured above segmentation offload.
    """

    number: int
    sender: str
    client: str
    server: str
    vantage: str
    start_s: float
    duration_s: float
    size: int
    asked: int
    shares: dict[str, float]
    header: int
    segment: int
    options: tuple[dict[str, Any], dict[str, Any]]
    sent: tuple[Floats, Counts, Counts]
    lost: npt.NDArray[np.bool_]
    acks: tuple[Floats, Counts, Counts, Counts, Counts]
    samples: tuple[Floats, Floats, Counts]
    handshake_s: float | None
    retransmitted: int
    spurious: int
    offload: bool
    doubtful: npt.NDArray[np.bool_]

    @property
    def repeated_syns(self) -> npt.NDArray[np.bool_]:
        """Which packets of ``sent`` are SYNs that were sent again: they, or what answered them, were lost."""
        syns: npt.NDArray[np.bool_] = self.sent[1] == SYN
        last = np.flatnonzero(syns)[-1:]
        syns[last] = False
        return syns


def read(
    path: str | Path, only: int | None = None, *, least: int = LEAST_PACKETS
) -> tuple[list[Facts], list[str]]:
    """The connections of a capture that shared a path, the one with most data first, and warnings.

    Raises:
        RequestError: the file is no capture, or shows too little.
    """
    if str(path) == "-":
        raise RequestError("the capture is read twice, so it cannot be standard input: name a file")
    capture = read_capture(path, ["samples", "events", "segments"])
    if capture.fault is not None and not capture.connections.height:
        raise RequestError(_without_tcp(path, capture))
    diagnosis = why(path)
    rows = {row["connection"]: row for row in capture.connections.to_dicts()}
    directions = {(row["connection"], row["from"]): row for row in diagnosis.directions.to_dicts()}
    main = [row for row in diagnosis.connections.sort("bytes", descending=True).to_dicts() if row["bytes"]]
    if only is not None:
        main = [row for row in main if row["connection"] == only]
        if not main:
            raise RequestError(f"there is no connection {only} with data in {path}")
    packets = {(row["connection"], row["from"]): row["segments"] for row in capture.streams.to_dicts()}
    large = [row for row in main if packets[row["connection"], row["sender"]] >= least]
    if not large:
        most = max((packets[row["connection"], row["sender"]] for row in main), default=0)
        raise RequestError(
            f"{path} shows too little to fit a path: its largest connection has {most} data packets, "
            f"and at least {least} are needed"
        )
    first = large[0]
    chosen = [
        row
        for row in large
        if _ends(rows[row["connection"]], row["sender"]) == _ends(rows[first["connection"]], first["sender"])
    ]
    warnings = []
    if len(chosen) < len(large):
        warnings.append(
            f"{len(large) - len(chosen)} connections between other hosts were left out: they may have shared the path"
        )
    tunnel = TUNNELS.get(rows[first["connection"]]["server_port"])
    if tunnel is not None:
        warnings.append(
            f"port {rows[first['connection']]['server_port']} is that of {tunnel}: the fit is of the outer connection, "
            "and what flows inside it is not visible"
        )
    if capture.damage is not None and capture.fault:
        warnings.append(capture.fault)
    facts = [
        _facts(capture, diagnosis, rows[row["connection"]], directions[row["connection"], row["sender"]])
        for row in chosen
    ]
    if not any(len(each.samples[1]) for each in facts) and facts[0].handshake_s is None:
        raise RequestError(f"{path} shows no round trip: it holds the packets of one direction only")
    return facts, warnings


def _without_tcp(path: str | Path, capture: Capture) -> str:
    """Why there is nothing to fit."""
    return f"{capture.fault}; a path is fitted to TCP connections (UDP, QUIC and tunnels over them are not)"


def _ends(row: dict[str, Any], sender: str) -> tuple[str, str]:
    """The addresses of the sender and of the receiver of the data."""
    return (row["client"], row["server"]) if sender == "client" else (row["server"], row["client"])


def _facts(capture: Capture, diagnosis: Diagnosis, row: dict[str, Any], direction: dict[str, Any]) -> Facts:
    import polars as pl

    number, sender = row["connection"], direction["from"]
    receiver = "server" if sender == "client" else "client"
    streams = {
        each["from"]: each for each in capture.streams.filter(pl.col("connection") == number).to_dicts()
    }
    segments = capture.segments.filter(pl.col("connection") == number)
    ours = segments.filter(pl.col("from_client") == (sender == "client"))
    theirs = segments.filter(pl.col("from_client") != (sender == "client"))
    events = capture.events.filter((pl.col("connection") == number) & (pl.col("from") == sender))
    budget = diagnosis.budget.filter((pl.col("connection") == number) & (pl.col("from") == sender))
    stamped = streams[sender]["timestamps"] and streams[receiver]["timestamps"]
    header = (60 if ":" in row["client"] else 40) + (12 if stamped else 0)
    offered = [each["mss"] for each in streams.values() if each["mss"]]
    segment = min(offered) - (12 if stamped else 0) if offered else streams[sender]["segment_max"]
    segment = min(segment, max(streams[sender]["segment_max"], 1))
    vantage = direction["vantage"]
    sent = ours["time_s"].to_numpy(), ours["seq"].to_numpy(), ours["length"].to_numpy()
    (lost, superfluous), samples = _lost(sent, events), _samples(capture, number, sender)
    acks = (
        theirs["time_s"].to_numpy(),
        theirs["ack"].to_numpy(),
        theirs["window"].to_numpy(),
        theirs["sack_from"].to_numpy(),
        theirs["sack_until"].to_numpy(),
    )
    exact = vantage != "sender" or all(each["sack"] for each in streams.values())
    if vantage != "sender":
        sent, lost, repairs = unseen.filled(sent, lost, events)
        samples = repairs if vantage == "receiver" else samples
    return Facts(
        number=number,
        sender=sender,
        client=f"{row['client']}:{row['client_port']}",
        server=f"{row['server']}:{row['server_port']}",
        vantage=vantage,
        start_s=row["start_s"],
        duration_s=direction["duration_s"],
        size=direction["bytes"],
        asked=streams[receiver]["acknowledged_bytes"],
        shares=settled(
            dict(zip(budget["limit"].to_list(), budget["share"].to_list(), strict=True)),
            acks[2][acks[1] > 0],
            float(np.median(flights(sent, acks)[2])) if vantage == "sender" else 0.0,
            3 * segment,
        ),
        header=header,
        segment=segment,
        options=(streams[sender], streams[receiver]),
        sent=sent,
        lost=lost,
        acks=acks,
        samples=samples,
        handshake_s=row["handshake_rtt_s"],
        retransmitted=streams[sender]["retransmitted"],
        spurious=streams[sender]["spurious"],
        offload=direction["offload"],
        doubtful=np.zeros(len(lost), dtype=bool)
        if exact
        else superfluous | lost & ~np.isin(sent[1], acks[1]),
    )


def settled(shares: dict[str, float], windows: Counts, flight: float, near: float) -> dict[str, float]:
    """The time budget where the window fell once and then stayed: it is small, and the receiver not slow.

    Linux announces more before a program limits the window. The window of a slow reader changes with most ACKs. Data in
    flight up to ``near`` bytes below the window fills it, and no send buffer limits.
    """
    usual = float(np.quantile(windows, SETTLED, method="lower")) if len(windows) else 0.0
    if not usual or np.mean(windows == usual) < SETTLED:
        return shares
    window = {"slow-receiver"} | ({"send-buffer"} if usual - near <= flight <= usual else set())
    moved = sum(shares.get(name, 0.0) for name in window)
    if not moved:
        return shares
    others = {name: share for name, share in shares.items() if name not in window}
    return {**others, "receive-window": shares.get("receive-window", 0.0) + moved}


def flights(
    sent: tuple[Floats, Counts, Counts], acks: tuple[Floats, Counts, Counts, Counts, Counts]
) -> tuple[Floats, Counts, Counts]:
    """Time of each packet with data, and the bytes in flight before and behind it."""
    time, seq, length = sent
    data = length > 0
    end = np.maximum.accumulate((seq + length)[data])
    acked = np.maximum.accumulate(acks[1])
    place = np.searchsorted(acks[0], time[data], side="right") - 1
    known = (
        np.where(place >= 0, acked[np.maximum(place, 0)], 0) if len(acked) else np.zeros(len(end), dtype=int)
    )
    return time[data], np.concatenate([[0], end[:-1]]) - known, end - known


def _samples(capture: Capture, number: int, sender: str) -> tuple[Floats, Floats, Counts]:
    """RTT samples of the data."""
    import polars as pl

    rows = capture.samples.filter((pl.col("connection") == number) & (pl.col("length") > 0))
    rows = rows.filter((pl.col("from") == sender) & (pl.col("method") == "karn"))
    rows = rows.sort("sent_s")
    return rows["sent_s"].to_numpy(), rows["rtt_s"].to_numpy(), rows["length"].to_numpy()


def _lost(
    sent: tuple[Floats, Counts, Counts], events: pl.DataFrame
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The lost packets: the transmission before each retransmission; and the superfluous retransmissions.

    A packet whose original was never captured was lost before the place of capture; it has no row here.
    """
    time, seq, length = sent
    rows = events.select("event", "seq", "time_s").to_dicts()
    again = {(row["seq"], row["time_s"]) for row in rows if row["event"] == "retransmitted"}
    last: dict[int, int] = {}
    # Of each offset, its retransmissions, each with the transmission before it.
    copies: dict[int, list[tuple[int, int]]] = {}
    for index in np.flatnonzero(length > 0).tolist():
        offset = int(seq[index])
        if offset in last and (offset, float(time[index])) in again:
            copies.setdefault(offset, []).append((index, last[offset]))
        last[offset] = index
    superfluous = np.zeros(len(time), dtype=bool)
    resent = {index for mine in copies.values() for index, _ in mine}
    for row in rows:
        mine = copies.get(row["seq"], []) if row["event"] == "spurious" else []
        # The evidence is of the latest copy that was sent by then.
        copy = next((each for each in reversed(mine) if time[each[0]] <= row["time_s"]), None)
        if copy is not None:
            mine.remove(copy)
            superfluous[copy[0]] = True
            # If one before it was a retransmission too, any of them may have arrived.
            superfluous[copy[1]] |= copy[1] in resent
    lost = np.zeros(len(time), dtype=bool)
    lost[[before for mine in copies.values() for _, before in mine]] = True
    return lost, superfluous
