"""Comparison of two captures.

Lives here: the quantities of a capture. Must not live here: packet analysis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netspurt.analysis.statistics import Quantile, quantile_interval

if TYPE_CHECKING:
    from netspurt.analysis.capture import Capture

COUNTS = (
    "segments",
    "bytes",
    "retransmitted",
    "spurious",
    "reordered",
    "duplicate_acks",
    "zero_windows",
    "marked",
)


def rows(a: Capture, b: Capture) -> list[dict[str, Any]]:
    """One row for each quantity.

    Columns: ``quantity``, ``a``, ``b``, ``relative``, and where it exists the 95 % interval of each (``a_low``,
    ``a_high``, ``b_low``, ``b_high``). The intervals of RTTs treat each sample as independent. Neighbouring samples
    are not independent, so these intervals are too narrow.
    """
    sides = [_quantities(capture) for capture in (a, b)]
    table = []
    for name in sides[0]:
        first, second = sides[0][name], sides[1][name]
        row: dict[str, Any] = {"quantity": name, "a": _value(first), "b": _value(second)}
        row["relative"] = row["b"] / row["a"] - 1 if row["a"] and row["b"] is not None else None
        for letter, each in (("a", first), ("b", second)):
            low, high = each.interval if isinstance(each, Quantile) and each.interval else (None, None)
            row |= {f"{letter}_low": low, f"{letter}_high": high}
        table.append(row)
    return table


def _value(what: float | Quantile | None) -> float | None:
    return what.value if isinstance(what, Quantile) else what


def _quantities(capture: Capture) -> dict[str, float | Quantile | None]:
    import polars as pl

    streams, samples = capture.streams, capture.samples
    carrying = streams.filter(pl.col("bytes") > 0)
    found: dict[str, float | Quantile | None] = {"connections": float(capture.connections.height)}
    found |= {name: float(streams[name].sum()) for name in COUNTS if name in streams.columns}
    found["retransmitted_share"] = found["retransmitted"] / found["segments"] if found["segments"] else None  # type: ignore[operator]  # counts are numbers
    goodputs = carrying["goodput_bps"].drop_nulls().to_list()
    found["goodput_median_bps"] = quantile_interval(goodputs, 50) if goodputs else None
    karn = samples.filter(pl.col("method") == "karn")["rtt_s"].to_list()
    for name, percent in (("rtt_median_s", 50.0), ("rtt_p95_s", 95.0)):
        found[name] = quantile_interval(karn, percent) if karn else None
    return found
