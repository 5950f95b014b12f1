"""``netspurt why``: what it prints, what it writes, and what becomes of captures that show little."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt.analysis import formats
from netspurt.cli import main
from netspurt.cli.commands.why import SHOWN
from netspurt.cli.views import why_view
from netspurt.diagnosing.limits import LIMITS

core = pytest.importorskip("netspurt._core", reason="the native module is not built")

NARROW = """
duration = "120 s"

[tcp]
profile = "linux"
receive_window = "64 KiB"

[link.office]
between = ["laptop", "server"]
rate = "50 Mbit/s"
delay = "40 ms"
queue = { kind = "drop-tail", limit = "200 packets" }

[[flow]]
app = { kind = "bulk", bytes = "1 MB" }
from = "laptop"
to = "server"
count = COUNT
"""


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("why") / "one.pcapng"
    ns.parse(NARROW.replace("COUNT", "1")).run(1, pcap=path)
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("why") / "many.pcapng"
    ns.parse(NARROW.replace("COUNT", "23").replace("1 MB", "100 kB")).run(1, pcap=path)
    return path


def pcap(path: Path, *packets: bytes) -> Path:
    """A capture of raw IP packets, a millisecond apart."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    records = (
        struct.pack("<IIII", n // 1000, n % 1000 * 1000, len(packet), len(packet)) + packet
        for n, packet in enumerate(packets)
    )
    path.write_bytes(head + b"".join(records))
    return path


def ip(protocol: int, source: int, payload: bytes) -> bytes:
    """An IPv4 packet from 10.x.y.z to 192.0.2.1."""
    addresses = (0x0A000000 | source).to_bytes(4) + bytes([192, 0, 2, 1])
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0) + addresses + payload


def syn(source: int) -> bytes:
    """A SYN of a scan."""
    port = 1024 + source % 60_000
    return ip(6, source >> 12, struct.pack(">HHIIBBHHH", port, 80, source, 0, 0x50, 2, 1024, 0, 0))


def test_the_sentence_the_budget_and_what_to_try_are_printed(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(one)]) == 0
    out = capsys.readouterr().out
    diagnosis = ns.why(one)
    assert diagnosis.connections["sentence"][0] in out
    assert "captured at the sender" in out
    (row,) = diagnosis.documents()
    budget = row["directions"][0]["budget"]
    line = next(line for line in out.splitlines() if line.startswith("  receive-window"))
    assert budget[0]["limit"] == "receive-window"
    assert f"{100 * budget[0]['share']:.1f} %" in line
    first, last = budget[0]["evidence"]["packets"]
    assert f"packets {first}–{last}" in line
    assert "window 64 KiB" in line
    assert 0 < line.count("█") <= why_view.BAR
    assert "sysctl -w net.ipv4.tcp_rmem=" in out


def test_the_json_document_is_as_promised(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(one), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (capture,) = document["captures"]
    (connection,) = capture["connections"]
    assert {"connection", "client", "server", "vantage", "directions"} <= connection.keys()
    for direction in connection["directions"]:
        assert {"from", "bytes", "duration_s", "limit", "sentence", "budget", "intervals"} <= direction.keys()
        assert sum(line["seconds"] for line in direction["budget"]) == pytest.approx(direction["duration_s"])
        assert direction["limit"] == direction["budget"][0]["limit"]
        for line in direction["budget"]:
            assert line["limit"] in LIMITS
            assert {"seconds", "share", "confidence", "evidence"} <= line.keys()
    assert connection["directions"][0]["budget"][0]["evidence"]["window_bytes"] == 65536


def test_the_slowest_transfers_of_a_persistent_connection_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = 'kind = "request-response", request = "100 B", response = "40 KiB", exchanges = 7, gap = "300 ms"'
    path = tmp_path / "web.pcapng"
    one_flow = NARROW.replace("COUNT", "1").replace('kind = "bulk", bytes = "1 MB"', app)
    ns.parse(one_flow).run(1, pcap=path)
    assert main(["why", str(path), "--report", str(tmp_path / "web.html")]) == 0
    out = capsys.readouterr().out
    assert "7 transfers (request, response), the slowest:" in out
    listed = [line for line in out.splitlines() if line.startswith("    #")]
    assert len(listed) == 5
    sizes = f"100 → {formats.count(40_960)} bytes"
    assert all(sizes in line and "(packets " in line for line in listed)
    slowest = ns.why(path).transfers.sort("duration_s", descending=True)["transfer"][0]
    assert listed[0].split()[0] == f"#{slowest}"
    assert "Transfers" in (tmp_path / "web.html").read_text()


def test_few_connections_are_listed_unless_all_are_requested(
    many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(many)]) == 0
    out = capsys.readouterr().out
    assert out.count("\nconnection ") == SHOWN
    assert f"{23 - SHOWN} more connections lost less time (list them with --all)." in out
    assert out.count("sysctl -w net.ipv4.tcp_rmem=") <= 1, "advice is not repeated"
    assert "as for connection" in out
    assert main(["why", str(many), "--all"]) == 0
    assert capsys.readouterr().out.count("\nconnection ") == 23
    lost = [each["lost_s"] for each in ns.why(many).document()["connections"]]
    assert lost == sorted(lost, reverse=True)


