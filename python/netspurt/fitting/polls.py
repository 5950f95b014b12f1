"""A scenario fitted to what the kernel says of a socket: the table of ``netspurt why --sockets --out``.

Polls show averages: bytes, RTT and delivery rate of each interval. Single packets, the writes of the application and
the initial window are not visible, so the fit is coarser than that of a capture.

Lives here: estimates from such a table, the scenario, and its check. Must not live here: captures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING

from netspurt.errors import RequestError
from netspurt.fitting.checking import Row
from netspurt.fitting.draft import CONTROLS, UNKNOWN, Control, interval
from netspurt.fitting.path import Path, unseen_limit
from netspurt.scenario import Scenario, parse

if TYPE_CHECKING:
    import polars as pl

COLUMNS = {"socket", "bytes_acked", "min_rtt_s", "delivery_rate_bps", "rtt_s", "mss_bytes", "application_s"}
"""The columns of such a table that a fit needs, among others."""

HEADER = 52
LEAST_BYTES = 100_000
LEAST_ROWS = 3

PLATEAU = 0.9
"""The quantile of the delivery rates that is taken for the rate of the path."""

HELD = 0.3
"""A limit with a larger share of the busy time shaped the transfer."""

FULL = 0.7
"""Retransmissions while the queue is fuller than this part of its longest are those of a full queue."""

DURATION, RTT = 0.1, 0.25
"""Relative differences within which the check agrees."""


@dataclass(frozen=True)
class Polled:
    """A fit of a socket.

    Attributes:
        scenario: ready to run.
        text: as commented TOML.
        check: polled beside simulated.
        explains: whether duration and RTT agree.
        warnings: sentences.
        seconds: in which the socket was busy.
        estimate: the path.
        control: the congestion control that the kernel names.
        socket: its number in the table.
    """

    scenario: Scenario
    text: str
    check: list[Row]
    explains: bool
    warnings: list[str]
    seconds: float
    estimate: Path
    control: str
    socket: int


def is_table(file: File) -> bool:
    """Whether a file is a Parquet table."""
    try:
        with file.open("rb") as opened:
            return opened.read(4) == b"PAR1"
    except OSError:
        return False


def is_polls(file: File) -> bool:
    """Whether a Parquet file is such a table."""
    import polars as pl

    return set(pl.read_parquet_schema(file)) >= COLUMNS


def fit_polls(file: File, socket: int | None = None) -> Polled:
    """Fits a scenario to a socket; by default to the one with most data.

    Raises:
        RequestError: there is no such socket, or it shows too little.
    """
    import polars as pl

    table = pl.read_parquet(file)
    totals = table.group_by("socket").agg(pl.col("bytes_acked").sum()).sort("bytes_acked", descending=True)
    if not totals.height:
        raise RequestError(f"{file} has no sockets")
    number = int(totals["socket"][0]) if socket is None else socket
    rows = table.filter(pl.col("socket") == number).sort("from_s")
    if not rows.height:
        raise RequestError(f"there is no socket {number} in {file}")
    size = int(rows["bytes_acked"].sum())
    known = rows.filter(pl.col("min_rtt_s").is_not_null() & (pl.col("delivery_rate_bps") > 0))
    if size < LEAST_BYTES or known.height < LEAST_ROWS:
        raise RequestError(
            f"{file} shows too little to fit a path: socket {number} sent {size} bytes in {known.height} intervals "
            f"with a rate, and at least {LEAST_BYTES} bytes in {LEAST_ROWS} are needed"
        )
    return _fitted(file, rows, known, number, size)


def _fitted(file: File, rows: pl.DataFrame, known: pl.DataFrame, number: int, size: int) -> Polled:
    import polars as pl

    mss = int(known["mss_bytes"].max() or 1448)  # type: ignore[arg-type]
    packet = mss + HEADER
    least = float(known["min_rtt_s"].min())  # type: ignore[arg-type]
    rate = float(known["delivery_rate_bps"].quantile(PLATEAU) or 0.0) * packet / mss
    delay = max(least - 8 * (packet + HEADER) / rate, 1e-5)
    waits = (known["rtt_s"] - least).clip(lower_bound=0.0)
    most = float(waits.max() or 0.0)  # type: ignore[arg-type]
    resent = round(int(rows["bytes_retransmitted"].sum()) / mss)
    packets = math.ceil(size / mss)
    at_full = int(known.filter(waits > FULL * most)["bytes_retransmitted"].sum()) / mss
    overflowed = resent > 0 and at_full > resent / 2
    held = math.ceil(most * rate / 8 / packet)
    stray = 0 if overflowed else resent
    estimate = Path(rate, 0.0, known.height, delay, most, resent - stray, stray, packets, held)
    spent = float(rows["duration_s"].sum())
    idle = float(rows["application_s"].sum())
    busy = max(spent - idle, 1e-6)
    name = str(rows["congestion"][-1])
    control = next((each for each in CONTROLS if each.name == name), CONTROLS[0])
    window = None
    if float(rows["receive_window_s"].sum()) > HELD * busy:
        window = int(known.filter(pl.col("receive_window_s") > 0)["peer_window_bytes"].median() or 0) or None  # type: ignore[arg-type]
    warnings = ["it comes from polls of the kernel, which show averages: a capture is fitted more exactly"]
    if idle > HELD * spent:
        warnings.append(
            f"the application had nothing to send for {idle:.3g} s of {spent:.3g} s: the fit sends the data at once"
        )
    text = _text(estimate, control, mss, size, busy, window)
    scenario = parse(text, f"fit of {file.name}")
    check = _check(scenario, busy, size, known, resent)
    explains = all(row.agrees for row in check)
    if not explains:
        wrong = ", ".join(row.quantity for row in check if not row.agrees)
        warnings.insert(
            0, f"the fit does not explain the polls ({wrong} differ): do not trust predictions from it"
        )
    return Polled(scenario, text, check, explains, warnings, busy, estimate, name, number)


def _text(path: Path, control: Control, mss: int, size: int, busy: float, window: int | None) -> str:
    one_way, limit = (
        path.delay_s / 2,
        max(path.queue_packets, 4) if path.overflows else unseen_limit(path, mss + HEADER),
    )
    seen = (
        "the longest queueing delay, times the rate; unsure"
        if path.overflows
        else f"never seen to overflow: {UNKNOWN}"
    )
    lines = [
        f'duration = "{max(4 * busy, busy + 10):.3f} s"  # more than the transfer needs',
        "",
        "[link.path]",
        'between = ["client", "server"]',
        f'rate = "{path.rate_bps:.0f} bit/s"  # the {PLATEAU:.0%} quantile of the delivery rates; likely',
        f'delay = "{one_way * 1e6:.1f} us"  # half of the least RTT that the kernel saw; sure',
        f'queue = {{ kind = "drop-tail", limit = "{limit} packets" }}  # {seen}',
    ]
    if path.stray:
        low, high = interval(path.stray, path.packets)
        lines.append(
            f'loss = {{ kind = "packet-error", rate = {path.stray / path.packets:.3g}, direction = "client->server" }}'
            f"  # retransmitted bytes; 95 % interval {low:.3g} to {high:.3g}"
        )
    lines += [
        "",
        "[host.client.tcp]",
        f'profile = "{control.profile}"  # the kernel names the congestion control; sure',
        *control.more,
        f'mss = "{mss + 12} B"  # of the socket; sure',
    ]
    if window is not None:
        lines += [
            "",
            "[host.server.tcp]",
            'profile = "linux"',
            f'receive_window = "{window} B"  # the median of what the peer announced while it limited; likely',
            f'initial_receive_window = "{window} B"',
        ]
    lines += ["", "[[flow]]", f'app = {{ kind = "bulk", bytes = "{size} B" }}  # bytes acknowledged; sure']
    return "\n".join([*lines, 'from = "client"', 'to = "server"']) + "\n"


def _check(scenario: Scenario, busy: float, size: int, known: pl.DataFrame, resent: int) -> list[Row]:
    flow = scenario.run(seed=1).flows.row(0, named=True)
    end, rtt = flow["end_s"] or math.inf, flow["rtt_mean_s"] or 0.0
    weight = float(known["bytes_acked"].sum()) or 1.0
    polled = float((known["rtt_s"] * known["bytes_acked"]).sum()) / weight
    return [
        Row("duration", "s", busy, end, abs(end - busy) <= DURATION * busy),
        Row("goodput", "bit/s", 8 * size / busy, 8 * size / end, abs(busy / end - 1) <= DURATION),
        Row("rtt_mean", "s", polled, rtt, abs(rtt - polled) <= max(RTT * polled, 0.001)),
        Row("retransmitted", "packets", float(resent), float(flow["retransmitted"]), True),
    ]
