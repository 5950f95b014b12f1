"""Delays of the paths in a capture, in the form of ``delay_path``.

Lives here: the choice of RTT samples and the definition of loss. Must not live here: following packets
(Rust does it), or the analysis of delays.

A *path* leads from one host to another, as seen at one place of capture. All connections between the two hosts share
it, like the metrics that a host stores for a destination.
A *delay* is half of an RTT from the place of capture to the receiver of the data and back. Each ACK gives at most
one: by Karn's rule where it applies, else by timestamps, which also identify the segment that the ACK of a
retransmission answers. The time of a delay is the time of the segment; its length is the length of the data.

A retransmitted segment counts as *lost* once, at its first transmission, whatever detected the loss (a timer,
duplicate ACKs, a NAK): the path lost it in each case. It does not count if the capture proves that all of its
retransmissions were spurious.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netspurt.analysis.capture import Capture
from netspurt.analysis.delay_path import DelayPath

if TYPE_CHECKING:
    import polars as pl


def paths_of(capture: Capture) -> list[DelayPath]:
    """The paths of a capture that was read with its samples and events; none without an RTT sample."""
    import polars as pl

    rows = pl.concat([_round_trips(capture.samples), _losses(capture.events)])
    hosts = capture.connections.select("connection", "interface", "client", "server")
    to_server = pl.col("from") == "client"
    named = rows.join(hosts, on="connection").with_columns(
        path=pl.when(to_server)
        .then(pl.format("{} > {}", "client", "server"))
        .otherwise(pl.format("{} > {}", "server", "client"))
    )
    interfaces = capture.tally["interfaces"]
    if len(interfaces) > 1:
        places = [each["name"] or f"interface {number}" for number, each in enumerate(interfaces)]
        place = pl.col("interface").replace_strict(dict(enumerate(places)), return_dtype=pl.String)
        named = named.with_columns(path=pl.format("{} at {}", "path", place))
    return [
        DelayPath(
            str(capture.path),
            str(path),
            part["time_s"].to_numpy(),
            part["rtt_s"].fill_null(float("nan")).to_numpy() / 2.0,
            part["octets"].fill_null(float("nan")).to_numpy(),
        )
        for (path,), part in named.sort("time_s", maintain_order=True).group_by(["path"], maintain_order=True)
        if part["rtt_s"].is_not_null().any()
    ]


def _round_trips(samples: pl.DataFrame) -> pl.DataFrame:
    """One row for each ACK with an RTT sample."""
    import polars as pl

    # The preferred method is also the last in alphabetical order: "handshake", "karn", "timestamps".
    best = samples.sort("method", maintain_order=True).unique(
        ["connection", "from", "ack", "time_s"], keep="first", maintain_order=True
    )
    return best.select(
        "connection",
        "from",
        time_s="sent_s",
        rtt_s="rtt_s",
        octets=pl.when(pl.col("method") != "handshake").then(pl.col("length").cast(pl.Float64)),
    )


def _losses(events: pl.DataFrame) -> pl.DataFrame:
    """One row per retransmitted segment, except those whose retransmissions were spurious."""
    import polars as pl

    again = pl.col("event") == "retransmitted"
    segments = (
        events.filter(pl.col("event").is_in(["retransmitted", "spurious"]))
        .group_by(["connection", "from", "seq"], maintain_order=True)
        .agg(
            needed=again.sum().cast(pl.Int64) - (~again).sum().cast(pl.Int64),
            # The first transmission was not captured: it happened some time before this one.
            time_s=(pl.col("time_s") - pl.col("after_s").fill_null(0.0)).filter(again).first(),
            octets=pl.col("length").filter(again).first().cast(pl.Float64),
        )
    )
    return segments.filter(pl.col("needed") > 0).select(
        "connection",
        "from",
        "time_s",
        rtt_s=pl.lit(None, dtype=pl.Float64),
        # The SYN precedes the first byte.
        octets=pl.when(pl.col("seq") >= 0).then(pl.col("octets")),
    )
