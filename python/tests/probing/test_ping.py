"""The prober's Python side without a packet: options, sums, views, and the file that grows."""

from __future__ import annotations

import argparse
import io
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from netspurt.cli.views.prober_view import Drawn, Lines, bars, line
from netspurt.errors import RequestError
from netspurt.files.growing import GrowingParquet
from netspurt.inputs import delays, typed
from netspurt.probing.prober import SCHEMA, Host
from netspurt.probing.sums import Sums

HOSTS = (Host("a", "192.0.2.1", "192.0.2.1:0"), Host("b", "2001:db8::1", "[2001:db8::1]:0"))


def rows(host: Host, events: list[tuple[str, float | None]]) -> pl.DataFrame:
    """So many rows, one second apart."""
    empty = dict.fromkeys(SCHEMA)
    return pl.DataFrame(
        [
            empty
            | {"time_s": 1.7e9 + n, "host": host.name, "address": host.address, "number": n}
            | {"length_octets": 84, "event": event, "rtt_ms": rtt_ms}
            for n, (event, rtt_ms) in enumerate(events)
        ],
        schema=dict(SCHEMA),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("84", ("listed", [84])),
        ("40,125,256", ("listed", [40, 125, 256])),
        ("0..256", ("uniform", [0, 256])),
    ],
)
def test_lengths_are_one_several_or_a_range(text: str, value: object) -> None:
    assert typed.lengths(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.2", ("every", [0.2])),
        ("200ms", ("every", [0.2])),
        ("100..300ms", ("between", [0.1, 0.3])),
        ("0.5s..1 min", ("between", [0.5, 60.0])),
        ("reply", ("replies", [0.0])),
    ],
)
def test_intervals_are_fixed_random_or_until_the_reply(text: str, value: tuple[str, list[float]]) -> None:
    kind, times = typed.pace(text)
    assert kind == value[0]
    assert times == pytest.approx(value[1])


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "1 h", "nan", "1e9", "2..1", "1..", "..", "soon"])
def test_what_is_no_interval_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is not a time|is not a range"):
        typed.pace(text)


@pytest.mark.parametrize("text", ["", "40..", "-1", "65536", "40,,50", "300..40", "4.5"])
def test_what_is_no_length_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is not a number of bytes|is not a range"):
        typed.lengths(text)


def test_sums_do_not_depend_on_how_rows_are_grouped() -> None:
    rtts = np.random.default_rng(1).gamma(3.0, 20.0, 5000)
    sums = Sums(HOSTS)
    for part in np.array_split(rtts, 37):
        sums.add(rows(HOSTS[0], [("reply", float(rtt)) for rtt in part]))
    sums.add(rows(HOSTS[0], [("lost", None), ("unreachable", 3.0), ("late", 9e4), ("duplicate", 1.0)]))
    sums.add(rows(HOSTS[1], [("lost", None)]))
    a, b = (each.summary() for each in sums.hosts)
    assert (a["packets"], a["replies"], a["unanswered"], a["lost"]) == (5002, 5000, 2, 1)
    assert (a["unreachable"], a["late"], a["duplicate"]) == (1, 1, 1)
    assert a["mean_ms"] == pytest.approx(rtts.mean())
    assert a["cov"] == pytest.approx(rtts.std() / rtts.mean())
    assert (a["min_ms"], a["max_ms"]) == (rtts.min(), rtts.max())
    for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99)):
        assert a[name] == pytest.approx(np.quantile(rtts, share), rel=0.01)
    assert (b["packets"], b["replies"], b["mean_ms"], b["p50_ms"]) == (1, 0, None, None)


def test_bars_rise_by_eighths_and_a_gap_is_empty() -> None:
    assert bars(np.array([0.0, 0.5, 1.0, np.nan]), 1) == ["▁▄█ "]
    assert bars(np.array([0.25, 0.75]), 2) == [" ▄", "▄█"]


def test_the_picture_keeps_a_bounded_memory_and_shows_every_host() -> None:
    from rich.console import Console

    sums = Sums(HOSTS)
    drawn = Drawn(sums)
    for _ in range(20):
        found = rows(HOSTS[0], [("reply", 10.0 + n % 7) for n in range(100)] + [("lost", None)])
        sums.add(found)
        drawn.update(found, sums)
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(drawn.picture(120))
    text = console.export_text()
    assert "a (192.0.2.1)" in text
    assert "last 58: 9 to 16 ms" in text
    assert "all: 9.9" in text
    assert [words[0] for words in map(str.split, text.splitlines()) if words][-4:-2] == ["host", "a"]
    assert "2020" in text


