"""Overrides given in Python reach the scenario as TOML that reads back the same."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netspurt.settings import overrides, toml

scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)


@given(
    st.one_of(scalars, st.lists(scalars), st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), scalars))
)
def test_every_value_reads_back_the_same(value: object) -> None:
    assert tomllib.loads(f"value = {toml(value)}")["value"] == value  # type: ignore[arg-type]


def test_tables_become_inline_tables() -> None:
    assert toml({"kind": "bit-error", "rate": 1e-7}) == '{ kind = "bit-error", rate = 1e-07 }'


def test_numpy_numbers_are_numbers() -> None:
    assert toml(np.float64(0.5)) == "0.5"
    assert toml(np.int64(7)) == "7"  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, b"bytes", float("nan"), object()])
def test_what_toml_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="scenario"):
        toml(value)  # type: ignore[arg-type]


def test_overrides_keep_their_order() -> None:
    assert overrides({"b": 1, "a": "300 ms"}) == [("b", "1"), ("a", '"300 ms"')]
