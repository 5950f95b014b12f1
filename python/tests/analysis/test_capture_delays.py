"""Captures as delay records, of simulated runs: the truth is known."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import netspurt as ns
from netspurt.cli import main
from netspurt.inputs import delays

pytest.importorskip("netspurt._core")

DROPPED = (20, 21, 60, 100, 140)
"""Which packets the link to b loses; the first is the SYN."""

AT_ONCE = 1e-7
"""Seconds that a burst takes on the link near the sender, at whose end the capture is taken."""

SCENARIO = f"""
duration = "600 s"

[tcp]
profile = "newreno"
acking = "every-segment"

[link.near]
between = ["a", "r"]
rate = "1 Tbit/s"
delay = "0 s"

[link.wan]
between = ["r", "b"]
rate = "8 Mbit/s"
delay = "50 ms"
loss = {{ kind = "script", drop = {list(DROPPED)}, direction = "r->b" }}

[[flow]]
app = {{ kind = "bulk", bytes = "400 KiB" }}
from = "a"
to = "b"
"""


@pytest.fixture
def simulated(tmp_path: Path) -> tuple[ns.Result, Path]:
    file = tmp_path / "run.pcapng"
    return ns.parse(SCENARIO).run(1, pcap=file, record=["rtt", "segments"]), file


def test_what_the_link_dropped_is_lost_once_and_when_it_was_sent_first(
    simulated: tuple[ns.Result, Path],
) -> None:
    run, file = simulated
    there, back = delays.read(str(file))
    assert (there.host, back.host) == ("10.0.0.1 > 10.0.0.3", "10.0.0.3 > 10.0.0.1")
    sent = run.segments.filter(from_client=True)
    # Times in a capture count from its first packet, which left at 0.
    truth = [sent["time_s"][number - 1] for number in DROPPED]
    np.testing.assert_allclose(there.time_s[there.lost], truth, atol=AT_ONCE)
    assert (there.octets[there.lost] == 1460).all()
    assert not back.lost.any()


def test_every_round_trip_that_the_sender_measured_is_among_the_delays(
    simulated: tuple[ns.Result, Path],
) -> None:
    run, file = simulated
    there, _ = delays.read(str(file))
    measured = run.series("rtt").filter(end="client")
    assert measured.height > 5
    answered_s = there.time_s + 2 * there.delay_s
    for time_s, rtt_s in measured.select("time_s", "value").iter_rows():
        at = int(np.nanargmin(abs(answered_s - time_s)))
        assert answered_s[at] == pytest.approx(time_s, abs=AT_ONCE)
        assert 2 * there.delay_s[at] == pytest.approx(rtt_s, abs=AT_ONCE)
    # Without a queue a full segment needs 1.5 ms, an acknowledgment 40 us, and either way takes 50 ms.
    assert 2 * np.nanmin(there.delay_s[there.octets == 1460]) == pytest.approx(0.10154, abs=AT_ONCE)


def test_places_of_capture_are_paths_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "both.pcapng"
    ns.parse(SCENARIO).run(1, pcap=file, capture=["all"])
    paths = {path.host: path for path in delays.read(str(file))}
    near, far = (paths[f"10.0.0.1 > 10.0.0.3 at wan@{node}"] for node in "rb")
    assert 2 * np.nanmedian(near.delay_s) > 0.1
    assert 2 * np.nanmedian(far.delay_s) < 1e-3
    assert near.lost.sum() == len(DROPPED)


def test_a_packed_capture_gives_the_same_whatever_its_name(
    simulated: tuple[ns.Result, Path], tmp_path: Path
) -> None:
    _, file = simulated
    packed = tmp_path / "capture.from.a.friend"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    for one, other in zip(delays.read(str(file)), delays.read(str(packed)), strict=True):
        np.testing.assert_array_equal(one.delay_s, other.delay_s)


def test_a_damaged_capture_is_used_up_to_the_damage_and_the_exit_status_says_so(
    simulated: tuple[ns.Result, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = simulated
    whole = json.loads(_output(capsys, ["rto", str(file), "--json"], 0))
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(file.read_bytes()[:40_000])
    half = json.loads(_output(capsys, ["rto", str(cut), "--json"], 1))
    assert 0 < half["results"][0]["cycles"] < whole["results"][0]["cycles"]
    (complaint,) = half["errors"]
    assert "cut.pcapng is " in complaint
    assert "packet" in complaint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b"\xd4\xc3\xb2\xa1" + bytes.fromhex("0200040000000000000000000000040001000000"),
            "contains no packets",
        ),
        (b"GIF89a, not a capture", "not a capture"),
        (b"", "empty"),
    ],
)
def test_a_capture_without_connections_is_reported_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    file = tmp_path / "bad.pcap"
    file.write_bytes(content)
    for command in ("rto", "delays"):
        assert main([command, str(file)]) == 2
        said = capsys.readouterr().err
        assert "bad.pcap" in said
        assert words in said
        assert said.count("\n") == 1


def _output(capsys: pytest.CaptureFixture[str], words: list[str], status: int) -> str:
    assert main(words) == status
    return capsys.readouterr().out


def test_a_lost_packet_is_no_delay_of_zero_in_the_printed_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d.csv"
    file.write_text("time_s,delay_ms\n0,20\n1,\n2,22\n")
    for command in ("rto", "delays"):
        assert "1 lost, mean 21 ms, CoV 0.04762" in _output(capsys, [command, str(file)], 0)