def test_lines_have_the_outcome_of_each_packet(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(HOSTS[0], [("reply", 12.3456), ("lost", None), ("late", 31000.0), ("duplicate", 2.0)])
    Lines().update(found, Sums(HOSTS))
    assert capsys.readouterr().out.splitlines() == [
        "a: 84 bytes, number 0: 12.346 ms",
        "a: 84 bytes, number 1: lost",
        "a: 84 bytes, number 2: late reply after 31000.000 ms",
        "a: 84 bytes, number 3: duplicate reply after 2.000 ms",
    ]
    row = rows(HOSTS[0], [("time-exceeded", 1.0)]).row(0, named=True)
    row |= {"from": "198.51.100.7", "icmp_type": 11, "icmp_code": 0}
    assert line(row).endswith("time exceeded, reported by 198.51.100.7 after 1.000 ms (ICMP type 11, code 0)")
    row |= {"event": "send-failed", "errno": 101}
    assert line(row).endswith("could not be sent: network is unreachable")


def test_what_a_prober_wrote_is_read_as_delays(tmp_path: Path) -> None:
    file = tmp_path / "probe.parquet"
    events = [("reply", 20.0), ("duplicate", 21.0), ("unreachable", 5.0), ("lost", None), ("late", 4e4)]
    with GrowingParquet(file, SCHEMA) as table:
        table.write(rows(HOSTS[0], events))
        table.write(rows(HOSTS[1], [("reply", 30.0)]))
    a, b = delays.read(str(file))
    np.testing.assert_allclose(a.delay_s, [0.010, np.nan, np.nan])
    assert a.octets.tolist() == [84, 84, 84]
    assert (b.host, b.delay_s.tolist()) == ("b", [0.015])


def test_a_growing_file_is_whole_from_the_beginning_and_one_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netspurt.files.growing.EVERY_S", 0.0)
    file = tmp_path / "x.parquet"
    with GrowingParquet(file, {"n": int}, piece_rows=10) as table:
        assert pl.read_parquet(file).height == 0
        for n in range(25):
            table.write(pl.DataFrame({"n": [n]}))
            pieces = sorted(tmp_path.iterdir(), key=lambda path: len(path.name))
            there = pl.concat([pl.read_parquet(piece) for piece in pieces])
            assert sorted(there["n"]) == list(range(n + 1))
        assert {path.name for path in tmp_path.iterdir()} == {"x.parquet", "x.2.parquet", "x.3.parquet"}
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]
    assert pl.read_parquet(file)["n"].to_list() == list(range(25))


def test_pieces_of_a_killed_run_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "x.2.parquet").touch()
    with (
        pytest.raises(RequestError, match=r"x\.2\.parquet is left of a run that was killed"),
        GrowingParquet(tmp_path / "x.parquet", {"n": int}),
    ):
        pass
    with pytest.raises(RequestError, match=r"end its name in \.parquet"):
        GrowingParquet(tmp_path / "x.csv", {"n": int})


WRITER = """
import sys, time
import polars as pl
from pathlib import Path
from netspurt.files.growing import GrowingParquet

with GrowingParquet(Path(sys.argv[1]), {"written_s": float}) as table:
    while True:
        written_s = time.time()
        table.write(pl.DataFrame({"written_s": [written_s]}))
        print(written_s, flush=True)
        time.sleep(0.002)
"""


def test_a_kill_loses_at_most_the_last_second(tmp_path: Path) -> None:
    for attempt in range(3):
        file = tmp_path / f"{attempt}.parquet"
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(500 + 77 * attempt)]
        writer.send_signal(signal.SIGKILL)
        said += writer.stdout.read().splitlines(keepends=True)
        writer.wait()
        writer.stdout.close()
        table = pl.read_parquet(file)
        assert table["written_s"].is_sorted()
        assert table.height > 100
        whole = [float(each) for each in said if each.endswith(b"\n")]
        # By the writer's own clock: however busy the machine is, what it lost came after the last second began.
        assert whole[-1] - float(table["written_s"][-1]) < 1.0
