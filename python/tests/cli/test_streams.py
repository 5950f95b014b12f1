"""Files over one connection with windows of the application's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netspurt.cli import main

SCENARIO = """
duration = "60 s"
[tcp]
profile = "linux"
transmit = "nodelay"
[link.path]
between = ["client", "server"]
rate = "100 Mbit/s"
delay = "25 ms"
[[flow]]
from = "client"
to = "server"
app = { kind = "streams", bytes = "2 MB", streams = 4 }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "streams.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return str(path)


def _why(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["why", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (connection,) = found["flows"] if "flows" in found else found["captures"][0]["connections"]
    server: dict[str, Any] = connection["directions"][1]
    return server


def test_the_simulator_knows_that_the_application_has_no_credit(
    scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = _why(capsys, scenario)
    assert server["limit"] == "application-window"
    wide = _why(
        capsys, scenario, "--set", "flow.0.app.window=1 MB", "--set", "flow.0.app.connection_window=4 MB"
    )
    assert wide["limit"] != "application-window"


def test_its_packets_show_the_same(scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = tmp_path / "streams.pcapng"
    assert main(["run", scenario, "--pcap", str(capture)]) == 0
    capsys.readouterr()
    assert _why(capsys, str(capture))["limit"] == "application-window"


def test_credit_that_nagle_may_hold_back_is_remarked(
    scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", scenario])
    assert "TCP_NODELAY" not in capsys.readouterr().err
    main(["check", scenario, "--set", "tcp.transmit=minshall"])
    said = capsys.readouterr()
    assert 'transmit = "nodelay"' in said.err + said.out
