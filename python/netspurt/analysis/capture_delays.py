"""What a capture tells of the delays of its paths, in the form in which ``delay_path`` has all delays.

Lives here: which of a capture's round trips count, and what counts as lost. Must not live here: how packets are
followed (that is Rust's), or what delays mean.

A *path* is from one host to another, as seen at one place of capture: the connections between the two share it, as they
would share what a host remembers of a destination.

A *delay* is half of a round trip from the place of capture to the receiver of the data and back. Each ACK gives at most
one: by Karn's rule where that holds, else by timestamps, which also tell what the ACK of a retransmission answers. It
counts from when the segment was sent; its length is that of the data.

A segment that was sent again counts as *lost*, once, when it was sent first, whoever noticed the loss (a timer,
duplicate ACKs, a NAK): the path lost it either way. It does not if the capture proves as many of its retransmissions
needless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netspurt.analysis.capture import Capture
from netspurt.analysis.delay_path import DelayPath

if TYPE_CHECKING:
    import polars as pl


def paths_of(capture: Capture) -> list[DelayPath]:
    """The paths of a capture that was read with its samples and events; none without a round trip."""
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
    """One row for each ACK that measured anything."""
    import polars as pl

    # Of "handshake", "karn" and "timestamps" the last comes last in the alphabet, too.
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
    """One row for each segment that went again, but for those of which that is proved to have been needless."""
    import polars as pl

    again = pl.col("event") == "retransmitted"
    segments = (
        events.filter(pl.col("event").is_in(["retransmitted", "spurious"]))
        .group_by(["connection", "from", "seq"], maintain_order=True)
        .agg(
            needed=again.sum().cast(pl.Int64) - (~again).sum().cast(pl.Int64),
            # Not seen before, it was sent some time before this.
            time_s=(pl.col("time_s") - pl.col("after_s").fill_null(0.0)).filter(again).first(),
            octets=pl.col("length").filter(again).first().cast(pl.Float64),
        )
    )
    return segments.filter(pl.col("needed") > 0).select(
        "connection",
        "from",
        "time_s",
        rtt_s=pl.lit(None, dtype=pl.Float64),
        # Before the first octet stands the SYN.
        octets=pl.when(pl.col("seq") >= 0).then(pl.col("octets")),
    )
