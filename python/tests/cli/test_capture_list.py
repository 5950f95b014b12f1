"""The list of ``netspurt capture``: the largest connections, and a summary of the others."""

import json
import struct
from pathlib import Path

import pytest

from netspurt.cli import main
from netspurt.cli.commands.capture import LARGEST
from netspurt.cli.views.tables import MANY

SERVER = bytes([192, 0, 2, 1])


def segment(port: int, seq: int, ack: int, flags: int, length: int, back: bool) -> bytes:
    """A packet between a client at ``port`` and the server."""
    ends, ports = [bytes([10, 0, 0, 1]), SERVER], [port, 80]
    source, target = (1, 0) if back else (0, 1)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + length, 0, 0, 64, 6, 0) + ends[source] + ends[target]
    tcp = struct.pack(">HHIIBBHHH", ports[source], ports[target], seq, ack, 0x50, flags, 60000, 0, 0)
    return ip + tcp + bytes(length)


def capture(path: Path, unanswered: int, sizes: list[int]) -> Path:
    """A capture of this many SYN segments, and of a connection with each number of bytes."""
    packets = [segment(1024 + n, 5, 0, 0x02, 0, False) for n in range(unanswered)]
    for n, size in enumerate(sizes):
        port = 60000 + n
        packets += [segment(port, 5, 0, 0x02, 0, False), segment(port, 90, 6, 0x12, 0, True)]
        packets += [segment(port, 6, 91, 0x10, size, False), segment(port, 91, 6 + size, 0x10, 0, True)]
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    records = (
        struct.pack("<IIII", 1_700_000_000, n, len(packet), len(packet)) + packet
        for n, packet in enumerate(packets)
    )
    path.write_bytes(head + b"".join(records))
    return path


def listed(text: str) -> list[str]:
    """The clients of the rows."""
    return [line.split()[0] for line in text.splitlines() if line.startswith("10.0.0.1:")]


def test_of_many_connections_the_largest_are_printed_and_the_others_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = capture(tmp_path / "flood.pcap", 3000, [100, 900, 500])
    assert main(["capture", str(file)]) == 0
    text = capsys.readouterr().out
    assert listed(text)[:3] == ["10.0.0.1:60001", "10.0.0.1:60002", "10.0.0.1:60000"]
    assert len(listed(text)) == LARGEST
    rest = 3003 - LARGEST
    summary = (
        f"… and {rest} smaller connections: 0 bytes in total, {rest} not answered (print each with --all)"
    )
    assert summary in text


def test_all_connections_are_printed_in_the_order_of_their_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MANY < 3000
    file = capture(tmp_path / "flood.pcap", 3000, [100])
    assert main(["capture", "--all", str(file)]) == 0
    text = capsys.readouterr().out
    assert listed(text) == [f"10.0.0.1:{1024 + n}" for n in range(3000)] + ["10.0.0.1:60000"]
    # Rich fills lines up to the width of a terminal.
    assert max(map(len, text.splitlines())) < 200
    assert "smaller connections" not in text


def test_few_connections_are_all_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = capture(tmp_path / "few.pcap", LARGEST - 1, [700])
    assert main(["capture", str(file)]) == 0
    text = capsys.readouterr().out
    assert len(listed(text)) == LARGEST
    assert "smaller connections" not in text


def test_json_has_every_connection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = capture(tmp_path / "flood.pcap", 200, [300])
    assert main(["capture", "--json", str(file)]) == 0
    [document] = json.loads(capsys.readouterr().out)["captures"]
    assert len(document["connections"]) == 201
    assert document["connections"][200]["from_client"]["acknowledged_bytes"] == 300
