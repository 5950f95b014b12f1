"""Measures a flow of a run: its duration, and the delay that it causes.

Lives here: the quantity that remedies are judged by. Must not live here: statistics over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netspurt.remedies.quantities import number

if TYPE_CHECKING:
    from netspurt.scenario import Result

QUANTITIES = {
    "transfer": "time of the transfer",
    "exchange": "time of an exchange",
    "page": "delay of a page or file",
    "endless": "time for the data of the original",
}
"""What ``seconds`` are, by the application."""


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes:
        seconds: the quantity; infinite if nothing was delivered.
        rtt_s: the mean RTT of the flow, NaN if there is no sample.
        whole: whether the flow ended; else the seconds are extrapolated.
    """

    seconds: float
    rtt_s: float
    whole: bool


@dataclass(frozen=True)
class Measure:
    """How a flow is measured: the same way with every remedy, whatever the remedy does to the application.

    Attributes:
        kind: a key of ``QUANTITIES``.
        flow: the position of the flow among those of the file.
        exchanges: exchanges of the original.
        gap_s: the pause between two exchanges, which is not counted.
        bytes: bytes of the original, all instances together.
    """

    kind: str
    flow: int
    exchanges: int
    gap_s: float
    bytes: float

    def of(self, result: Result, tree: Mapping[str, Any]) -> Measured:
        """Measures a run of a scenario with this tree."""
        columns = result.native.flows()
        counts = [int(flow.get("count", 1)) for flow in tree["flow"]]
        first = sum(counts[: self.flow])
        rows = range(first, first + counts[self.flow])
        rtts = [float(columns["rtt_mean_s"][row]) for row in rows if columns["rtt_mean_s"][row] is not None]
        rtts = [rtt for rtt in rtts if not math.isnan(rtt)]
        rtt_s = sum(rtts) / len(rtts) if rtts else math.nan
        if self.kind == "page":
            seconds = _mean_page(columns, rows)
            return Measured(seconds, rtt_s, math.isfinite(seconds))
        begin = min(float(columns["start_s"][row]) for row in rows)
        ends = [_or_nan(columns["end_s"][row]) for row in rows]
        whole = not any(map(math.isnan, ends))
        if whole:
            return Measured(self._each(max(ends) - begin), rtt_s, True)
        return Measured(self._each(self._extrapolated(columns, rows, result)), rtt_s, self.kind == "endless")

    def _each(self, seconds: float) -> float:
        return seconds / self.exchanges - self.gap_s if self.kind == "exchange" else seconds

    def _extrapolated(self, columns: Mapping[str, Any], rows: Sequence[int], result: Result) -> float:
        """The time that all the bytes would take at the goodput so far."""
        delivered = sum(float(columns["bytes_delivered"][row]) for row in rows)
        wanted = self.bytes or sum(float(columns["bytes_asked"][row] or 0) for row in rows)
        if not delivered:
            return math.inf
        duration = number(_duration(result)) or math.nan
        return wanted / delivered * (duration - min(float(columns["start_s"][row]) for row in rows))


def _mean_page(columns: Mapping[str, Any], rows: Sequence[int]) -> float:
    """The mean delay of all pages of these flows."""
    pages = [_or_nan(columns["pages"][row]) for row in rows] if "pages" in columns else []
    delays = [_or_nan(columns["page_delay_mean_s"][row]) for row in rows] if pages else []
    known = [(n, delay) for n, delay in zip(pages, delays, strict=True) if n > 0 and not math.isnan(delay)]
    if not known:
        return math.inf
    return sum(n * delay for n, delay in known) / sum(n for n, _delay in known)


def _or_nan(value: Any) -> float:
    return math.nan if value is None else float(value)


def _duration(result: Result) -> Any:
    import tomllib

    return tomllib.loads(result.scenario.merged())["duration"]


def measure_of(tree: Mapping[str, Any], flow: int, result: Result) -> Measure:
    """The measure of a flow, from the run of the original."""
    app = tree["flow"][flow]["app"]
    kind, exchanges, gap_s, octets = "transfer", 1, 0.0, 0.0
    if app["kind"] in ("web", "files"):
        kind = "page"
    elif app["kind"] == "request-response":
        kind = "page" if not isinstance(app.get("exchanges"), int) else "exchange"
        exchanges = app["exchanges"] if kind == "exchange" else 1
        gap_s = number(app.get("gap")) or 0.0
    elif app["kind"] == "bulk" and app.get("bytes") is None:
        kind = "endless"
        columns = result.native.flows()
        counts = [int(each.get("count", 1)) for each in tree["flow"]]
        first = sum(counts[:flow])
        octets = sum(float(columns["bytes_delivered"][row]) for row in range(first, first + counts[flow]))
    return Measure(kind, flow, exchanges, gap_s, octets)
