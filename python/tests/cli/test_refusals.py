"""Errors of the system and of encodings end in a sentence and an exit status, whatever option they come from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIO

from netspurt.cli import streams

FAST = SCENARIO.replace("1 MiB", "64 KiB")
DELAYS = "time_s,delay_ms,length_octets\n" + "".join(f"{n},{20 + n % 7},{40 + n}\n" for n in range(200))

NOBODY = 65534

CLOSED = "closed/x"
"""A path in a folder that may not be searched."""

COMMANDS = [
    *(f"run {CLOSED}.toml", f"run s.toml --out {CLOSED}", f"run s.toml --pcap {CLOSED}.pcapng"),
    *(f"run s.toml --trace {CLOSED}.parquet", f"run s.toml --report {CLOSED}.html"),
    *(
        f"run s.toml --algorithm {CLOSED}.py:Class",
        f"sweep {CLOSED}.toml",
        f"sweep sweep.toml --out {CLOSED}",
    ),
    *(f"compare {CLOSED}.toml s.toml", f"compare s.toml t.toml --plot {CLOSED}.svg"),
    *(
        f"compare s.toml t.toml --report {CLOSED}.html",
        f"plot {CLOSED}.toml",
        f"plot s.toml --out {CLOSED}.svg",
    ),
    *(
        f"plot s.toml --out {CLOSED}.csv",
        f"capture {CLOSED}.pcapng",
        f"capture s.pcapng --events {CLOSED}.parquet",
    ),
    *(f"capture s.pcapng --samples {CLOSED}.parquet", f"capture s.pcapng --report {CLOSED}.html"),
    *(f"delays {CLOSED}.csv", f"delays d.csv --plot {CLOSED}.svg", f"rto {CLOSED}.csv"),
    *(
        f"rto d.csv --plot {CLOSED}.svg",
        f"reproduce terabit --out {CLOSED}",
        f"lab {CLOSED}.toml --no-browser",
    ),
    *(f"emulate {CLOSED}.toml -- true", f"emulate s.toml --capture a={CLOSED}.pcapng -- true"),
    *(f"host sink 9 --capture {CLOSED}.pcapng", f"ping 127.0.0.1 --count 1 --out {CLOSED}.parquet"),
]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A capture of the scenario ``FAST``."""
    folder = tmp_path_factory.mktemp("captured")
    (folder / "s.toml").write_text(FAST)
    netspurt(folder, "run s.toml --pcap s.pcapng")
    return (folder / "s.pcapng").read_bytes()


