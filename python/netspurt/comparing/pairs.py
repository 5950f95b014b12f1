"""Quantities of two sets of runs in pairs.

Lives here: the matching of runs and rows. Must not live here: the statistics (``paired``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from netspurt.analysis import formats
from netspurt.analysis.paired import paired, sentence
from netspurt.errors import RequestError, nearest
from netspurt.inputs.run import Runs
from netspurt.inputs.sweep import Swept

FLOW_QUANTITIES = (
    *("goodput_bps", "end_s", "segments_sent", "retransmitted", "timeouts", "rtt_mean_s"),
    *("page_delay_median_s", "transfer_time_median_s", "slowdown_mean", "slowdown_p99"),
    *("datagram_loss", "delay_median_s", "delay_p95_s", "jitter_s", "mos"),
    *("video_rate_bps", "stalled_s"),
)
LINK_QUANTITIES = ("utilisation", "queue_mean_packets", "dropped")

Key = tuple[object, ...]
Values = dict[Key, dict[int, float]]
"""For each flow or link and quantity, the value of each seed."""


def of_runs(a: Runs, b: Runs, quantities: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each quantity of each flow's name and each link's direction; see ``row``.

    Raises:
        RequestError: there is no common seed, or neither side has the quantity.
    """
    if not (seeds := sorted(a.documents.keys() & b.documents.keys())):
        raise RequestError(f"{a.name} and {b.name} have no seed in common: pairs are runs of the same seed")
    sides = [_collected({seed: side.documents[seed] for seed in seeds}, quantities) for side in (a, b)]
    known = {str(key[-1]) for values in sides for key in values}
    for name in quantities:
        if name not in known:
            raise RequestError(f"no run has a quantity '{name}'{nearest(name, known | set(_names(a)))}")
    return _rows(sides[0], sides[1], ("of", "name", "quantity"))


def _names(runs: Runs) -> list[str]:
    return [name for document in runs.documents.values() for flow in document["flows"] for name in flow]


def _collected(documents: Mapping[int, Mapping[str, Any]], quantities: Sequence[str]) -> Values:
    found: dict[Key, dict[int, list[float]]] = {}
    for seed, document in documents.items():
        for flow in document["flows"]:
            for name in quantities or FLOW_QUANTITIES:
                _add(found, ("flow", flow["flow"], name), seed, flow.get(name))
        for link in document.get("links", []):
            whole = {**link, "dropped": sum(link.get("drops", {}).values())}
            for name in quantities or LINK_QUANTITIES:
                _add(found, ("link", f"{link['link']} {link['direction']}", name), seed, whole.get(name))
    return {key: {seed: sum(each) / len(each) for seed, each in own.items()} for key, own in found.items()}


def _add(found: dict[Key, dict[int, list[float]]], key: Key, seed: int, value: object) -> None:
    if isinstance(value, int | float) and math.isfinite(value):
        found.setdefault(key, {}).setdefault(seed, []).append(float(value))


def of_sweeps(a: Swept, b: Swept, quantities: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each common point, flow and quantity. Points match if their varied paths have equal values.

    Raises:
        RequestError: there is no common point and seed, or one side lacks the quantity.
    """
    import polars as pl

    common = [path for path in a.sweep.varied if path in b.sweep.varied]
    sides: list[Values] = []
    for side in (a.sweep, b.sweep):
        values: dict[Key, dict[int, list[float]]] = {}
        for name in quantities or ("goodput_bps",):
            if name not in side.flows.columns:
                raise RequestError(f"{side.path}: flows have no '{name}'{nearest(name, side.flows.columns)}")
            table = side.flows.with_columns(pl.col(name).cast(pl.Float64))
            for row in table.select(*common, "flow", "seed", name).iter_rows():
                _add(values, (*row[: len(common)], row[-3], name), row[-2], row[-1])
        sides.append({key: {seed: sum(v) / len(v) for seed, v in own.items()} for key, own in values.items()})
    rows = _rows(sides[0], sides[1], (*common, "name", "quantity"))
    if not rows:
        raise RequestError(
            f"{a.name} and {b.name} have no point and seed in common, so no pair of runs exists"
        )
    return rows


def _rows(a: Values, b: Values, names: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for key in a:
        seeds = sorted(a[key].keys() & b.get(key, {}).keys())
        if seeds:
            rows.append(
                row(
                    dict(zip(names, key, strict=True)), [a[key][s] for s in seeds], [b[key][s] for s in seeds]
                )
            )
    return rows


def row(key: Mapping[str, object], a: Sequence[float], b: Sequence[float]) -> dict[str, Any]:
    """A comparison as a row.

    Columns: the key, ``runs``, ``a``, ``b`` and ``difference`` (means), ``low`` and ``high`` (its 95 % interval by t),
    ``boot_low`` and ``boot_high`` (by bootstrap), ``relative``, ``effect``, ``p``, ``verdict`` and ``sentence``.
    """
    pairs = paired(a, b)
    boot = pairs.bootstrap or (None, None)
    column = str(key.get("quantity", ""))
    words = {**key, "quantity": formats.name(column)}
    label = " ".join(str(value) for name, value in words.items() if name != "of" and value != "")
    return {
        **key,
        "runs": pairs.count,
        "a": pairs.mean_a,
        "b": pairs.mean_b,
        "difference": pairs.difference,
        "low": pairs.low,
        "high": pairs.high,
        "boot_low": boot[0],
        "boot_high": boot[1],
        "relative": pairs.relative,
        "effect": pairs.effect,
        "p": pairs.p,
        "verdict": pairs.verdict,
        "sentence": sentence(pairs, label, form=partial(formats.quantity, column)),
    }
