"""Python values as TOML values.

Lives here: the conversion of an override given in Python into TOML, which the scenario parser reads.
Must not live here: knowledge of which keys exist; the types in Rust are the only schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from netspurt import algorithms

Value: TypeAlias = "str | bool | int | float | type | Sequence[Value] | Mapping[str, Value]"
"""The values of an override: a string with its unit, a bare number, a boolean, a list or a table; or a class, where a
scenario accepts an algorithm written in Python."""


def toml(value: Value) -> str:
    """The TOML text of a value; a mapping becomes an inline table.

    Raises:
        TypeError: TOML has no form for the value (None, bytes, …), or a float is not finite.
    """
    if (name := algorithms.written(value)) is not None:
        return json.dumps(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Every JSON string is a TOML basic string, except that TOML requires DEL to be escaped as well.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if hasattr(value, "item") and not isinstance(value, Mapping | Sequence):
        return toml(value.item())  # a numpy scalar
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"a scenario cannot hold the number {value}: it must be finite")
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {toml(item)}" for key, item in value.items())
        return "{ " + inner + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    raise TypeError(f"a scenario cannot hold a {type(value).__name__}: {value!r}")


def several(names: str | Sequence[str]) -> list[str]:
    """A list of names; one name may stand for a list of one."""
    return [names] if isinstance(names, str) else list(names)


def overrides(settings: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Pairs of dotted path and TOML text, in the given order; a later override applies after an earlier one.

    Raises:
        TypeError: the settings are no mapping, or a value is none that TOML can hold.
    """
    if not isinstance(settings, Mapping):
        raise TypeError(
            f'settings are a mapping such as {{"tcp.congestion": "bbr"}}, not {type(settings).__name__}'
        )
    return [(path, toml(value)) for path, value in settings.items()]
