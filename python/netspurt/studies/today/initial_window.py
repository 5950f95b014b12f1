"""RFC 6928, section 5.1: round trips of short transfers with initial windows of 3 and 10 segments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Picture, Table
from netspurt.studies.today.setting import cell, curves_picture, published
from netspurt.studies.verdict import PrintedDigits

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "first_rounds.toml"
RTT_S = 0.010
MSS_BYTES = 536
WINDOWS = (3, 10)
ALSO = 4
"""The window of RFC 3390 for such segments, which the document replaces: shown without published numbers."""
EXAMPLE = 32
"""The transfer of the text below the table: 5 and 2 round trips."""
_BAR_REASON = "counts of round trips on a path without loss are exact"
_SLIP = (
    "the text below the table contradicts the table: two round trips carry at most 25 segments with an ACK for every "
    "second segment, and 30 with an ACK for each"
)
_CHECK = (
    "32 segments need three round trips with IW 10, with and without delayed ACKs, where the text of RFC "
    "6928 has two"
)


def rounds_of(run: _core.Run) -> float:
    """Round trips that carry data: the last byte arrives half an RTT after the last round began."""
    flows = run.flows()
    elapsed_s = float(flows["delivered_s"][0]) - float(flows["start_s"][0])
    # One RTT for the handshake, half of one for the last segment.
    return elapsed_s / RTT_S - 0.5


def slow_start_rounds(segments: int, window: int) -> int:
    """The document's model by hand: each round sends what the ACKs of the last one permit.

    An ACK for every second segment permits one more than it acknowledges. A segment that waits for a partner
    stays in flight.
    """
    cwnd, sent, waiting, rounds = window, 0, 0, 0
    while sent < segments:
        burst = min(cwnd - waiting, segments - sent)
        sent, rounds = sent + burst, rounds + 1
        acks, waiting = divmod(waiting + burst, 2)
        cwnd += acks
    return rounds


class InitialWindow:
    """All 26 cells of the table, and the example of the text."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One run for each cell: there is no randomness."""
        for window in (*WINDOWS, ALSO):
            for segments in (*_sizes(), EXAMPLE):
                yield _experiment(window, segments)
        yield _experiment(10, EXAMPLE, acking="every-segment")

    def evaluate(self, samples: Samples) -> Findings:
        """The table, its picture, and whether the example of the text holds."""
        table = Table(
            "rfc6928",
            "RFC 6928, section 5.1: round trips of a transfer",
            tuple(_cells(samples)),
            note=(
                "Source: RFC 6928, section 5.1; the published numbers are a formula (slow start without loss). The "
                "null "
                "model is slow start that doubles each round, as without delayed ACKs. IW 4 has no published numbers."
            ),
        )
        return Findings(tables=(table,), checks=(_example(samples),), pictures=(_picture(table),))


def _experiment(window: int, segments: int, acking: str | None = None) -> Experiment:
    more = {} if acking is None else {"tcp.acking": acking}
    return Experiment(
        key=_key(window, segments, acking),
        scenario=SCENARIO,
        settings={
            "tcp.initial_window": f"{window} segments",
            "flow.0.app.bytes": f"{segments * MSS_BYTES} B",
            **more,
        },
        measure=rounds_of,
    )


def _key(window: int, segments: int, acking: str | None = None) -> Key:
    return ("rfc6928", f"iw{window}", segments, acking or "delayed")


def _sizes() -> list[int]:
    return [int(line["segments"]) for line in published("rfc6928_round_trips.csv")]


def doubling_rounds(segments: int, window: int) -> int:
    """The null model: the window doubles in each round."""
    rounds = 1
    while window * (2**rounds - 1) < segments:
        rounds += 1
    return rounds


def _cells(samples: Samples) -> Iterable[Cell]:
    printed = {int(line["segments"]): line for line in published("rfc6928_round_trips.csv")}
    for window in (*WINDOWS, ALSO):
        for segments in sorted((*printed, EXAMPLE)):
            value: float | None = None
            if segments in printed and window in WINDOWS:
                value = float(printed[segments][f"iw{window}"])
            elif segments == EXAMPLE and window in WINDOWS:
                value = {3: 5.0, 10: 2.0}[window]
            slip = segments == EXAMPLE and window == 10
            yield cell(
                {"initial_window": window, "segments": segments},
                "round_trips",
                "round trips",
                value,
                samples.all(_key(window, segments)),
                origin="formula",
                bar=None if slip or value is None else PrintedDigits(0),
                bar_reason=_BAR_REASON,
                decimals=0,
                null=doubling_rounds(segments, window),
                reason=_SLIP
                if slip
                else ""
                if value is not None
                else "the document prints no numbers for IW 4",
            )


def _example(samples: Samples) -> Check:
    every, delayed = (
        samples.one(_key(10, EXAMPLE, "every-segment"), float),
        samples.one(_key(10, EXAMPLE), float),
    )
    if every is None or delayed is None:
        return Check(_CHECK, None)
    holds = round(every) == 3 and round(delayed) == 3
    return Check(_CHECK, holds, f"{every:.2f} and {delayed:.2f} round trips")


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="segments",
        by=("initial_window",),
        x=Axis("transfer (segments)", "segments"),
        y=Axis("round trips", "round_trips"),
        caption="Round trips of a transfer against its length, for initial windows of 3, 4 and 10 segments.",
    )
