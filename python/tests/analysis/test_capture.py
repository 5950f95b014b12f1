"""Captures of true runs, as Wireshark sees them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import netspurt as ns
from netspurt.errors import OutputError
from netspurt.settings import Value

core = pytest.importorskip("netspurt._core")

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="there is no tshark here (on Debian: apt-get install tshark)"
)

LOSSY = """
duration = "600 s"

[tcp]
profile = "linux"

[link.access]
between = ["a", "r"]
rate = "100 Mbit/s"
delay = "1 ms"

[link.wan]
between = ["r", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
loss = { kind = "packet-error", rate = 0.01 }

[[flow]]
app = { kind = "bulk", bytes = "2 MiB" }
from = "a"
to = "b"

[[flow]]
name = "web"
app = { kind = "request-response", request = "100 B", response = "40 KiB", exchanges = 5, gap = "10 ms" }
from = "a"
to = "b"
start = "10 ms"
"""


def tshark(path: Path, filter_: str, *fields: str) -> list[list[str]]:
    """The fields of each packet that the filter lets through; checksums are checked."""
    command = ["tshark", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-r", str(path)]
    command += ["-Y", filter_, "-T", "fields", *(word for field in fields for word in ("-e", field))]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in answer.stdout.splitlines()]


def capture(path: Path, changes: dict[str, Value] | None = None, **how: object) -> dict[str, object]:
    """Runs the lossy scenario with a capture; what ``run --json`` prints."""
    run = ns.parse(LOSSY).set(changes or {}).run(1, pcap=path, **how)  # type: ignore[arg-type]
    document: dict[str, object] = json.loads(run.json())
    return document


BAD = 'tcp.checksum.status == "Bad" || ip.checksum.status == "Bad" || _ws.malformed'


@needs_tshark
@pytest.mark.parametrize(
    ("profile", "options"),
    [
        ("linux", {"tcp.options.sack_le", "tcp.options.timestamp.tsval", "tcp.options.wscale.shift"}),
        ("bsd43-bigwindow-nak", {"tcp.options.mss_val"}),
        ("reno", {"tcp.options.mss_val"}),
    ],
)
def test_tshark_finds_nothing_wrong_and_all_retransmissions(
    tmp_path: Path, profile: str, options: set[str]
) -> None:
    path = tmp_path / "x.pcapng"
    result = capture(path, {"tcp.profile": profile})
    assert tshark(path, BAD, "frame.number") == []
    for option in options:
        assert tshark(path, option, option), option
    flows = result["flows"]
    assert isinstance(flows, list)
    assert flows[0]["retransmitted"] > 10
    for flow in flows:
        # tshark calls a retransmission that follows close upon another segment "out of order".
        resent = tshark(
            path,
            f"tcp.stream == {flow['flow'] == 'web':d} && (tcp.analysis.retransmission"
            " || tcp.analysis.out_of_order || tcp.analysis.keep_alive)",
            "frame.number",
        )
        assert len(resent) >= flow["retransmitted"]
        port = "tcp.dstport" if flow["flow"] == "bulk" else "tcp.srcport"
        stream = f"tcp.stream == {flow['flow'] == 'web':d} && {port} == 5001"
        assert len(tshark(path, stream, "frame.number")) == flow["segments_sent"]


@needs_tshark
def test_damaged_packets_have_wrong_checksums_once_they_have_arrived(tmp_path: Path) -> None:
    damage: dict[str, Value] = {"link.wan.corrupt": {"probability": 0.02}}
    for place, wrong in (("wan@r", "10.0.0.3"), ("wan@b", "10.0.0.1")):
        path = tmp_path / "x.pcapng"
        capture(path, damage, capture=[place])
        sources = {source for (source,) in tshark(path, 'tcp.checksum.status == "Bad"', "ip.src")}
        assert sources == {wrong}, "what leaves is whole, what arrives may not be"


@needs_tshark
def test_both_ends_of_every_link_see_what_passes_there(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    result = capture(path, capture=["all"])
    seen = tshark(path, "frame", "frame.interface_name", "ip.src", "frame.time_epoch")
    times = [float(time) for _, _, time in seen]
    assert times == sorted(times)
    links = result["links"]
    assert isinstance(links, list)
    for link, near, far, source in (
        (0, "access@a", "access@r", "10.0.0.1"),
        (1, "access@r", "access@a", "10.0.0.3"),
        (2, "wan@r", "wan@b", "10.0.0.1"),
        (3, "wan@b", "wan@r", "10.0.0.3"),
    ):
        count = {place: sum(row[:2] == [place, source] for row in seen) for place in (near, far)}
        lost = sum(n for cause, n in links[link]["drops"].items() if cause != "queue")
        assert count[near] == links[link]["packets"]
        assert count[far] == links[link]["packets"] - lost


def test_a_capture_does_not_change_what_happens(tmp_path: Path) -> None:
    plain = ns.parse(LOSSY).run(1)
    watched = capture(tmp_path / "x.pcapng", capture=["all"], snaplen=64)
    assert watched["digest"] == plain.digest
    assert (tmp_path / "x.pcapng").stat().st_size < 4_000_000
    plain.write_pcap(tmp_path / "y.pcapng", snaplen=64)


def test_the_same_run_gives_the_same_file(tmp_path: Path) -> None:
    files = [tmp_path / "x.pcapng", tmp_path / "y.pcapng"]
    for file in files:
        capture(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ns.ScenarioError, match=r'"wam@b": use a node, "all", or one of access@a, .*wan@b'):
        capture(tmp_path / "x.pcapng", capture=["wam@b"])
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_place_and_a_full_disk_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no such file or directory; nothing was left there"):
        capture(tmp_path / "missing" / "x.pcapng")
    if not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full here")
    with pytest.raises(OutputError, match="no space is left there"):
        capture(Path("/dev/full"))
    assert Path("/dev/full").is_char_device(), "a device is written to, never replaced"


def test_a_packet_beyond_what_ip_can_carry_is_named(tmp_path: Path) -> None:
    with pytest.raises(ns.ScenarioError, match="too long for an IP packet"):
        capture(tmp_path / "x.pcapng", {"tcp.mss": "65495 B", "tcp.mss_counts": "data"})
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_gets_the_capture_as_it_comes(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "x.pcapng"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    capture(pipe)
    reader.join()
    capture(file)
    assert got == [file.read_bytes()]
