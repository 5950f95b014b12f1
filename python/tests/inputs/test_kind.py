"""What a path holds is decided by content, in one place."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt.errors import RequestError
from netspurt.inputs.delays import read
from netspurt.inputs.kind import Kind, kind_of
from netspurt.inputs.sides import How, Runs, side

SCENARIO = """# a comment
duration = "1 s"

[link.line]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"

[[flow]]
app = { kind = "bulk", bytes = "20 kB" }
from = "a"
to = "b"
"""

PCAPNG = bytes.fromhex("0a0d0d0a")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (SCENARIO.encode(), Kind.SCENARIO),
        (b'[link.line]\nbetween = ["a", "b"]\n', Kind.SCENARIO),
        (b'\xef\xbb\xbfduration = "1 s"\n', Kind.SCENARIO),
        (b'{"scenario": "x"}', Kind.RESULT),
        (b"\n  {\n", Kind.RESULT),
        (PCAPNG + bytes(40), Kind.CAPTURE),
        (bytes.fromhex("d4c3b2a1") + bytes(40), Kind.CAPTURE),
        (gzip.compress(PCAPNG + bytes(40), mtime=0), Kind.CAPTURE),
    ],
)
@pytest.mark.parametrize("name", ["input", "input.toml", "input.csv", "input.parquet", "input.pcap"])
def test_the_content_decides_whatever_the_name(tmp_path: Path, content: bytes, kind: Kind, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert kind_of(tmp_path / name) is kind


@pytest.mark.parametrize("content", [b"", b"\0\1\2\3", b"some text\n", b"time_s,delay_ms\n0,5\n"])
def test_the_name_decides_where_the_content_does_not(tmp_path: Path, content: bytes) -> None:
    for name, kind in {
        "input.pcap": Kind.CAPTURE,
        "input.pcap.gz": Kind.CAPTURE,
        "input.toml": Kind.SCENARIO,
        "input.json": Kind.RESULT,
        "input.parquet": Kind.PARQUET,
        "input.csv": Kind.TEXT,
        "input": Kind.UNKNOWN,
    }.items():
        (tmp_path / name).write_bytes(content)
        assert kind_of(tmp_path / name) is kind, name


def test_a_long_text_may_be_cut_within_a_character(tmp_path: Path) -> None:
    (tmp_path / "long").write_text('name = "' + "é" * 5000 + '"\n', encoding="utf-8")
    assert kind_of(tmp_path / "long") is Kind.SCENARIO


def test_tables_are_distinguished_by_their_columns(tmp_path: Path) -> None:
    pl.DataFrame({"record": ["rtt"], "value": [1.0]}).write_parquet(tmp_path / "a")
    pl.DataFrame({"time_s": [0.0], "rtt_ms": [1.0]}).write_parquet(tmp_path / "b")
    assert [kind_of(tmp_path / name) for name in "ab"] == [Kind.TRACE, Kind.PARQUET]


def test_folders_are_distinguished_by_their_files(tmp_path: Path) -> None:
    assert kind_of(tmp_path) is Kind.FOLDER
    (tmp_path / "result.json").touch()
    assert kind_of(tmp_path) is Kind.RUN_FOLDER
    (tmp_path / "sweep.json").touch()
    assert kind_of(tmp_path) is Kind.SWEEP_FOLDER


def test_a_missing_file_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no "):
        kind_of(tmp_path / "no")


def test_every_reader_decides_by_content(tmp_path: Path) -> None:
    """The same files under names that mislead: a scenario, a capture, a trace of delays."""
    ns.parse(SCENARIO).run(1, pcap=tmp_path / "run.pcapng")
    scenario, capture = tmp_path / "scenario.pcap", tmp_path / "capture.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "run.pcapng").rename(capture)
    assert isinstance(side(scenario, How(), 0), Runs)
    assert ns.plot.time_sequence_chart(str(scenario)).traces
    assert ns.plot.time_sequence_chart(str(capture)).traces
    assert ns.compare(capture, capture).kind == "a capture"
    assert read(str(capture))[0].delay_s.size > 0