@pytest.fixture
def here(captured: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="netspurt-refusals-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "s.toml").write_text(FAST)
        (folder / "t.toml").write_text(FAST.replace("10 ms", "11 ms"))
        (folder / "d.csv").write_text(DELAYS)
        (folder / "sweep.toml").write_text('scenario = "s.toml"\nseeds = 1\n')
        (folder / "s.pcapng").write_bytes(captured)
        (folder / "closed").mkdir(mode=0o700)
        yield folder


def netspurt(
    here: Path, words: str, before: Sequence[str] = (), **how: Any
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, with a home that it may write to."""
    environment = os.environ | {"MPLCONFIGDIR": str(here / ".matplotlib"), **how.pop("env", {})}
    how = {"stdout": subprocess.PIPE, **how}
    return subprocess.run(
        [*before, sys.executable, "-m", "netspurt", *words.split()],
        cwd=here,
        env=environment,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
        **how,
    )


@pytest.fixture
def user(here: Path) -> list[str]:
    """Words before a command, with which it may not search the closed folder: root has to give up capabilities."""
    if os.geteuid() != 0:
        (here / "closed").chmod(0)
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may search every folder, and there is no setpriv to give that up")
    os.chown(here / "closed", NOBODY, NOBODY)
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


def _in_one_sentence(run: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in run.stderr, run.stderr
    assert run.stderr.startswith("netspurt: ")
    assert run.stderr.count("\n") == 1, run.stderr
    return run.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_a_folder_that_may_not_be_searched_is_reported(words: str, here: Path, user: list[str]) -> None:
    run = netspurt(here, words, before=user)
    said = _in_one_sentence(run)
    assert run.returncode == (1 if words.startswith("capture closed") else 2), said
    assert "closed" in said
    assert "permission denied" in said.lower()


def test_the_other_captures_are_read(here: Path, user: list[str]) -> None:
    run = netspurt(here, f"capture {CLOSED}.pcapng s.pcapng", before=user)
    assert run.returncode == 1
    assert "permission denied" in _in_one_sentence(run).lower()
    assert "s.pcapng" in run.stdout


@pytest.mark.parametrize(
    "words",
    [
        *("schema", "profiles", "mechanisms", "--help", "run --help", "--version", "completion bash"),
        *("run s.toml", "run s.toml --json", "capture s.pcapng", "capture s.pcapng --json", "plot s.toml"),
        *("compare s.toml t.toml", "delays d.csv", "rto d.csv --estimator linux", "sweep sweep.toml"),
    ],
)
def test_a_full_standard_output_is_reported(words: str, here: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = netspurt(here, words, stdout=full)
    assert "cannot write to standard output: no space is left" in _in_one_sentence(run)
    assert run.returncode == 1


def test_results_are_kept_where_standard_output_is_full(here: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = netspurt(here, "run s.toml --out kept", stdout=full)
    assert run.returncode == 1
    assert (here / "kept" / "result.json").exists()


def test_a_copy_on_a_full_disk_is_no_damage_of_the_capture(here: Path) -> None:
    run = netspurt(here, "capture s.pcapng --write /dev/full")
    assert "cannot write /dev/full: no space is left there" in _in_one_sentence(run)
    assert run.returncode == 2


def test_a_reader_that_closes_the_pipe_is_no_error(here: Path) -> None:
    command = f"{sys.executable} -m netspurt schema | head -c 10"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr, len(run.stdout)) == (0, "", 10)


@pytest.mark.parametrize("words", ["schema", "run s.toml", "--help"])
def test_a_closed_standard_output_is_no_error(words: str, here: Path) -> None:
    command = f"{sys.executable} -m netspurt {words} >&-"
    run = subprocess.run(["sh", "-c", command], cwd=here, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    "words",
    [
        *("--help", "run --help", "emulate --help", "profiles", "mechanisms", "completion zsh", "run s.toml"),
        *("plot s.toml", "plot s.toml --json", "compare s.toml t.toml", "compare s.toml t.toml --seeds 3"),
        *("delays d.csv", "rto d.csv --estimator linux", "capture s.pcapng", "sweep sweep.toml"),
        "reproduce terabit --quick --no-live",
    ],
)
def test_an_output_of_ascii_only_is_enough(words: str, here: Path) -> None:
    run = netspurt(here, words, env={"PYTHONIOENCODING": "ascii"})
    assert "Traceback" not in run.stderr, run.stderr
    assert run.returncode == 0, run.stderr
    assert run.stdout.isascii()


def test_a_name_that_is_no_text_is_printed_unchanged(here: Path) -> None:
    name = os.fsdecode(b"caf\xe9.pcapng")
    (here / "s.pcapng").rename(here / name)
    run = subprocess.run(
        [sys.executable, "-m", "netspurt", "capture", name], cwd=here, capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"caf\xe9.pcapng: " in run.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "emulate s.toml --server true --capture a=/nonexistent/x -- true",
            "cannot write /nonexistent/x: no such file or directory; nothing was left there: make the folder "
            "/nonexistent first",
        ),
        (
            "host sink 9 --capture /nonexistent/x",
            "cannot write /nonexistent/x: no such file or directory; nothing was left there: make the folder "
            "/nonexistent first",
        ),
        ("run latin.toml", "latin.toml"),
        ("delays latin.csv", "latin.csv"),
        ("sweep latin.toml", "latin.toml"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(words: str, said: str, here: Path) -> None:
    for name in ("latin.toml", "latin.csv"):
        (here / name).write_bytes(b"# caf\xe9\n" + FAST.encode())
    run = netspurt(here, words)
    assert said in _in_one_sentence(run)
    assert run.returncode == 2


def test_ascii_replaces_characters_that_an_encoding_lacks() -> None:
    with streams.prepared():
        assert "±2 µs – 3…".encode("ascii", streams.FALLBACK) == b"+-2 us - 3..."
        assert "Ω".encode("ascii", streams.FALLBACK) == b"?"
        assert "caf\udce9".encode("utf-8", streams.FALLBACK) == b"caf\xe9"
