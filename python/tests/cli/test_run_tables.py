"""What ``netspurt run`` prints for people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import netspurt as ns
from netspurt.analysis import formats
from netspurt.cli import main, progress
from netspurt.cli.views.run_tables import queueing_delay_s

PATH = ["run", "--rate", "10mbit", "--delay", "40ms", "--queue", "100p"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.04453e6, "1.04 Mbit/s"),
        (940_000.0, "940 kbit/s"),
        (0.0, "0 bit/s"),
        (999_600, "1 Mbit/s"),
        (12.0, "12 bit/s"),
        (None, "–"),
    ],
)
def test_rates_have_units(value: float | None, text: str) -> None:
    assert formats.rate(value) == text


def test_sizes_and_times_have_units() -> None:
    assert formats.size(8_388_608) == "8.39 MB"
    assert formats.size(0) == "0 B"
    assert [formats.span(each) for each in (64.2481, 0.664, 12.3e-6, 0.0, 3600.0)] == [
        "64.2 s",
        "664 ms",
        "12.3 µs",
        "0 s",
        "3600 s",
    ]
    assert formats.quantity("goodput_bps", 2e6) == "2 Mbit/s"
    assert formats.quantity("timeouts", 2.5) == "2.5"


def test_a_run_is_shown_with_units_and_queueing_delay(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PATH, "-n", "2MB"]) == 0
    out = capsys.readouterr().out
    assert "goodput_bps" not in out
    assert "Mbit/s" in out
    assert "queueing delay  95 %" in out


def test_the_95th_percentile_of_a_long_run_is_shown_where_its_queues_are_recorded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = ["run", "--rate", "10gbit", "--delay", "1ms", "-t", "0.4"]
    assert main(path) == 0
    assert "95 %" not in capsys.readouterr().out
    assert main([*path, "--trace", str(tmp_path / "x.parquet")]) == 0
    assert "95 %" in capsys.readouterr().out


def test_the_mean_queueing_delay_is_what_the_round_trip_has_beyond_the_path() -> None:
    # A window of 100 segments on a path of 10 Mbit/s: the round trip is the time that 100 packets take.
    scenario = ns.parse(
        """duration = "20 s"
        [tcp]
        profile = "reno"
        acking = "every-segment"
        send_window = "40 segments"
        [link.path]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "10 ms"
        [[flow]]
        app = { kind = "bulk" }
        from = "a"
        to = "b"
        """
    )
    whole = json.loads(scenario.run().json())
    delay_s = queueing_delay_s(whole["links"][0], whole["active_s"])
    assert delay_s is not None
    service_s = 1500 * 8 / 10e6
    acknowledged_s = whole["flows"][0]["rtt_mean_s"] - 0.020 - 40 * 8 / 10e6 - service_s
    assert delay_s == pytest.approx(acknowledged_s, rel=0.06)


def test_many_flows_are_summed_up_with_the_worst_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*PATH, "-P", "30", "-t", "2"]
    assert main(words) == 0
    summed = capsys.readouterr().out
    assert "the 10 flows of 30 with the least goodput (--all: every flow)" in summed
    assert len([line for line in summed.splitlines() if line.startswith("bulk")]) == 11
    assert main([*words, "--all"]) == 0
    assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith("bulk")]) == 30


def test_a_table_of_thousands_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PATH, "-P", "1500", "-t", "0.2", "--all"]) == 0
    assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith("bulk")]) == 1500


def test_a_run_shows_its_progress_after_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.simulated_time("simulating") as watch:
        clock[0] += 0.5
        watch(1.0, 100.0)
        clock[0] += 1.0
        watch(3.0, 100.0)
        clock[0] += 15.0
        watch(33.0, 100.0)
    said = "simulating: 33 of 100, 34 s left (seconds simulated; it ends earlier if all flows do)\n"
    assert capsys.readouterr().err == said
