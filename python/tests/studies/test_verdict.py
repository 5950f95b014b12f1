"""Verdicts, bars, and the JSON shape that scripts rely on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netspurt.studies import words
from netspurt.studies.model import Cell, Check, Findings, StudyResult, Table, gather
from netspurt.studies.verdict import (
    Fraction,
    PrintedDigits,
    PublishedInBand,
    Range,
    deviation,
    judge,
    prints_alike,
    within_fraction,
)


@pytest.mark.parametrize(
    ("published", "measured", "decimals", "alike"),
    [
        (28.64, 28.64179, 2, True),
        (28.64, 28.6451, 2, False),
        (0.97, 0.9731, 2, True),
        (94, 94.4999, 0, True),
        (94, 94.5001, 0, False),
    ],
)
def test_exact_means_the_same_text_when_printed(
    published: float, measured: float, decimals: int, alike: bool
) -> None:
    assert prints_alike(published, measured, decimals) is alike
    expected = "exact" if alike else "outside"
    assert judge(published, measured, decimals, PrintedDigits(decimals)) == expected


def test_a_deviation_of_exactly_the_bar_is_inside() -> None:
    assert within_fraction(100.0, 105.0, 0.05)
    assert within_fraction(100.0, 95.0, 0.05)
    assert not within_fraction(100.0, 105.01, 0.05)


def test_fraction_bar() -> None:
    assert judge(100, 104.0, 0, Fraction(0.05)) == "within bar"
    assert judge(100, 106.0, 0, Fraction(0.05)) == "outside"


def test_band_bar_tests_the_place_of_the_published_value() -> None:
    assert judge(53, 47.0, 0, PublishedInBand(), (40.0, 55.0)) == "within bar"
    assert judge(60, 47.0, 0, PublishedInBand(), (40.0, 55.0)) == "outside"
    assert judge(60, 47.0, 0, PublishedInBand(), None) == "outside"


def test_range_bar_needs_no_published_number() -> None:
    assert judge(None, 93.0, None, Range(91.0, 95.0, "91–95 %")) == "within bar"
    assert judge(None, 96.0, None, Range(91.0, 95.0, "91–95 %")) == "outside"


def test_without_bar_or_number_there_is_no_judgement() -> None:
    assert judge(50, 60.0, 0, None) == "not comparable"
    assert judge(50, None, 0, Fraction(0.05)) == "not run"


@given(st.floats(0.01, 1e6), st.floats(0.0, 1e6), st.floats(0.0, 1.0))
def test_a_wider_bar_never_turns_a_cell_outside(published: float, measured: float, fraction: float) -> None:
    if judge(published, measured, None, Fraction(fraction)) == "within bar":
        assert judge(published, measured, None, Fraction(fraction * 2)) == "within bar"


def test_deviation_is_relative_and_none_without_numbers() -> None:
    assert deviation(28.64, 28.64179) == pytest.approx(0.0000625, abs=1e-7)
    assert deviation(None, 1.0) is None
    assert deviation(0.0, 1.0) is None


def _cell(measured: float | None, allowance: bool = False) -> Cell:
    return Cell(
        row={"line_rate": "1 Tbit/s", "window_scaling": True},
        quantity="transmission_time",
        unit="us",
        published=28.64,
        measured=measured,
        decimals=2,
        bar=PrintedDigits(2),
        allowance=allowance,
    )


def test_cell_has_the_documented_json_shape() -> None:
    shape = json.loads(json.dumps(_cell(28.64179).as_json()))
    assert shape.pop("deviation") == pytest.approx(0.00006, abs=1e-5)
    assert shape == {
        "row": {"line_rate": "1 Tbit/s", "window_scaling": True},
        "quantity": "transmission_time",
        "unit": "us",
        "published": 28.64,
        "measured": 28.64179,
        "interval": None,
        "role": "predicted",
        "bar": "printed digits",
        "verdict": "exact",
        "runs": 1,
    }


def _study(*cells: Cell, checks: tuple[Check, ...] = ()) -> StudyResult:
    findings = Findings((Table("table1", "Table I", cells),), checks)
    return StudyResult("terabit", "t", "d", "a", 1.9, findings)


def test_study_has_the_documented_json_shape() -> None:
    shape = _study(_cell(28.64179), checks=(Check("it holds", True),)).as_json()
    assert shape["study"] == "terabit"
    assert shape["seconds"] == 1.9
    assert shape["tables"][0]["table"] == "table1"
    assert shape["checks"][0] == {"check": "it holds", "holds": True, "found": ""}


def test_a_cell_outside_its_bar_makes_a_study_fall_short() -> None:
    assert not _study(_cell(28.64179)).falls_short
    assert _study(_cell(29.0)).falls_short


def test_where_a_column_may_miss_some_cells_the_check_decides() -> None:
    lenient = _cell(29.0, allowance=True)
    assert lenient.verdict == "outside"
    assert not _study(lenient).falls_short
    assert _study(lenient, checks=(Check("8 of 9", False),)).falls_short


def test_what_was_not_run_does_not_fall_short() -> None:
    assert not _study(_cell(None), checks=(Check("8 of 9", None),)).falls_short


def test_parts_are_gathered_in_order() -> None:
    whole = gather([Findings(notes=("one",)), Findings(notes=("two",))])
    assert whole.notes == ("one", "two")


def test_an_interval_ends_at_zero_where_the_quantity_does() -> None:
    cell = Cell({}, "rtx_time", "s", None, 0.4, interval=(-0.1, 0.9))
    assert cell.as_json()["interval"] == [0.0, 0.9]
    assert words.interval(cell) == "0–0.9"
    signed = Cell({}, "live decrease", "%", None, 0.4, interval=(-0.1, 0.9))
    assert signed.as_json()["interval"] == [-0.1, 0.9]
