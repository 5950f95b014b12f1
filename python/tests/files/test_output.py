"""Output appears whole or not at all, and leaves the user's own files alone."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from netspurt.cli import main
from netspurt.errors import OutputError
from netspurt.files import output

SATELLITE = str(Path(__file__).parents[3] / "examples" / "satellite.toml")


def _names(path: Path) -> list[str]:
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())


def test_a_new_directory_appears_with_its_parents(tmp_path: Path) -> None:
    with output.directory(tmp_path / "a" / "b") as stage:
        (stage / "index.html").write_text("x")
        assert not (tmp_path / "a").exists()
    assert _names(tmp_path) == ["a/b/index.html", "a/b/manifest.json"]


def test_a_second_run_takes_away_what_it_no_longer_writes(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with output.directory(out) as stage:
        (stage / "old.csv").write_text("x")
        (stage / "index.html").write_text("old")
    (out / "mine.txt").write_text("the user's")
    with output.directory(out) as stage:
        (stage / "index.html").write_text("new")
    assert _names(out) == ["index.html", "manifest.json", "mine.txt"]
    assert (out / "index.html").read_text() == "new"


def test_an_error_inside_leaves_everything_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "report"
    out.mkdir()
    (out / "index.html").write_text("old")
    with pytest.raises(RuntimeError), output.directory(out) as stage:
        (stage / "index.html").write_text("half")
        raise RuntimeError
    assert _names(tmp_path) == ["report/index.html"]
    assert (out / "index.html").read_text() == "old"


def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no space is left"), output.directory(tmp_path / "report"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.parquet", ["run", SATELLITE, "--trace"]),
        ("x.pcapng", ["run", SATELLITE, "--pcap"]),
        ("x.html", ["run", SATELLITE, "--report"]),
        ("x.pdf", ["plot", SATELLITE, "--out"]),
        ("x.csv", ["plot", SATELLITE, "--out"]),
        ("e.parquet", ["capture", "run.pcapng", "--samples", "s.parquet", "--events"]),
    ],
)
def test_every_writer_reports_a_full_disk_in_a_sentence(
    name: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("netspurt._core", reason="the native module is not built")
    if not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full here")
    monkeypatch.chdir(tmp_path)
    if words[0] == "capture":
        assert main(["run", SATELLITE, "--pcap", words[1]]) == 0
    Path(name).symlink_to("/dev/full")
    assert main([*words, name]) == 2
    error = capsys.readouterr().err
    assert error == f"netspurt: cannot write {name}: no space is left there; nothing was left there\n"


@pytest.mark.parametrize("free", [0, 1 << 30])
def test_a_table_that_cannot_be_written_is_a_full_disk_only_if_the_disk_is_full(
    free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = pl.exceptions.ComputeError("parquet: File out of specification: Invalid thrift: transport error")
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))
    expected = pl.exceptions.ComputeError if free else OutputError
    with pytest.raises(expected), output.file(tmp_path / "x.parquet"):
        raise wrong
    assert not _names(tmp_path)


def test_a_place_below_a_file_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    worked = False
    with pytest.raises(OutputError, match="not a directory"), output.directory(tmp_path / "file" / "report"):
        worked = True
    assert not worked
    with pytest.raises(OutputError, match="a file, not a directory"), output.directory(tmp_path / "file"):
        worked = True
    assert not worked


def test_a_manifest_cannot_make_us_delete_elsewhere(tmp_path: Path) -> None:
    out = tmp_path / "report"
    out.mkdir()
    (tmp_path / "precious").write_text("x")
    (out / output.MANIFEST).write_text('{"files": ["../precious"]}')
    with output.directory(out) as stage:
        (stage / "index.html").write_text("x")
    assert (tmp_path / "precious").exists()


def test_a_file_appears_whole_with_usual_rights(tmp_path: Path) -> None:
    with output.file(tmp_path / "trace.parquet") as stage:
        assert stage.suffix == ".parquet"
        stage.write_bytes(b"whole")
        assert not (tmp_path / "trace.parquet").exists()
    assert (tmp_path / "trace.parquet").read_bytes() == b"whole"
    other = tmp_path / "usual"
    other.touch()
    assert (tmp_path / "trace.parquet").stat().st_mode == other.stat().st_mode


def test_a_failed_file_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "trace.parquet"
    target.write_bytes(b"old")
    with pytest.raises(OutputError), output.file(target) as stage:
        stage.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert target.read_bytes() == b"old"
    assert _names(tmp_path) == ["trace.parquet"]


def test_a_file_in_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="no such file or directory"),
        output.file(tmp_path / "no" / "x.pcapng"),
    ):
        pass


def test_a_pipe_or_a_device_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with output.file(pipe) as path:
        assert path == pipe
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
