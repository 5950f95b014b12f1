"""Numbers as text."""

from __future__ import annotations

import math

from netspurt.analysis import formats


def test_a_number_that_is_not_there_or_not_defined_is_a_dash() -> None:
    assert [formats.number(value) for value in (None, math.nan)] == ["–", "–"]
    assert [formats.number(value) for value in (math.inf, -math.inf)] == ["∞", "-∞"]
    assert formats.number(0.123456, 3) == "0.123"


def test_one_thing_is_counted_without_plural() -> None:
    assert [formats.counted(count, "packet") for count in (0, 1, 2)] == ["0 packets", "1 packet", "2 packets"]
    assert formats.counted(12345, "packet") == "12\u202f345 packets"


def test_large_numbers_have_no_exponent() -> None:
    assert [formats.plain(value) for value in (0.12345, 9999.4, 9999.6, -13816.4)] == [
        "0.1235",
        "9999",
        "10\u202f000",
        "-13\u202f816",
    ]
    assert formats.plain(-140.2, 2) == "-140"
    assert formats.quantity("segments_sent", 642_900.2) == "642\u202f900"


def test_abbreviations_in_the_name_of_a_column_have_capitals() -> None:
    assert [formats.name(column) for column in ("rtt_mean_s", "goodput_bps", "duplicate_acks")] == [
        "RTT mean",
        "goodput",
        "duplicate ACKs",
    ]


def test_how_long_a_limit_held_is_written_as_in_sentences() -> None:
    values = (12.345, 0.0804, 0.0, 2e-5, 4.25e-6)
    assert [formats.lasting(value) for value in values] == ["12.35 s", "80.4 ms", "0.0 ms", "20 µs", "4.2 µs"]