def test_connections_are_chosen_by_number_filter_and_size(
    many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def chosen(*words: str) -> list[int]:
        assert main(["why", str(many), "--json", *words]) == 0
        (capture,) = json.loads(capsys.readouterr().out)["captures"]
        return sorted(each["connection"] for each in capture["connections"])

    assert chosen("--connection", "3", "--connection", "5") == [3, 5]
    client = ns.why(many).documents([4])[0]["client"]
    assert chosen("--filter", f"src port {client.rpartition(':')[2]}") == [4]
    assert chosen("--min-bytes", "1000000000") == []
    for words, told in (
        (["--connection", "99"], "there is no connection 99 in"),
        (["--connection", "4", "--filter", "port 1"], "the filter leaves it out"),
        (["--filter", "port"], "a value is missing at the end"),
        (["--min-bytes", "-1"], "not a whole number of at least 0"),
    ):
        assert main(["why", str(many), *words]) == 2
        assert told in capsys.readouterr().err


def test_intervals_are_written_only_to_a_name_that_says_parquet(
    many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "intervals.csv"
    assert main(["why", str(many), "--out", str(out)]) == 2
    assert "end its name in .parquet" in capsys.readouterr().err
    assert not out.exists()


def test_every_interval_is_a_row_of_the_table(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "intervals.parquet"
    assert main(["why", str(many), "--connection", "2", "--out", str(out)]) == 0
    table = pl.read_parquet(out)
    diagnosis = ns.why(many)
    expected = diagnosis.intervals.filter(pl.col("connection") == 2)
    assert table.select(expected.columns).equals(expected)
    assert set(table["file"]) == {str(many)}
    assert set(table["client"]) == {diagnosis.documents([2])[0]["client"]}


def test_a_capture_without_tcp_or_a_damaged_one_is_reported_in_a_sentence(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    udp = pcap(tmp_path / "udp.pcap", ip(17, 1, b"\0" * 8))
    assert main(["why", str(udp)]) == 1
    assert capsys.readouterr().err == f"netspurt: {udp} contains no TCP: 1 not TCP\n"
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(one.read_bytes()[:200_001])
    assert main(["why", str(cut)]) == 1
    captured = capsys.readouterr()
    assert "the packets before the damage were read" in captured.err
    assert "receive-window" in captured.out
    missing = tmp_path / "missing.pcap"
    assert main(["why", str(missing), str(one), "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["captures"]
    assert "missing.pcap" in first["error"]
    assert second["connections"]


def test_a_scan_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scan = pcap(tmp_path / "scan.pcap", *(syn(n) for n in range(50_000)))
    assert main(["why", str(scan)]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 10
    assert "50\u202f000 connections carried no data or too little of it." in out


def test_standard_input_is_read_too(one: Path, tmp_path: Path) -> None:
    packed = tmp_path / "one.pcapng.gz"
    packed.write_bytes(gzip.compress(one.read_bytes()))
    command = [sys.executable, "-m", "netspurt", "why", "-", "--json", "--report", str(tmp_path / "x.html")]
    with packed.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True)
    (capture,) = json.loads(done.stdout)["captures"]
    (known,) = ns.why(one).document()["connections"]
    assert capture["connections"] == [known]
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "standard input" in page
    assert 'id="c0-limits"' in page


def test_ctrl_c_on_a_live_capture_diagnoses_what_was_read(one: Path) -> None:
    """A tcpdump that feeds the pipe goes on for a moment, or does not end at all."""
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "netspurt", "why", "-", "--json"]
    with subprocess.Popen(command, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(reading)
        content = one.read_bytes()
        # More than a pipe holds: when it is written, most of it has been read.
        os.write(writing, content[:700_000])
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(BrokenPipeError):
            os.write(writing, content[700_000:])
        os.close(writing)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    (capture,) = json.loads(out)["captures"]
    assert capture["packets"] > 0
    assert capture["connections"][0]["directions"][0]["limit"] == "receive-window"


def test_a_bar_is_never_empty_and_never_too_wide() -> None:
    assert why_view.bar(1.0) == "█" * why_view.BAR
    assert why_view.bar(0.0).strip() == "▏"
    assert why_view.bar(0.5) == ("█" * (why_view.BAR // 2)).ljust(why_view.BAR)


def test_a_terminal_has_colours(one: Path) -> None:
    from rich.console import Console

    (row,) = ns.why(one).documents()
    with io.StringIO() as shown:
        why_view.show(Console(file=shown, force_terminal=True, color_system="standard", width=100), row, {})
        assert "\x1b[33m█" in shown.getvalue(), "yellow: the receiver limits"


def test_a_narrow_terminal_gets_the_evidence_on_lines_of_its_own(one: Path) -> None:
    (row,) = ns.why(one).documents()
    direction = row["directions"][0]
    for width in (80, 40):
        lines = [line.plain for line in why_view.budget(direction, width)]
        assert max(map(len, lines)) <= width
        assert lines[1].startswith("    packets ")
    wide = why_view.budget(direction)
    assert why_view.budget(direction, 300) == wide
    assert "packets " in wide[0].plain


def test_one_file_that_cannot_be_read_does_not_keep_the_report_from_the_others(
    one: Path, tmp_path: Path
) -> None:
    page = tmp_path / "x.html"
    assert main(["why", str(tmp_path / "missing.pcap"), str(one), "--report", str(page)]) == 1
    assert 'id="c0-budget"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{one}", "--seed", "3"], "--seed is that of a scenario, and none is given"),
        (["{one}", "--interval", "1s"], "--interval applies only to --sockets"),
        (["{one}", "--for", "1s"], "--for applies only to --sockets"),
        (["{one}", "--netns", "x"], "--netns applies only to --sockets"),
        (["--sockets", "--report", "x.html"], "--report does not apply to --sockets"),
        (["--sockets", "--connection", "1"], "--connection does not apply to --sockets"),
        (["--sockets", "--min-bytes", "0"], "--min-bytes does not apply to --sockets"),
        (["-", "{one}", "-"], "standard input (-) can be read only once"),
    ],
)
def test_an_option_without_effect_is_refused(
    one: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", *(each.format(one=one) for each in arguments)]) == 2
    assert words in capsys.readouterr().err


def test_packets_that_make_the_diagnosis_worse_are_counted_in_the_first_line(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = one.read_bytes()
    # Each packet is a block of pcapng: the last one comes first.
    blocks, place = [], 0
    while place < len(file):
        length = int.from_bytes(file[place + 4 : place + 8], "little")
        blocks.append(file[place : place + length])
        place += length
    begin = next(n for n, block in enumerate(blocks) if block[0] == 6)
    swapped = tmp_path / "swapped.pcapng"
    swapped.write_bytes(b"".join([*blocks[:begin], blocks[-1], *blocks[begin:-1]]))
    assert main(["why", str(swapped)]) == 0
    title = capsys.readouterr().out.splitlines()[0]
    assert " packets (1 earlier than the packet before), " in title
