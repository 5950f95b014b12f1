"""Round trips per minute: the formula, when the test ends, its simulation, and its client beside its server."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from scenarios import HOME_LINE

import netspurt as ns
from netspurt.cli.entry import main
from netspurt.errors import RequestError
from netspurt.underload.rpm import Confidence, Interval, Parameters, judge, simulate, trimmed_mean
from netspurt.underload.rpm.client import Server, discover, measure
from netspurt.underload.rpm.server import serving

pytest.importorskip("netspurt._core")

LINE = HOME_LINE.replace('"drop-tail", limit = "200 packets"', '"fq-codel"')

QUICK = Parameters(interval_s=1.0)


def interval(goodput_bps: float = 1e6, rtt_ms: float = 20.0, *, tls: bool = True) -> Interval:
    """All probes take the same."""
    one = [rtt_ms] * 10
    return Interval(goodput_bps, one, one if tls else [], one, one)


def test_the_largest_values_are_trimmed() -> None:
    values = [float(value) for value in range(1, 101)]
    assert trimmed_mean(reversed(values), 0.95) == statistics.fmean(values[:95])
    assert trimmed_mean([7.0], 0.95) == 7.0
    assert trimmed_mean([], 0.95) is None


def test_responsiveness_is_the_mean_of_new_and_loaded_connections() -> None:
    seen = Interval(1e6, [10.0], [20.0], [30.0], [60.0])
    found = judge([seen] * 8)
    assert found.foreign_rpm == pytest.approx(60_000 / 20.0)
    assert found.loaded_rpm == pytest.approx(60_000 / 60.0)
    assert found.rpm == pytest.approx(2000.0)
    # Without TLS the two parts that are left have equal weights.
    plain = judge([Interval(1e6, [10.0], [], [30.0], [60.0])] * 8)
    assert plain.foreign_rpm == pytest.approx(60_000 / 20.0)


def test_goodput_is_stable_first_and_then_responsiveness() -> None:
    found = judge([interval()] * 20)
    # Four averages of the goodput, and four values of the responsiveness.
    assert (found.intervals, found.capacity, found.confidence) == (8, Confidence.HIGH, Confidence.HIGH)
    growing = judge(interval(1e6 * 2**number) for number in range(6))
    assert (growing.capacity, growing.confidence) == (Confidence.MEDIUM, Confidence.LOW)
    short = judge([interval()] * 3)
    assert (short.capacity, short.confidence) == (Confidence.LOW, Confidence.LOW)
    swinging = judge(interval(rtt_ms=20.0 if number % 8 < 4 else 200.0) for number in range(20))
    assert (swinging.capacity, swinging.confidence) == (Confidence.HIGH, Confidence.MEDIUM)


def test_a_slow_path_gets_fewer_probes() -> None:
    # 5 % of 960 kbit/s is 48 kbit/s: one pair of 6,000 bytes each second.
    assert Parameters().probes_per_second(960e3) == pytest.approx(1.0)
    assert Parameters().probes_per_second(10e9) == 100.0


def test_short_queues_have_the_responsiveness_of_the_idle_path() -> None:
    line = ns.parse(LINE, "line.toml")
    short = simulate(line, parameters=QUICK, limit_s=15.0)
    long = simulate(
        line.set({"link.line.queue": {"kind": "drop-tail", "limit": "250 ms"}}),
        parameters=QUICK,
        limit_s=15.0,
    )
    assert short.tcp_ms is not None
    # A round trip of 20 ms; the certificate of 3,600 bytes, and its packets' turns among those of the load, are more.
    assert 20.0 < short.tcp_ms < 45.0
    assert short.rpm is not None
    assert long.rpm is not None
    assert short.rpm > 3 * long.rpm
    assert long.goodput_bps > 20e6
    assert simulate(line, parameters=QUICK, limit_s=15.0) == short, "the same seed"


def test_a_direction_alone_is_loaded() -> None:
    line = ns.parse(LINE, "line.toml")
    up = simulate(line, direction="upload", tls=False, parameters=QUICK, limit_s=8.0)
    assert up.tls_ms is None
    assert 4e6 < up.goodput_bps < 5e6


def test_client_and_server_measure_the_loopback() -> None:
    with serving() as url:
        server = discover(url)
        found = measure(server, limit_s=1.0, parameters=Parameters(interval_s=0.1, most=2))
    assert 4 <= found.intervals <= 10
    assert found.tcp_ms is not None
    assert found.tcp_ms < 1000.0
    assert found.goodput_bps > 1e6
    assert found.tls_ms is None


def test_the_command_measures_to_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as url:
        ask = ["responsiveness", "--server", url, "-t", "0.4 s", "--interval", "0.1 s", "-P", "1"]
        assert main([*ask, "--direction", "download", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["direction"] == "download"
    assert found["intervals"] == 4
    assert found["foreign_rpm"] > 0


def test_the_command_simulates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "line.toml"
    file.write_text(LINE)
    assert main(["responsiveness", str(file), "-t", "4 s", "--interval", "1 s"]) == 0
    told = capsys.readouterr().out
    assert "round trips per minute, low confidence" in told
    assert "TLS handshake" in told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", '"version" must be 1'),
        ("x", "it is not JSON"),
        ('{"version": 1, "version": 1}', "'version' is there twice"),
        ('{"version": 1, "urls": {}}', '"urls" must have large_download_url'),
    ],
)
def test_an_invalid_configuration_is_refused(text: str, why: str) -> None:
    with pytest.raises(RequestError, match="configuration of a responsiveness test server") as caught:
        Server.read(text, "https://example.org/.well-known/nq")
    assert why in str(caught.value)


def test_urls_of_several_hosts_are_refused_and_unknown_names_ignored() -> None:
    urls = dict.fromkeys(("large_download_url", "small_download_url", "upload_url"), "https://a.example/x")
    good = {"version": 1, "urls": urls, "more": 1, "test_endpoint": "b.example"}
    assert Server.read(json.dumps(good), "x").endpoint == "b.example"
    urls["upload_url"] = "https://b.example/x"
    with pytest.raises(RequestError, match="several hosts"):
        Server.read(json.dumps({"version": 1, "urls": urls}), "x")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--serve", "x"], "write a port"),
        (["--serve", "1", "--server", "http://a"], "be a server, or measure to one"),
        (["--server", "http://127.0.0.1:9", "--plain"], "leave --plain out"),
        (["--server", "http://127.0.0.1:9"], "connection refused"),
        (["--server", "ftp://a"], "write https://HOST"),
        (["--path", "leo", "-t", "1 s"], "shorter than one interval"),
    ],
)
def test_contradictory_options_are_refused(
    options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["responsiveness", *options]) == 2
    assert why in capsys.readouterr().err
