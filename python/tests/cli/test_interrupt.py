"""Ctrl-C and SIGTERM end in good order what would go on for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from netspurt.analysis.capture import Reading as CaptureReading
from netspurt.cli.entry import main
from netspurt.cli.interrupt import asked_to_end
from netspurt.diagnosing.reading import Reading as DiagnosisReading

LIMIT_S = 60

SENDER = """
import os, random, signal, sys, time

random.seed(1)
for _ in sys.stdin:
    time.sleep(random.random() / 3000)
    os.kill(os.getppid(), signal.SIGTERM)
"""

WAITS_OFTEN = """
import subprocess, sys
from netspurt.cli.interrupt import asked_to_end

# Another process: a thread of this one would send signals only while no other thread runs.
with subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, text=True) as sender:
    for _ in range(200):
        with asked_to_end() as asked:
            print(file=sender.stdin, flush=True)
            while not asked.wait(0.0):
                pass
    sender.stdin.close()
print("all ended")
"""


IMPORTS_FOR_LONG = """
import sys
from netspurt.cli import entry, main

def import_slowly(words):
    # As an import of a module with dataclasses, which compile their methods from strings.
    exec("import os, signal; os.kill(os.getpid(), signal.SIGINT); [None for _ in range(10**9)]")

entry._command = import_slowly
sys.argv = ["netspurt"]
sys.exit(main())
"""


def test_ctrl_c_during_an_import_has_the_same_exit_status(tmp_path: Path) -> None:
    # With -m alone, CPython ends such a program by SIGINT.
    (tmp_path / "imports.py").write_text(IMPORTS_FOR_LONG)
    words = [sys.executable, "-m", "imports"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S)
    assert (run.returncode, run.stderr) == (130, "netspurt: interrupted\n")


def test_a_signal_at_any_step_of_the_waiting_ends_it() -> None:
    words = [sys.executable, "-c", WAITS_OFTEN, SENDER]
    run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
    assert (run.returncode, run.stdout, run.stderr) == (0, "all ended\n", "")


def test_a_request_ends_a_long_wait_and_stays_known() -> None:
    before = signal.getsignal(signal.SIGINT)
    with asked_to_end() as asked:
        assert not asked.wait(0.0)
        assert not asked.wait(-1.0)
        main = threading.main_thread().ident
        assert main is not None
        threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT)).start()
        began = time.monotonic()
        assert asked.wait(LIMIT_S)
        assert time.monotonic() - began < LIMIT_S / 2
        assert asked.wait(LIMIT_S), "at once"
    assert asked.is_set()
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_signal_breaks_it_off() -> None:
    with asked_to_end() as asked, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        assert asked.is_set()
        signal.raise_signal(signal.SIGINT)


def test_outside_of_the_main_thread_nothing_is_requested() -> None:
    found = []

    def look() -> None:
        with asked_to_end() as asked:
            found.append(asked.wait(0.0))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [False]


PATH = ["--rate", "10mbit", "--delay", "1ms", "--bytes", "20kB"]


def test_seeds_that_are_complete_are_kept_and_a_sentence_says_how_many(
    before_run: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = iter(range(9))

    def interrupt_the_third() -> None:
        if next(runs) == 2:
            raise KeyboardInterrupt

    before_run(interrupt_the_third)
    assert main(["run", *PATH, "--seeds", "9", "--jobs", "1"]) == 130
    out, err = capsys.readouterr()
    assert "2 seeds" in out
    assert err == "netspurt: interrupted; the results are those of 2 of 9 seeds\n"


@pytest.fixture
def captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two captures; reading the second one is interrupted."""
    files = [str(tmp_path / name) for name in ("a.pcapng", "b.pcapng")]
    for file in files:
        assert main(["run", *PATH, "--pcap", file]) == 0
    for reading in (CaptureReading, DiagnosisReading):
        monkeypatch.setattr(reading, "step", _interrupted(reading.step, Path(files[1])))
    return files


def _interrupted(step: Callable[..., bool], file: Path) -> Callable[..., bool]:
    def stepped(reading: CaptureReading | DiagnosisReading) -> bool:
        if reading.path == file:
            raise KeyboardInterrupt
        return step(reading)

    return stepped


def test_captures_that_are_read_are_kept_and_a_sentence_says_how_many(
    captures: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["capture", *captures, "--jobs", "1"]) == 130
    out, err = capsys.readouterr()
    assert "a.pcapng" in out
    assert err.splitlines()[-1] == "netspurt: interrupted; the results are those of 1 of 2 files"


@pytest.mark.parametrize("command", ["capture", "why"])
def test_nothing_is_written_if_no_capture_is_complete(
    command: str, captures: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main([command, captures[1], "--report", str(page)]) == 130
    assert not page.exists()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "netspurt: interrupted\n")
