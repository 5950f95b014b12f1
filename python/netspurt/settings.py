"""Values of Python as values of TOML.

Lives here: how an override given in Python is written down for the scenario parser, which reads TOML.
Must not live here: any knowledge of which keys exist; the types in Rust are the only schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from netspurt import algorithms

Value: TypeAlias = "str | bool | int | float | type | Sequence[Value] | Mapping[str, Value]"
"""What an override may be: a string with its unit, a bare number, a truth value, a list or a table; or a class, where a
scenario may name one of the user's own."""


def toml(value: Value) -> str:
    """The TOML text of a value; tables become inline tables.

    Raises:
        TypeError: a value that TOML has no form for (None, bytes, …), or a float that is not finite.
    """
    if (name := algorithms.written(value)) is not None:
        return json.dumps(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Every JSON string is a TOML basic string, save that TOML wants DEL escaped as well.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if hasattr(value, "item") and not isinstance(value, Mapping | Sequence):
        return toml(value.item())  # a numpy scalar
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"a scenario has no place for {value}")
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {toml(item)}" for key, item in value.items())
        return "{ " + inner + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    raise TypeError(f"a scenario cannot hold a {type(value).__name__}: {value!r}")


def overrides(settings: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Pairs of dotted path and TOML text, in the order given (a later one sees what an earlier one set)."""
    return [(path, toml(value)) for path, value in settings.items()]
