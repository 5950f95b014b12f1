"""What a person is told while work is under way."""

from __future__ import annotations

import pytest

from netspurt.cli import progress


def test_without_a_terminal_progress_is_a_line_at_intervals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.Gauge("sweep") as gauge:
        gauge.show(40, 100)
        clock[0] += 5
        gauge.show(45, 100)
        clock[0] += 5
        gauge.show(50, 100, "1 failed")
    captured = capsys.readouterr()
    # Ten in ten seconds: fifty more take fifty. What had been done before does not count as speed.
    assert captured.err == "sweep: 50 of 100, 50 s left (1 failed)\n"
    assert captured.out == ""


@pytest.mark.parametrize(("seconds", "words"), [(3.2, "3 s"), (89, "89 s"), (600, "10 min"), (9000, "2.5 h")])
def test_spans_of_time_have_readable_units(seconds: float, words: str) -> None:
    assert progress.duration(seconds) == words


def test_counted_work_shows_the_same_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.progress(4, "reading") as advance:
        advance("a.pcap")
        clock[0] += 20
        advance("b.pcap")
    assert capsys.readouterr().err == "reading: 2 of 4, 20 s left (b.pcap)\n"
