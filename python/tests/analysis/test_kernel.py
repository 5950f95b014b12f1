"""Captures of true connections between two kernels' TCPs, made during the test, read by us and by others.

``kernel_pair.py`` makes them in namespaces of their own; where that is not permitted, the tests are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from kernel_pair import PORT, TRANSFERS
from test_capture import needs_tshark, tshark
from test_peers import needs_tcptrace, tcptrace

import netspurt as ns
from netspurt.analysis.capture import Capture

pytest.importorskip("netspurt._core")

LIMIT_S = 90


@dataclass(frozen=True)
class Made:
    """A capture, what we make of it, how often its kernel says that it resent on each connection, and why in all."""

    file: Path
    capture: Capture
    again: list[int]
    counters: dict[str, int]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    missing = [name for name in ("unshare", "ip") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {' and no '.join(missing)} here")
    file = tmp_path_factory.mktemp("kernel") / "pair.pcap"
    script = Path(__file__).with_name("kernel_pair.py")
    command = ["unshare", "-rn", sys.executable, str(script), str(file)]
    trial = subprocess.run(["unshare", "-rn", "true"], capture_output=True, text=True, timeout=LIMIT_S)
    if trial.returncode:
        pytest.skip(f"no network namespace can be made here: {trial.stderr.strip()}")
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if run.returncode == 77:
        pytest.skip(f"TUN devices or packet sockets are not permitted here: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    return Made(file, ns.read_capture(file, ["samples", "events"]), **json.loads(run.stdout))


def test_the_kernel_counts_the_same_retransmissions(made: Made) -> None:
    mine = made.capture.streams.filter(pl.col("from") == "client").sort("connection")
    assert mine["acknowledged_bytes"].to_list() == list(TRANSFERS)
    assert mine["retransmitted"].to_list() == made.again
    assert all(made.again), "something was lost of each"
    assert mine["duplicated"].sum() == 0


def test_the_kernel_had_the_same_reasons(made: Made) -> None:
    told = made.capture.events.filter(event="retransmitted")["reason"].to_list()
    count = made.counters.get
    causes = {
        "fast": count("TCPFastRetrans", 0),
        "timeout": count("TCPTimeouts", 0) + count("TCPSlowStartRetrans", 0),
        "tail-probe": count("TCPLossProbes", 0),
    }
    assert causes["timeout"] > 0, "all of one transfer is lost"
    # A busy machine makes the path a worse one than was meant.
    assert sum(abs(told.count(cause) - count) for cause, count in causes.items()) <= 0.1 * len(told), causes
    assert not {"unexplained", "nak"} & set(told)


@needs_tshark
def test_tshark_measures_the_same_round_trip_times_of_kernels(made: Made) -> None:
    fields = ("frame.time_epoch", "tcp.stream", "tcp.analysis.ack_rtt", "tcp.srcport")
    # It takes what answers the server's segments as well, and what Karn's rule forbids.
    theirs = {
        (_ns(time), int(stream)): _ns(rtt)
        for time, stream, rtt, port in tshark(made.file, "tcp.analysis.ack_rtt", *fields)
        if int(port) == PORT
    }
    began = _ns(made.capture.tally["began_s"])
    karn = made.capture.samples.filter(pl.col("method") != "timestamps", pl.col("from") == "client")
    ours = list(karn.select("time_s", "connection", "rtt_s").iter_rows())
    assert len(ours) > 100
    # Times since 1970 are floats: near, but no nearer than a quarter of a microsecond.
    for time_s, connection, rtt_s in ours:
        near = [
            rtt
            for (at, stream), rtt in theirs.items()
            if stream == connection and abs(at - began - _ns(time_s)) < 2_000
        ]
        assert any(abs(rtt - _ns(rtt_s)) <= 2 for rtt in near), (time_s, connection, rtt_s, near)
        assert 0.04 <= rtt_s < 1.0, "there and back are 40 ms"
    assert 0 <= len(theirs) - len(ours) <= 2 * sum(made.again)


@needs_tshark
def test_tshark_finds_the_same_retransmissions_of_kernels(made: Made) -> None:
    flags = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    theirs = [(int(stream), int(seq)) for stream, seq in tshark(made.file, flags, "tcp.stream", "tcp.seq")]
    resent = made.capture.events.filter(event="retransmitted").select("connection", "seq")
    assert sorted((connection, seq + 1) for connection, seq in resent.iter_rows()) == sorted(theirs)


@needs_tcptrace
def test_tcptrace_counts_the_same_retransmissions_of_kernels(made: Made, tmp_path: Path) -> None:
    said = tcptrace(made.file, tmp_path)
    assert said("rexmt data pkts") == made.capture.streams["retransmitted"].to_list()


def _ns(seconds: str | float) -> int:
    return round(Decimal(seconds) * 10**9)
