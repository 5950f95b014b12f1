"""Replays of retransmission timers over delay records: the table of RFC 889, section 3.1, and modern quantities.

Lives here: the syntax of estimators, the columns of the table, the grid and the significance of its optimum. Must not
live here: the replay itself (native), files, printing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from netspurt.errors import RequestError

if TYPE_CHECKING:
    from netspurt import _core
    from netspurt.analysis.delay_path import DelayPath

Floats: TypeAlias = npt.NDArray[np.float64]

RULES = ("document", "connection")
"""The rules of a timer: RFC 889's, or a connection's (backoff until there is a sample, Karn's rule)."""

ESTIMATORS = ("rfc793", "rfc889", "jacobson88", "rfc6298", "linux")
"""The default estimators, each with the defaults of a scenario file."""

AXES = {
    "rfc889": "rfc889:f1=0.75..0.98/12,f2=0.5..0.95/10,g=1.25..3/8",
    "rfc793": "rfc793:alpha=0.6..0.98/20,beta=1.25..4/12",
    "rfc6298": "rfc6298:min=50..1000ms/20",
    "linux": "linux:min=20..400ms/20",
    "jacobson88": "jacobson88:tick=50..500ms/10,min_ticks=1|2|3|4",
    "tahoe": "tahoe:tick=50..500ms/10,min_ticks=1|2|3|4",
}
"""The grids of ``--grid NAME`` without parameters."""

BLOCKS = 32
"""Number of blocks of a path over which the costs of two timers are compared."""

RESAMPLES = 1000
CONFIDENCE = 0.95

LARGEST_GRID = 1_000_000


def estimator(words: str) -> _core.Estimator:
    """The estimator ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``, with keys and values as under ``tcp.rto``.

    Raises:
        RequestError: the text is invalid.
    """
    name, parameters = _split(words)
    return _make(name, [(key, _with_unit(value)) for key, value in parameters])


def _split(words: str) -> tuple[str, list[tuple[str, str]]]:
    name, _, rest = words.partition(":")
    parameters = []
    for piece in filter(None, (piece.strip() for piece in rest.split(","))):
        key, equals, value = piece.partition("=")
        if not equals:
            raise RequestError(f"'{piece}' in '{words}' is not of the form key=value")
        parameters.append((key.strip(), value.strip()))
    return name.strip(), parameters


def _make(name: str, parameters: Sequence[tuple[str, str]]) -> _core.Estimator:
    from netspurt import _core

    try:
        return _core.Estimator(name, parameters)
    except ValueError as error:
        raise RequestError(f"invalid estimator '{name}': {error}") from None


def _with_unit(value: str) -> str:
    """Converts ``50ms`` to the form of the scenario file, ``50 ms``."""
    return re.sub(r"^([\d.]+)([a-zµ]+)$", r"\1 \2", value)


def native(path: DelayPath) -> _core.Delays:
    """The path's delays as the native type for the replay."""
    from netspurt import _core

    return _core.Delays(np.ascontiguousarray(path.delay_s, dtype=np.float64))


def costs(summary: Mapping[str, float], outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the document's table, from the native results. Efficiency has full precision."""
    total_s = summary["good_s"] + outcome["lost_s"] + outcome["rtx_s"]
    return {
        "lost": int(outcome["lost"]),
        "lost_s": outcome["lost_s"],
        "rtx": int(outcome["rtx"]),
        "rtx_s": outcome["rtx_s"],
        "total_s": total_s,
        "efficiency": summary["good_s"] / total_s if total_s > 0 else None,
    }


def table(
    path: DelayPath, estimators: Sequence[tuple[str, _core.Estimator]], rules: str
) -> list[dict[str, Any]]:
    """One row per estimator, and one per bound on every estimator (``bound`` is true).

    Columns: file, host, estimator, bound, cycles, lost, lost_s, rtx, rtx_s, total_s, efficiency; mean_ms and cov (with
    a delay of zero for lost packets), received_mean_ms and received_cov (without lost ones); percentiles of the
    timeout (``rto_p5_ms`` …) and of the additional wait after a real loss (``late_p5_ms`` …).
    All times are one way.
    """
    delays = native(path)
    summary = delays.summary()
    common = {"file": path.file, "host": path.host, "cycles": int(summary["cycles"])}
    moments = {
        "mean_ms": 1e3 * summary["mean_s"],
        "cov": _finite(summary["cov"]),
        "received_mean_ms": _finite(1e3 * summary["received_mean_s"]),
        "received_cov": _finite(summary["received_cov"]),
    }
    rows = []
    for name, each in estimators:
        outcome = delays.replay(each, rules)
        percentiles = {
            f"{key[:-2]}_ms": None if value is None else 1e3 * value
            for key, value in outcome.items()
            if key.startswith(("rto_", "late_"))
        }
        rows.append(
            {**common, "estimator": name, "bound": False, **costs(summary, outcome), **moments, **percentiles}
        )
    for name, outcome in delays.bounds().items():
        row = {**common, "estimator": BOUNDS[name], "bound": True, **costs(summary, outcome), **moments}
        if "rto_s" in outcome:
            row["rto_p50_ms"] = 1e3 * outcome["rto_s"]
        rows.append(row)
    return rows


BOUNDS = {"oracle": "oracle", "constant": "best constant"}
"""Each timeout equal to the delay; and the best constant timeout. Both are chosen in hindsight."""


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class Axis:
    """One parameter of a grid and its values, as texts and as numbers."""

    key: str
    texts: tuple[str, ...]

    @property
    def numbers(self) -> Floats:
        """The values without their units."""
        return np.array([float(re.match(r"[\d.eE+-]+", text)[0]) for text in self.texts])  # type: ignore[index]

    @property
    def unit(self) -> str:
        """The unit of the values, or an empty string."""
        return re.sub(r"^[\d.eE+-]+\s*", "", self.texts[0])


@dataclass(frozen=True)
class GridSpec:
    """A family of estimators: every combination of the axes' values, the last axis varying fastest."""

    name: str
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values on each axis."""
        return tuple(len(axis.texts) for axis in self.axes)

    def points(self) -> list[dict[str, str]]:
        """The parameters of each estimator, in order."""
        keys = [axis.key for axis in self.axes]
        return [
            dict(zip(keys, values, strict=True)) for values in product(*(axis.texts for axis in self.axes))
        ]

    def estimators(self) -> list[_core.Estimator]:
        """The estimators of the grid.

        Raises:
            RequestError: the estimator rejects a value.
        """
        return [_make(self.name, list(point.items())) for point in self.points()]


def grid_spec(words: str) -> GridSpec:
    """``NAME`` or ``NAME:KEY=LOW..HIGH/COUNT,KEY=A|B|C``.

    Raises:
        RequestError: the text is invalid.
    """
    if words in AXES:
        words = AXES[words]
    name, parameters = _split(words)
    if not parameters:
        known = ", ".join(AXES)
        raise RequestError(
            f"a grid of '{name}' needs parameters, such as {name}:key=low..high/count (by name alone: {known})"
        )
    axes = tuple(Axis(key, _values(key, value)) for key, value in parameters)
    spec = GridSpec(name, axes)
    if np.prod(spec.shape, dtype=float) > LARGEST_GRID:
        raise RequestError(f"the grid has more than {LARGEST_GRID:,} points")
    return spec


def _values(key: str, words: str) -> tuple[str, ...]:
    ranged = re.fullmatch(r"([\d.]+)\.\.([\d.]+?)\s*([a-zµ]*)/(\d+)", words)
    if not ranged:
        return tuple(_with_unit(value.strip()) for value in words.split("|"))
    low, high, unit, count = ranged.groups()
    try:
        values = np.linspace(float(low), float(high), max(int(count), 1))
    except ValueError:
        raise RequestError(f"{key}={words} is not a range: write {key}=low..high/count") from None
    return tuple(
        _with_unit(f"{round(float(value), 6):.6f}".rstrip("0").rstrip(".") + unit) for value in values
    )


@dataclass(frozen=True)
class Surface:
    """A replay of a grid over one path.

    ``efficiency`` and ``alike`` have the shape of the grid. ``alike`` marks the estimators whose cost does not differ
    significantly from the best one's: the 95 % bootstrap interval of the difference over blocks includes zero.
    """

    spec: GridSpec
    efficiency: Floats
    alike: npt.NDArray[np.bool_]
    best: tuple[int, ...]

    @property
    def best_point(self) -> dict[str, str]:
        """The parameters with the lowest cost."""
        return {axis.key: axis.texts[at] for axis, at in zip(self.spec.axes, self.best, strict=True)}

    def neighbours(self) -> list[tuple[int, ...]]:
        """The indices one step from the best along one axis."""
        found = []
        for axis, size in enumerate(self.spec.shape):
            for at in (self.best[axis] - 1, self.best[axis] + 1):
                if 0 <= at < size:
                    found.append((*self.best[:axis], at, *self.best[axis + 1 :]))
        return found

    def statement(self, over: str = f"{BLOCKS} blocks of the path") -> str:
        """Whether the optimum is significant, as a sentence; ``over`` names the resampled units."""
        where = ", ".join(f"{key} = {text}" for key, text in self.best_point.items())
        near = self.neighbours()
        same = sum(bool(self.alike[place]) for place in near)
        if same == 0:
            verdict = f"differs significantly from all of its {len(near)} neighbours"
        else:
            verdict = (
                f"does not differ significantly from {same} of its {len(near)} neighbours, nor from "
                f"{self.alike.mean():.0%} of the grid"
            )
        at_edge = [
            axis.key
            for axis, at in zip(self.spec.axes, self.best, strict=True)
            if len(axis.texts) > 1 and at in (0, len(axis.texts) - 1)
        ]
        edge = f" It lies at the edge of the grid in {' and '.join(at_edge)}." if at_edge else ""
        return (
            f"{self.spec.name} with {where} wastes least: efficiency {self.efficiency[self.best]:.3f}. It "
            f"{verdict} (95 %, bootstrap over {over}).{edge}"
        )


def surface(path: DelayPath, spec: GridSpec, rules: str, threads: int = 1, seed: int = 1) -> Surface:
    """Replays a grid and marks the estimators that do not differ significantly from the best one.

    Args:
        path: the delays.
        spec: the grid.
        rules: one of ``RULES``.
        threads: number of threads; results do not depend on it.
        seed: seed of the bootstrap.

    Raises:
        RequestError: the estimator rejects a value.
    """
    delays = native(path)
    blocks = min(BLOCKS, len(delays))
    columns = delays.grid(spec.estimators(), rules, blocks, threads)
    wasted = (columns["lost_s"] + columns["rtx_s"]).reshape(-1, blocks)
    good_s = delays.summary()["good_s"]
    whole = wasted.sum(axis=1)
    best = int(whole.argmin())
    efficiency = good_s / np.maximum(good_s + whole, np.finfo(float).tiny)
    return Surface(
        spec,
        efficiency.reshape(spec.shape),
        alike(wasted, best, seed).reshape(spec.shape),
        tuple(int(at) for at in np.unravel_index(best, spec.shape)),
    )


def alike(wasted: Floats, best: int, seed: int = 1) -> npt.NDArray[np.bool_]:
    """Marks the rows that do not differ significantly from row ``best``: paired bootstrap over the columns.

    Args:
        wasted: cost by estimator and block, shape (estimators, blocks).
        best: index of the best row.
        seed: seed of the resampling.
    """
    blocks = wasted.shape[1]
    weights = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1.0 / blocks), size=RESAMPLES)
    more = (wasted - wasted[best]) @ weights.T.astype(np.float64)
    low = np.percentile(more, 50.0 * (1.0 - CONFIDENCE), axis=1)
    return np.asarray(low <= 1e-12 * max(float(wasted.sum(axis=1).max()), 1e-300))
