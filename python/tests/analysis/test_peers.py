"""Other people's programs read the same captures: tshark and tcptrace, on simulated runs with losses."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from test_capture import LOSSY, needs_tshark, tshark

import netspurt as ns
from netspurt.analysis.capture import Capture

pytest.importorskip("netspurt._core")

PROFILES = ("newreno", "linux", "reno")

SERVER = 5001

needs_tcptrace = pytest.mark.skipif(
    not (shutil.which("tcptrace") and shutil.which("editcap")),
    reason="there is no tcptrace here, or no editcap (on Debian: apt-get install tcptrace tshark)",
)


@pytest.fixture(params=PROFILES)
def followed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Capture]:
    file = tmp_path / "run.pcapng"
    ns.parse(LOSSY).set({"tcp.profile": request.param}).run(1, pcap=file)
    return file, ns.read_capture(file, ["samples", "events"])


def tcptrace(file: Path, tmp_path: Path) -> Callable[[str], list[float]]:
    """What it says of a capture: from a name to the values of both directions of each connection in turn."""
    plain = tmp_path / "run.pcap"
    subprocess.run(["editcap", "-F", "pcap", file, plain], check=True, timeout=60)
    command = ["tcptrace", "-n", "-l", "-r", str(plain)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    def pairs(name: str) -> list[float]:
        found = re.findall(rf"{name}: +([\d.]+).*?{name}: +([\d.]+)", said)
        return [float(value) for pair in found for value in pair]

    return pairs


Key = tuple[int, int, str]
"""Nanoseconds since the first packet, connection, and whose data was acknowledged."""


@needs_tshark
def test_tshark_measures_the_same_round_trip_times(followed: tuple[Path, Capture]) -> None:
    file, capture = followed
    fields = ("frame.time_relative", "tcp.stream", "tcp.analysis.ack_rtt", "tcp.srcport")
    theirs = {
        (_ns(time), int(stream), "client" if int(port) == SERVER else "server"): _ns(rtt)
        for time, stream, rtt, port in tshark(file, "tcp.analysis.ack_rtt", *fields)
    }
    karn = capture.samples.filter(pl.col("method") != "timestamps")
    ours: dict[Key, int] = {
        (_ns(time), connection, whose): _ns(rtt)
        for time, connection, whose, rtt in karn.select("time_s", "connection", "from", "rtt_s").iter_rows()
    }
    resent = capture.streams["retransmitted"].sum()
    assert resent > 10
    assert len(ours) > 600
    wrong = {key: (rtt, theirs.get(key)) for key, rtt in ours.items() if abs(theirs.get(key, 0) - rtt) > 2}
    assert not wrong
    # Karn's rule forbids what tshark takes: the answer to a segment that was sent again, or that waited for one.
    assert 0 <= len(theirs) - len(ours) <= 2 * resent


@needs_tshark
def test_tshark_finds_the_same_retransmissions(followed: tuple[Path, Capture]) -> None:
    file, capture = followed
    # It calls one that follows close upon another segment "out of order".
    flags = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    theirs = {
        (_ns(time), int(stream)) for time, stream in tshark(file, flags, "frame.time_relative", "tcp.stream")
    }
    resent = capture.events.filter(event="retransmitted").select("time_s", "connection")
    assert {(_ns(time), connection) for time, connection in resent.iter_rows()} == theirs


@needs_tcptrace
def test_tcptrace_counts_the_same_samples_and_retransmissions(
    followed: tuple[Path, Capture], tmp_path: Path
) -> None:
    file, capture = followed
    pairs = tcptrace(file, tmp_path)
    streams = capture.streams
    assert pairs("rexmt data pkts") == streams["retransmitted"].to_list()
    handshakes = capture.samples.filter(method="handshake")
    opened = [
        handshakes.filter(pl.col("connection") == connection, pl.col("from") == whose).height
        for connection, whose in streams.select("connection", "from").iter_rows()
    ]
    samples = [count + more for count, more in zip(streams["rtt_samples"], opened, strict=True)]
    # An ACK behind a lost one may cover a segment sent again and a later one: tcptrace takes its time from that.
    theirs = pairs("RTT samples")
    assert all(0 <= taken - count <= 1 for taken, count in zip(theirs, samples, strict=True)), (
        theirs,
        samples,
    )
    for theirs_ms, ours_s, count in zip(pairs("RTT max"), streams["rtt_max_s"], samples, strict=True):
        if count > 10:
            assert theirs_ms == pytest.approx(1e3 * ours_s, abs=0.06)


def _ns(seconds: str | float) -> int:
    return round(float(seconds) * 1e9)
