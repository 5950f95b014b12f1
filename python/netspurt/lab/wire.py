"""Columns of numbers on their way to the page, without text in between.

A message is the length of its head (four bytes, little-endian), the head (JSON, padded with spaces to a multiple of
eight bytes), and the columns behind one another, each padded likewise. The head says in ``columns`` what each column is
called, its type, and how many numbers it holds. ``page/base/wire.js`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

TYPES = {"float64": "<f8", "float32": "<f4", "int32": "<i4", "uint8": "|u1"}
"""What the page can read, by the name of its type."""

ALIGNED = 8


def pack(head: Mapping[str, Any], columns: Mapping[str, Column]) -> bytes:
    """One message of a head and columns.

    Args:
        head: what JSON can hold, without NaN.
        columns: one-dimensional, of a type in ``TYPES``.
    """
    places = [
        {"name": name, "type": column.dtype.name, "count": len(column)} for name, column in columns.items()
    ]
    text = json.dumps({**head, "columns": places}, allow_nan=False).encode()
    # The four bytes in front count, so that columns begin where the page can look at them in place.
    text += b" " * (-(4 + len(text)) % ALIGNED)
    parts = [len(text).to_bytes(4, "little"), text]
    for column in columns.values():
        octets = np.ascontiguousarray(column, dtype=TYPES[column.dtype.name]).tobytes()
        parts.append(octets + bytes(-len(octets) % ALIGNED))
    return b"".join(parts)
