"""Reduces the number of points without a visible change at a width of about a thousand pixels.

Lives here: the choice of points. Must not live here: drawing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def thin(x: Floats, y: Floats, buckets: int) -> npt.NDArray[np.int64]:
    """Chooses points so that the plot keeps its shape and every extreme (Jugel et al., "M4", VLDB 2014).

    The width of ``x`` is divided into equal buckets. In each bucket the first and the last point stay, and those with
    the smallest and the largest ``y``: a line through these covers the same pixels as the line through all, if a bucket
    is at most a pixel wide. NaN in ``y`` interrupts a line; the first of each run of NaN stays.

    Args:
        x: ascending, without NaN, shape (n,).
        y: shape (n,).
        buckets: at least 1.

    Returns:
        The indices that stay, ascending; all of them if there are no more than 4 per bucket.
    """
    if x.size <= 4 * buckets:
        return np.arange(x.size)
    width = float(x[-1] - x[0])
    number = np.zeros(x.size, dtype=np.int64)
    if width > 0:
        number = np.minimum(((x - x[0]) / width * buckets).astype(np.int64), buckets - 1)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = np.append(starts[1:], x.size) - 1
    gap = np.isnan(y)
    kept = [starts, ends, _first_of(np.where(gap, np.inf, y), starts, np.minimum)]
    kept.append(_first_of(np.where(gap, -np.inf, y), starts, np.maximum))
    if gap.any():
        kept.append(np.flatnonzero(gap & ~np.concatenate(([False], gap[:-1]))))
    return np.unique(np.concatenate(kept))


def _first_of(y: Floats, starts: npt.NDArray[np.int64], extreme: Any) -> npt.NDArray[np.int64]:
    """In each bucket, the first point with the extreme value."""
    lengths = np.diff(np.append(starts, y.size))
    best = np.repeat(extreme.reduceat(y, starts), lengths)
    hits = np.flatnonzero(y == best)
    bucket = np.searchsorted(starts, hits, side="right")
    return hits[np.flatnonzero(np.diff(bucket, prepend=-1))]


def corners(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Marks the points where a staircase changes, and its ends: it needs no points between them."""
    changed = np.ones(values.shape, dtype=bool)
    changed[1:-1] = np.diff(values)[:-1] != 0
    return changed
