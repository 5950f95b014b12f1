"""The binary format of columns of numbers for the page.

A message consists of the length of its header (four bytes, little-endian), the header (JSON, padded with spaces to a
multiple of eight bytes), and the columns in order, each padded likewise. ``columns`` in the header gives the name,
type and length of each column. ``page/base/wire.js`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

TYPES = {"float64": "<f8", "float32": "<f4", "int32": "<i4", "uint8": "|u1"}
"""The types that the page can read, by name."""

ALIGNED = 8


def pack(head: Mapping[str, Any], columns: Mapping[str, Column]) -> bytes:
    """Packs a header and columns into one message.

    Args:
        head: JSON values, without NaN.
        columns: one-dimensional arrays of a type in ``TYPES``.
    """
    places = [
        {"name": name, "type": column.dtype.name, "count": len(column)} for name, column in columns.items()
    ]
    text = json.dumps({**head, "columns": places}, allow_nan=False).encode()
    # The four length bytes count, so that columns are aligned and the page can use them in place.
    text += b" " * (-(4 + len(text)) % ALIGNED)
    parts = [len(text).to_bytes(4, "little"), text]
    for column in columns.values():
        octets = np.ascontiguousarray(column, dtype=TYPES[column.dtype.name]).tobytes()
        parts.append(octets + bytes(-len(octets) % ALIGNED))
    return b"".join(parts)
