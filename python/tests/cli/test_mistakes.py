"""Mistakes of newcomers: each ends in sentences that say what to do next, never in a traceback.

Exit status 2 where the request was wrong, 1 where one of several inputs was, 130 after Ctrl-C.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scenarios import SCENARIO

import netspurt
from netspurt.cli import main

FAST = SCENARIO.replace("1 MiB", "64 KiB")

LONG = SCENARIO.replace("600 s", "900000 s").replace("1 MiB", "90000 GB")

PATH = "--rate 10mbit --delay 40ms"

MISTAKES = {
    # Words that are spelt another way.
    "rnu s.toml": "did you mean 'run'?",
    "captrue s.pcapng": "did you mean 'capture'?",
    "--verison": "did you mean '--version'?",
    "run s.toml --sed 3": "did you mean '--seed'? (see 'netspurt run --help')",
    "run s.toml --repotr=x.html": "did you mean '--report'?",
    "plot s.toml --picture windos": "did you mean 'windows'?",
    "host lisen 9": "did you mean 'listen'?",
    "completion bsh": "did you mean 'bash'?",
    "reproduce rfc1107": "did you mean 'rfc1106'?",
    "profiles linus": "there is no profile 'linus', did you mean 'linux'?",
    "mechanisms tcp.congestoin": "there is no family of mechanisms 'tcp.congestoin', did you mean 'tcp.congestion'?",
    "fit sweep.toml": "sweep.toml is a sweep, not a capture: 'netspurt sweep sweep.toml' runs it",
    "fit s.toml": "simulates it and writes a capture, 'netspurt why s.toml' says what limits its flows",
    "mechanisms cubic": "'netspurt mechanisms tcp.congestion' describes it",
    "run s.toml --set tcp.congestoin=cubic": 'did you mean "congestion"?',
    "run s.toml --set tcp.congestion=cubik": 'did you mean "cubic"?',
    "run s.toml --set link.lime.delay=3ms": 'did you mean "line"?',
    f"run {PATH} --queue fqcodel": 'did you mean "fq-codel"?',
    f"run {PATH} --profile plan9": "known: bsd43-tahoe",
    "rto d.csv --estimator jacobson": 'did you mean "jacobson88"?',
    # Values without a unit, of the wrong form or out of range.
    "run --rate 10 --delay 40ms": 'write "10 Mbit/s"',
    "run --rate 10mbit --delay 40": 'write "40 ms"',
    "run --rate fast --delay 40ms": '"fast" does not begin with a number',
    "run --rate 0mbit --delay 40ms": "give it a rate above zero",
    "run --rate=-10mbit --delay 40ms": "--rate -10mbit",
    f"run {PATH} --loss 0.1": "write 0.1% or 10%",
    f"run {PATH} --loss 150%": "between 0% and 100%",
    f"run {PATH} --queue 100": 'write "100 packets"',
    f"run {PATH} --bytes lots": '"lots" does not begin with a number',
    f"run {PATH} -P 0": "must be at least 1",
    f"run {PATH} -t 0s": "duration is missing or zero",
    "run s.toml --seed three": "'three' is not a whole number of at least 0",
    "run s.toml --seeds 0": "at least 1",
    "run s.toml --set tcp.congestion": "not of the form path=value",
    "run s.toml --set link.line.delay=300": 'write "300 ms"',
    "run s.toml --set flow.7.app.bytes=1MB": "numbered from 0",
    "run s.toml --duration": "expected one argument",
    "plot s.toml --begin 8s --end 2s": "swap them",
    "host sink 99999": "from 1 to 65535",
    "lab --port http": "from 0 to 65535",
    "ping 127.0.0.1 -c 0": "at least 1",
    "ping 127.0.0.1 -i 5x": "a time above zero, such as 0.2, 200ms or 2min",
    "ping 127.0.0.1 -i 1ms": "--fast",
    "ping no-such-host.invalid -c 1": "cannot find an address of 'no-such-host.invalid'",
    # Something is missing, or there is too much of it.
    "run": "netspurt run --rate 10mbit --delay 40ms",
    "check": "such as: netspurt check satellite.toml",
    "rto": "such as: netspurt rto",
    "compare s.toml": "such as: netspurt compare reno.toml cubic.toml",
    "why": "--sockets for the TCP sockets of this host",
    "host": "such as: netspurt host sink 9",
    "emulate s.toml": "name the command to run behind '--'",
    "emulate s.toml echo hi": "put the command to run behind '--'",
    "emulate -- true": "netspurt emulate --rate 10mbit --delay 40ms -- true",
    "run s.toml s.toml": "unexpected: s.toml",
    f"run s.toml {PATH}": "leave one of them out",
    "run s.toml --seeds 3 --pcap x.pcapng": "leave out --seeds",
    "host sink 9 --loss 1%": "--loss needs a path: add --rate 10mbit --delay 40ms",
    f"host sink 9 {PATH} --address 10.9.0.2/24": "behind a path the host gets an address of the path",
    "run --delay 40ms --recording none.up": '--recording none.up: the recording of link "path"',
    "run s.toml --capture all": "write --capture all=FILE",
    "run s.toml --capture mars=x.pcapng": 'use a node, "all"',
    "emulate s.toml --client mars -- true": 'the scenario has "a", "b"',
    # Options without effect.
    "plot s.pcapng --seed 2": "--seed is that of a run, and s.pcapng is a capture",
    "plot s.toml --picture queues --flow bulk": "--flow has no effect on the picture queues of a run",
    "plot s.toml --picture windows --link line": "--link has no effect on the picture windows of a run",
    "plot s.toml --picture distribution --end 1s": "--end has no effect on the picture distribution of a run",
    "plot s.toml --quantity drops": "--quantity has no effect on the picture time-sequence of a run",
    "plot s.toml --where seed=1": "--where has no effect on the picture time-sequence of a run",
    "what-if s.toml --for 3s": "--for applies only to a proof: give --prove N too",
    "what-if s.toml --with true": "--with applies only to a proof: give --prove N too",
    # No file, a folder, an empty file, a binary file, a file of another kind.
    "run s.tmol": "did you mean 's.toml'?",
    "run none.toml": "'netspurt new none.toml' writes one",
    "run folder": "name a scenario file in it",
    "run empty.toml": "'netspurt new empty.toml --force'",
    "run binary.toml": "binary.toml: is not text in UTF-8: a scenario is TOML",
    "run notes.txt": 'notes.txt:1:7: a key has its value behind "="',
    "run broken.toml": 'broken.toml:1:6: a name in brackets ends with "]"',
    "run s.pcapng": "'netspurt why s.pcapng'",
    "run sweep.toml": "'netspurt sweep sweep.toml' runs it",
    "sweep s.toml": 'a sweep file names it with scenario = "FILE.toml"',
    "sweep none.toml": "check the name",
    "sweep lost.toml": "there is no file none.toml",
    "sweep empty.toml": 'needs scenario = "FILE.toml"',
    "lab none.toml": "'netspurt new none.toml' writes one",
    "lab folder": "name a scenario file in it",
    "lab sweep.toml": "'netspurt sweep sweep.toml' runs it",
    "why sweep.toml": "this is a sweep, which 'netspurt sweep' reads",
    "plot sweep.toml": "this is a sweep, which 'netspurt sweep' reads",
    "rto s.toml": "this is a scenario, which 'netspurt run' reads",
    "plot s.tmol": "did you mean 's.toml'?",
    "plot notes.txt": "give a scenario, the folder of",
    "plot folder": "give a scenario, the folder of",
    "plot void.pcap": "void.pcap contains no packets",
    "run deep.toml": "deep.toml:1:",
    "sweep deep.toml": "nested too deeply",
    "plot s.toml --out x.jpgg": "end the name in .svg, .pdf, .png",
    "compare s.toml s.pcapng": "compare two of the same kind",
    "compare s.pcapng s.pcapng --seeds 3": "--seeds runs scenarios, and s.pcapng is a capture",
    "delays none.csv": "there is no file none.csv",
    "delays folder": "name a file in it",
    "delays empty.csv": "its first line must name the columns",
    "rto notes.txt": "required are time_s and delay_ms",
    "capture s.pcapng --filter portt": "known are host, net, port",
    "why s.pcapng --filter portt": "write a filter such as",
    "why s.pcapng --connection 99": "the last one has the number 0",
    "why --sockets --for 0s": "is not a time above zero, such as",
    "why --sockets s.pcapng": "name no file beside it",
    "responsiveness --server http://127.0.0.1:1/": "cannot read http://127.0.0.1:1/.well-known/nq: connection refused",
    "host http 8080 --root none": "name the folder whose files are served",
    "run s.toml --algorithm mine=none.py:Class": "there is no file none.py",
    # Outputs.
    "run s.toml --pcap none/x.pcapng": "make the folder none first",
    "run s.toml --trace x.csv": "end its name in .parquet",
    "why s.pcapng --report none/x.html": "make the folder none first",
    "run s.toml --pcap folder": "name a file in it",
    "run s.toml --pcap s.toml": "this command also reads it; name another file",
    "run s.toml --report notes.txt": "name another file, or replace it with --force",
    "run s.toml --out notes.txt": "it is a file, not a directory",
    "run s.toml --pcap /proc/x.pcapng": "cannot write /proc/x.pcapng",
    "new s.toml": "name another file, or replace it with --force",
}
"""A command line, and what its message must say."""

ONE_OF_SEVERAL = {
    "capture none.pcapng": "check the name",
    "capture s.pcapn": "did you mean 's.pcapng'?",
    "capture folder": "name a file in it",
    "capture empty.pcapng": "expected a capture in pcap or pcapng format",
    "capture notes.txt": "expected pcap or pcapng",
    "capture cut.pcapng": "the packets before the damage were read",
    "plot cut.pcapng": "the packets before the damage were read",
    "compare s.pcapng cut.pcapng": "the packets before the damage were read",
    "capture s.toml": "is a scenario or a synthetic path, not a capture: 'netspurt run s.toml --pcap FILE.pcapng'",
    "capture void.pcap": "void.pcap contains no packets",
    "why header.pcap": "ends within the header of a capture in pcap format",
    "why none.pcapng": "check the name",
    "why notes.txt": "expected pcap or pcapng",
}
"""Inputs that do not keep the others from being read: exit status 1."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(FAST)
    (tmp_path / "folder").mkdir()
    for name in ("empty.toml", "empty.csv", "empty.pcapng"):
        (tmp_path / name).touch()
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    (tmp_path / "notes.txt").write_text("hello world\nthis is text\n")
    (tmp_path / "broken.toml").write_text("[link\nbetween = ['a', 'b']\n")
    (tmp_path / "sweep.toml").write_text('scenario = "s.toml"\nseeds = 1\n')
    (tmp_path / "lost.toml").write_text('scenario = "none.toml"\nseeds = 1\n')
    (tmp_path / "d.csv").write_text("time_s,delay_ms\n" + "".join(f"{n},{20 + n % 7}\n" for n in range(200)))
    netspurt.load("s.toml").run().write_pcap("s.pcapng")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 5000 + "]" * 5000 + "\n")
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    (tmp_path / "void.pcap").write_bytes(header)
    (tmp_path / "header.pcap").write_bytes(header[:20])
    whole = (tmp_path / "s.pcapng").read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(whole[: len(whole) // 2 + 3])
    return tmp_path


def _said(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and standard error of a command in this process; a traceback would be an exception here."""
    status = main(shlex.split(words))
    return status, capsys.readouterr().err


def test_there_are_forty_mistakes() -> None:
    assert len(MISTAKES) + len(ONE_OF_SEVERAL) >= 40


@pytest.mark.parametrize("words", MISTAKES)
@pytest.mark.usefixtures("here")
def test_a_mistake_is_answered_with_what_to_do(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = _said(words, capsys)
    assert status == 2, said
    assert said.startswith("netspurt: "), said
    assert said.count("\n") == 1, said
    assert MISTAKES[words] in said


@pytest.mark.parametrize("words", ONE_OF_SEVERAL)
@pytest.mark.usefixtures("here")
def test_an_input_that_cannot_be_read_is_named(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = _said(words, capsys)
    assert status == 1, said
    assert said.startswith("netspurt: "), said
    assert said.count("\n") == 1, said
    assert ONE_OF_SEVERAL[words] in said


@pytest.mark.parametrize("command", ["why", "capture"])
def test_an_earlier_report_stays_where_nothing_can_be_read(command: str, here: Path) -> None:
    assert main([command, "s.pcapng", "--report", "page.html"]) == 0
    whole = (here / "page.html").read_bytes()
    assert main([command, "none.pcapng", "--report", "page.html"]) == 1
    assert (here / "page.html").read_bytes() == whole


def test_the_picture_of_a_compressed_capture_is_named_after_the_capture(here: Path) -> None:
    (here / "s.pcapng.gz").write_bytes(gzip.compress((here / "s.pcapng").read_bytes()))
    assert main(["plot", "s.pcapng.gz"]) == 0
    assert (here / "s-time-sequence.svg").exists()


@pytest.mark.usefixtures("here")
def test_check_prints_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "s.tmol", "folder", "s.toml"]) == 2
    out = capsys.readouterr().out
    assert "error: there is no s.tmol, did you mean 's.toml'?" in out
    assert "error: folder is a folder: give a scenario file (.toml)" in out
    assert "s.toml: correct" in out


@pytest.mark.parametrize(
    ("words", "shown"), [("help run", "usage: netspurt run"), ("version", "netspurt 0.")]
)
def test_words_that_people_type_as_commands_work(
    words: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(SystemExit):
        main(words.split())
    assert capsys.readouterr().out.startswith(shown)


def test_a_port_in_use_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, said = _said(f"lab --no-browser --port {taken.getsockname()[1]}", capsys)
    assert status == 2
    assert "address already in use; omit --port for any free port" in said


PRIVILEGED = {
    "emulate s.toml -- true": "this needs root, or a system that allows user namespaces",
    "shell --rate 10mbit --delay 40ms -- true": "use sudo, or emulate a path between two hosts instead",
    "host sink 9": "run this as root or with the capability cap_net_admin",
    "ping 127.0.0.1 -c 1": "run this as root or with the capability cap_net_raw",
    "lab --no-browser --port 80": "omit --port for any free port",
}

REFUSING = (
    "import ctypes, sys; c = ctypes.CDLL(None, use_errno=True)\n"
    "for number in range(41): c.prctl(24, number, 0, 0, 0)\n"  # PR_CAPBSET_DROP
    "import os; os.execv(sys.executable, [sys.executable, '-m', 'netspurt', *sys.argv[1:]])\n"
)


@pytest.mark.parametrize("words", PRIVILEGED)
def test_a_missing_privilege_is_reported(words: str, here: Path) -> None:
    """Root without any capability stands for a user: it may read this folder, and nothing else."""
    if os.geteuid() != 0:
        pytest.skip("whether a user may do this depends on the system: only root can give up each privilege")
    run = subprocess.run(
        [sys.executable, "-c", REFUSING, *shlex.split(words)],
        cwd=here,
        env=os.environ | {"MPLCONFIGDIR": str(here)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if run.returncode == 0:
        pytest.skip("the system gives this privilege to everyone")
    assert "Traceback" not in run.stderr
    if words.startswith(("emulate", "host")) and "/dev/net/tun" in run.stderr:
        pytest.skip("there is no /dev/net/tun here")
    assert run.returncode == 2, run.stderr
    assert PRIVILEGED[words] in run.stderr


@pytest.mark.parametrize(
    "words", ["emulate s.toml -- true", "ping 127.0.0.1", "host sink 9", "why --sockets"]
)
@pytest.mark.usefixtures("here")
def test_a_system_other_than_linux_is_reported(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    status, said = _said(words, capsys)
    assert status == 2
    assert f"netspurt {words.split()[0]} needs Linux" in said


INTERRUPTED = [
    *("run long.toml", "run long.toml --seeds 3", "run long.toml --pcap x.pcapng", "why long.toml"),
    *("sweep long-sweep.toml", "compare long.toml long.toml --seeds 3", "plot long.toml", "capture -"),
    *(
        "why -",
        "why --sockets",
        "reproduce rfc1106 --no-live --seeds 999 --jobs 1",
        "lab --no-browser --port 0",
    ),
]


@contextlib.contextmanager
def _begun(words: str, here: Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a process that has begun its work."""
    with subprocess.Popen(
        [sys.executable, "-m", "netspurt", *shlex.split(words)],
        cwd=here,
        env=os.environ | {"MPLCONFIGDIR": str(here)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            loaded = Path(f"/proc/{process.pid}/maps")
            while process.poll() is None and "_core.abi3" not in loaded.read_text():
                time.sleep(0.02)
            if words.startswith("lab"):
                # The server handles SIGINT before it prints its address.
                assert process.stdout is not None
                assert "http://" in process.stdout.readline()
            else:
                # No other command shows when its work begins.
                time.sleep(0.5)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("words", INTERRUPTED)
def test_ctrl_c_ends_every_command_at_once(words: str, here: Path) -> None:
    (here / "long.toml").write_text(LONG)
    (here / "long-sweep.toml").write_text('scenario = "long.toml"\nseeds = 3\n')
    with _begun(words, here) as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    # The lab is ended so in good order.
    assert process.returncode == (0 if words.startswith("lab") else 130), said


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell here")
def test_a_folder_that_was_removed_is_no_traceback(here: Path) -> None:
    gone = here / "gone"
    gone.mkdir()
    command = f"rmdir {shlex.quote(str(gone))}; exec {sys.executable} -m netspurt run s.toml"
    run = subprocess.run(
        ["sh", "-c", command], cwd=gone, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 2, run.stderr
    assert "Traceback" not in run.stderr
