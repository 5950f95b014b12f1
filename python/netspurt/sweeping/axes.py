"""The axes of a sweep: lists of values, ranges, and samples.

Lives here: the conversion of axes to points, by arithmetic alone. Must not live here: scenarios, files.

Samples are equal on every machine and with every version of every library: they come from Python's
``random.Random.random``, the one generator whose sequence is guaranteed not to change.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from netspurt.errors import RequestError
from netspurt.settings import Value

WHOLE_UNITS = ("packets", "packet", "p", "pkt", "pkts", "segments", "segment", "B")
"""Units of whole numbers only."""

Scale = Literal["linear", "log"]
SCALES: tuple[Scale, ...] = ("linear", "log")

Point: TypeAlias = "dict[str, Value]"
"""Dotted path to value: one combination of the varied values."""


@dataclass(frozen=True)
class Range:
    """All values from ``low`` to ``high``, both in ``unit`` (empty for a bare number)."""

    low: float
    high: float
    unit: str = ""
    scale: Scale = "linear"
    whole: bool = False

    def at(self, fraction: float) -> Value:
        """The value at a fraction of the range, 0 to 1; with twelve digits, so that 0.1 + 0.2 gives 0.3."""
        if self.scale == "log":
            value = math.exp(math.log(self.low) + fraction * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + fraction * (self.high - self.low)
        number: int | float = float(f"{value:.12g}")
        if self.whole:
            number = round(number)
        return f"{number:.12g} {self.unit}" if self.unit else number

    def steps(self, count: int) -> list[Value]:
        """This many values, evenly spaced on the range's scale, including both ends; duplicates are removed."""
        fractions = [step / (count - 1) for step in range(count)] if count > 1 else [0.0]
        return _once([self.at(fraction) for fraction in fractions])


@dataclass(frozen=True)
class Choice:
    """One of several values."""

    values: tuple[Value, ...]

    def at(self, fraction: float) -> Value:
        """The value at a fraction of the list, 0 to 1."""
        return self.values[min(int(fraction * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Sample:
    """Random points: each axis independently, or as a Latin hypercube.

    In a Latin hypercube of n points (McKay, Beckman and Conover 1979) every axis is divided into n equal parts, and
    each part contains one point.
    """

    kind: Literal["random", "latin-hypercube"]
    count: int
    seed: int
    over: Mapping[str, Range | Choice]

    def points(self) -> list[Point]:
        """The ``count`` points."""
        columns = {path: self._fractions(path) for path in self.over}
        return [
            {path: axis.at(columns[path][row]) for path, axis in self.over.items()}
            for row in range(self.count)
        ]

    def _fractions(self, path: str) -> list[float]:
        # Each axis has its own stream: another axis does not change its values.
        stream = random.Random(f"{self.seed}/{path}")
        places = [stream.random() for _ in range(self.count)]
        if self.kind == "random":
            return places
        keys = [stream.random() for _ in range(self.count)]
        parts = sorted(range(self.count), key=keys.__getitem__)
        return [(part + place) / self.count for part, place in zip(parts, places, strict=True)]


def random_sample(over: Mapping[str, object], count: int, seed: int = 1) -> Sample:
    """Random points; each axis is a list to choose from, or a pair ``(low, high)`` or range.

    Raises:
        RequestError: no axes, an empty one, or a count below 1.
    """
    return _sample("random", over, count, seed)


def latin_hypercube(over: Mapping[str, object], count: int, seed: int = 1) -> Sample:
    """Points of a Latin hypercube; axes as for ``random_sample``.

    Raises:
        RequestError: no axes, an empty one, or a count below 1.
    """
    return _sample("latin-hypercube", over, count, seed)


def _sample(
    kind: Literal["random", "latin-hypercube"], over: Mapping[str, object], count: int, seed: int
) -> Sample:
    if count < 1:
        raise RequestError(f"a sample of {count} points is empty: the count must be at least 1")
    if not over:
        raise RequestError("a sample needs at least one path")
    axes: dict[str, Range | Choice] = {}
    for path, what in over.items():
        pair = {"from": what[0], "to": what[1]} if isinstance(what, tuple) and len(what) == 2 else what
        axes[path] = spread(path, pair) if isinstance(pair, Mapping) else Choice(listed(path, pair))
    return Sample(kind, count, seed, axes)


def grid(axes: Mapping[str, object]) -> list[Point]:
    """Every combination of the values of all axes, the last axis fastest.

    Args:
        axes: path to a list of values, or to ``{"from": …, "to": …, "count": …, "scale": "linear" or "log"}``.

    Raises:
        RequestError: an axis without values, or an invalid range.
    """
    columns = {path: _values(path, axis) for path, axis in axes.items()}
    return [dict(zip(columns, row, strict=True)) for row in itertools.product(*columns.values())]


def _values(path: str, axis: object) -> Sequence[Value]:
    if not isinstance(axis, Mapping):
        return listed(path, axis)
    count = axis.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise RequestError(f"{path}: a range in a grid needs a count of at least 1, not {count!r}")
    return spread(path, {key: value for key, value in axis.items() if key != "count"}).steps(count)


def listed(path: str, values: object) -> tuple[Value, ...]:
    """The values of a listed axis, without duplicates.

    Raises:
        RequestError: the list is empty or not a list.
    """
    if isinstance(values, str | Mapping) or not isinstance(values, Sequence):
        raise RequestError(f"{path}: {values!r} is neither a list of values nor a range with 'from' and 'to'")
    if not values:
        raise RequestError(f"{path}: the list is empty; give at least one value")
    return tuple(_once(values))


def spread(path: str, words: Mapping[str, object]) -> Range:
    """A range from its keys.

    Raises:
        RequestError: missing ends, ends with different units, or an unknown key.
    """
    unknown = [word for word in words if word not in ("from", "to", "scale")]
    if unknown or "from" not in words or "to" not in words:
        what = f"has no key '{unknown[0]}'" if unknown else "needs 'from' and 'to'"
        raise RequestError(f"{path}: a range {what}; its keys are from, to, scale, and in a grid count")
    scale = words.get("scale", "linear")
    if scale not in SCALES:
        raise RequestError(f"{path}: the scale of a range must be linear or log, not {scale!r}")
    (low, unit), (high, other) = _quantity(path, words["from"]), _quantity(path, words["to"])
    if unit != other:
        raise RequestError(
            f"{path}: both ends of a range must have the same unit, not '{unit}' and '{other}'"
        )
    if scale == "log" and min(low, high) <= 0:
        raise RequestError(f"{path}: a logarithmic range must be above 0")
    bare = isinstance(words["from"], int) and isinstance(words["to"], int)
    return Range(low, high, unit, scale, whole=bare or unit in WHOLE_UNITS)


def _quantity(path: str, value: object) -> tuple[float, str]:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value), ""
    found = re.fullmatch(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)?\s*", str(value))
    if found is None or isinstance(value, bool):
        raise RequestError(
            f"{path}: {value!r} is not the end of a range: give a number, or text such as '10 ms'"
        )
    return float(found[1]), found[2] or ""


def _once(values: Sequence[Value]) -> list[Value]:
    seen: list[Value] = []
    keys: set[tuple[str, str]] = set()
    for value in values:
        if (key := (type(value).__name__, repr(value))) not in keys:
            keys.add(key)
            seen.append(value)
    return seen


def combined(parts: Sequence[Sequence[Point]]) -> Iterator[Point]:
    """Every combination of one point of each part; without parts, one point that changes nothing."""
    for chosen in itertools.product(*parts):
        yield {path: value for point in chosen for path, value in point.items()}
